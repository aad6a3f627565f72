#include "hone/pattern/triton_tile.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/pattern/expression.h"
#include "hone/pattern/triton_text.h"

namespace hone::pattern {
namespace {

using task::DType;
using task::IntExpr;
using task::Node;
using task::Prim;

bool is_arg_reduction(Prim op) { return op == Prim::kArgMax || op == Prim::kArgMin; }

/// How two results become one.
const char* combination(Prim op, bool truth) {
  switch (op) {
    case Prim::kMax: case Prim::kCumMax: return truth ? "either" : "greater";
    case Prim::kMin: case Prim::kCumMin: return truth ? "both" : "less";
    case Prim::kAny: return "either";
    case Prim::kAll: return "both";
    case Prim::kProd: case Prim::kCumProd: return "times";
    case Prim::kArgMax: return "first_greater";
    case Prim::kArgMin: return "first_less";
    default: return "add";
  }
}

/// What changes no result.
std::string neutral_of(Prim op, DType of) {
  const bool most = op == Prim::kMax || op == Prim::kArgMax || op == Prim::kCumMax, least = op == Prim::kMin || op == Prim::kArgMin || op == Prim::kCumMin;
  if (op == Prim::kAll || op == Prim::kProd || op == Prim::kCumProd || (least && of == DType::kBool)) return "1";
  if ((!most && !least) || of == DType::kBool) return "0";
  if (task::is_float(of)) return most ? "float(\"-inf\")" : "float(\"inf\")";
  const int64_t high = static_cast<int64_t>(~uint64_t{0} >> (65 - 8 * task::size_of(of)));
  return fmt::format("{}", most ? -high - 1 : high);
}

/// What a reduction or scan computes in: truths as integers.
DType accumulator_of(const Node& node, DType of) {
  const DType own = is_arg_reduction(node.prim) ? of : node.type.dtype;
  return own == DType::kBool ? DType::kI32 : own;
}

}  // namespace

std::string TritonParameters::tensor(const std::string& name) {
  if (std::find(tensors_.begin(), tensors_.end(), name) == tensors_.end()) tensors_.push_back(name);
  return name;
}

std::string TritonParameters::extent(const IntExpr& e) {
  if (e.is_constant()) return std::to_string(e.constant());
  auto at = std::find(extents_.begin(), extents_.end(), e);
  if (at == extents_.end()) at = extents_.insert(at, e);
  return fmt::format("e{}", at - extents_.begin());
}

std::string TritonParameters::parameters() const {
  std::vector<std::string> all = tensors_;
  for (size_t k = 0; k < extents_.size(); ++k) all.push_back(fmt::format("e{}", k));
  return fmt::format("{}", fmt::join(all, ", "));
}

std::string TritonParameters::arguments() const {
  std::vector<std::string> all;
  for (const std::string& name : tensors_) all.push_back("\"" + name + "\"");
  for (const IntExpr& e : extents_) all.push_back(fmt::format("\"{}{}\"", mark_, e.to_string()));
  return fmt::format("{}", fmt::join(all, ", "));
}

TritonTile::TritonTile(const Program& program, std::vector<int> kept, std::vector<int> along, TritonParameters& parameters)
    : program_(program), nest_(program.nest), kept_(std::move(kept)), along_(std::move(along)), parameters_(parameters) {}

bool TritonTile::is_kept(int id) const {
  return std::none_of(along_.begin(), along_.end(), [&](int axis) { return nest_.has(id, axis); });
}

bool TritonTile::is_leaf(int id) const { return program_.node(id).prim == Prim::kInput || nest_.access.contains(id); }

std::string TritonTile::obstacle() const {
  for (const Node& node : nest_.graph->nodes) {
    if (is_arg_reduction(node.prim) && along_.size() != 1) return "an index over several axes";
    if (!task::is_scan(node.prim)) continue;
    if (along_.size() != 1) return "a scan over several axes";
    if (node.attr<bool>("exclusive")) return "a scan without its own element";
    if (node.prim == Prim::kCumLogSumExp) return "a scan that adds logarithms";
    if (node.prim == Prim::kLinearScan) return "a scan over pairs";
  }
  for (const int output : nest_.graph->outputs)
    for (const int axis : along_)
      if (!is_kept(output) && !nest_.has(output, axis)) return "an output over some of the axes of a row";
  return {};
}

Status TritonTile::element_wise() const {
  for (const Node& node : nest_.graph->nodes)
    if (task::is_scan(node.prim) || task::is_reduction(node.prim)) return fail(ErrorCode::kUnavailable, fmt::format("{} beside the product", task::name_of(node.prim)));
  return {};
}

std::string TritonTile::requirements() const {
  std::vector<std::string> all;
  for (const IntExpr& condition : nest_.conditions) all.push_back("\"" + condition.to_string() + "\"");
  return all.empty() ? "" : fmt::format("requires = [{}]\n", fmt::join(all, ", "));
}

std::string TritonTile::decode(const std::vector<int>& axes, const std::string& from, const std::string& indent) {
  std::string text, rest = from;
  for (size_t k = axes.size(); k-- > 0;) {
    const std::string extent = parameters_.extent(program_.extent(axes[k]));
    text += k == 0 ? fmt::format("{}at{} = {}\n", indent, axes[k], rest) : fmt::format("{}at{} = {} % {}\n", indent, axes[k], rest, extent);
    if (k > 0) rest = fmt::format("{} // {}", rest, extent);
  }
  return text;
}

std::string TritonTile::rows_prologue(const std::string& indent) { return decode(kept_, "row", indent); }
std::string TritonTile::places_prologue(const std::string& indent) { return decode(along_, "at", indent); }

void TritonTile::line(const std::string& text, bool kept) { (kept && looped_ ? before_ : lines_) += indent_ + (kept || !looped_ ? "" : "    ") + text + "\n"; }

std::string TritonTile::assign(int id, const std::string& text) {
  const std::string name = fmt::format("v{}", id);
  line(fmt::format("{} = {}", name, text), is_kept(id));
  return names_[id] = name;
}

std::string TritonTile::mask(int id) const {
  const bool rows = std::any_of(kept_.begin(), kept_.end(), [&](int axis) { return nest_.has(id, axis); });
  if (is_kept(id)) return rows ? "row_in" : "";
  return rows ? "row_in & at_in" : "at_in";
}

/// Rows first: what is alike in a row is added once.
std::string TritonTile::pointer(int id, const std::string& tensor, const IntExpr& base) {
  std::string text = parameters_.tensor(tensor);
  if (!is_zero(base)) text += " + " + parameters_.extent(base);
  for (const auto* axes : {&kept_, &along_})
    for (const int axis : *axes) {
      if (!nest_.has(id, axis)) continue;
      const IntExpr stride = nest_.stride(id, axis);
      if (is_zero(stride)) continue;
      text += is_one(stride) ? fmt::format(" + at{}", axis) : fmt::format(" + at{} * {}", axis, parameters_.extent(stride));
    }
  return text;
}

std::string TritonTile::leaf(int id) {
  const auto access = nest_.access.find(id);
  const bool own = access != nest_.access.end();
  const std::string tensor = program_.tensor_of_input(own ? access->second.input : id);
  std::string place = pointer(id, tensor, own ? access->second.base : IntExpr(0)), in = mask(id);
  if (own && access->second.index >= 0)
    place += fmt::format(" + {}.to(tl.int64) * {}", element(access->second.index), parameters_.extent(access->second.index_stride));
  const DType dtype = program_.node(id).type.dtype;
  // A pointer that goes over all of the mask's lanes: an index alone may have fewer.
  const std::string loaded = in.empty() ? fmt::format("tl.load({})", place) : fmt::format("tl.load({}, mask={}, other={})", place, in, lanes_zero(dtype));
  return assign(id, lanes_loaded(loaded, dtype, dtype));
}

std::string TritonTile::masked(int reduction, const std::string& operand) {
  const Node& node = program_.node(reduction);
  const DType of = program_.node(node.operands[0]).type.dtype, sum = accumulator_of(node, of);
  return fmt::format("tl.where(row_in & at_in, {}, {})", lanes_cast(operand, of, sum, false), neutral_of(node.prim, of));
}

std::string TritonTile::reduced(int reduction, const std::string& tile, const std::string& places) {
  const Node& node = program_.node(reduction);
  const DType of = program_.node(node.operands[0]).type.dtype;
  const char* const how = combination(node.prim, of == DType::kBool);
  if (is_arg_reduction(node.prim)) return fmt::format("tl.reduce(({}, {}), 1, {}, keep_dims=True)", tile, places, how);
  const std::string text = fmt::format("tl.reduce({}, 1, {}, keep_dims=True)", tile, how);
  return node.type.dtype == DType::kBool ? text + " != 0" : text;
}

std::string TritonTile::scan(int id) {
  const Node& node = program_.node(id);
  const DType of = program_.node(node.operands[0]).type.dtype;
  const bool reverse = node.attr<bool>("reverse");
  const char* const how = combination(node.prim, of == DType::kBool);
  const std::string x = fmt::format("x{}", id);
  line(fmt::format("{} = {}", x, masked(id, element(node.operands[0]))), false);
  std::string text = fmt::format("tl.associative_scan({}, 1, {}{})", x, how, reverse ? ", reverse=True" : "");
  if (looped_) {
    carries_before_ += fmt::format("{}c{} = tl.full((ROWS, 1), {}, {})\n", indent_, id, neutral_of(node.prim, of), lanes_type(accumulator_of(node, of)));
    carries_after_ += fmt::format("{0}    c{1} = {2}(c{1}, tl.reduce(x{1}, 1, {2}, keep_dims=True))\n", indent_, id, how);
    text = fmt::format("{}(c{}, {})", how, id, text);
  }
  // A sum of narrow integers wraps.
  return assign(id, lanes_cast(text, accumulator_of(node, of), node.type.dtype, false));
}

std::string TritonTile::element(int id) {
  if (const auto it = names_.find(id); it != names_.end()) return it->second;
  const Node& node = program_.node(id);
  if (is_leaf(id)) return leaf(id);
  if (is_view(node)) return names_[id] = element(node.operands[0]);
  if (task::is_scan(node.prim)) return scan(id);
  switch (node.prim) {
    case Prim::kConstant: return names_[id] = lanes_constant(node.attrs.find("value")->second, node.type.dtype);
    case Prim::kSymbol: return names_[id] = fmt::format("tl.full((1,), {}, tl.int64)", parameters_.extent(node.attr<IntExpr>("value")));
    case Prim::kIota: {
      const auto axis = nest_.axis_of_dim(id, node.attr<int64_t>("axis"));
      return names_[id] = axis ? fmt::format("at{}.to(tl.int64)", *axis) : "tl.full((1,), 0, tl.int64)";
    }
    default: break;
  }
  HONE_CHECK(task::is_elementwise(node.prim), std::string(task::name_of(node.prim)));
  std::vector<std::string> operands;
  std::vector<DType> types;
  for (const int operand : node.operands) {
    operands.push_back(element(operand));
    types.push_back(program_.node(operand).type.dtype);
  }
  return assign(id, lanes_operation(node, operands, types));
}

std::string TritonTile::store(int output, const std::string& indent, const std::string& once) {
  indent_ = indent;
  const std::string value = element(output);
  const DType dtype = program_.node(output).type.dtype;
  const std::string stored = lanes_storage(dtype) == lanes_type(dtype) ? value : fmt::format("{}.to({})", value, lanes_storage(dtype));
  const auto placed = nest_.placed.find(output);
  std::string place = pointer(output, program_.name_of_output(output), placed == nest_.placed.end() ? IntExpr(0) : placed->second.base);
  if (std::none_of(kept_.begin(), kept_.end(), [&](int axis) { return nest_.has(output, axis); })) place += " + row * 0";
  line(fmt::format("tl.store({}, {}, mask={})", place, stored, is_kept(output) ? "row_in" + once : "row_in & at_in"), false);
  std::string text;
  std::swap(text, lines_);
  return text;
}

std::pair<std::string, std::string> TritonTile::value(int id, const std::string& indent) {
  indent_ = indent;
  std::string name = element(id), text;
  std::swap(text, lines_);
  return {std::move(text), std::move(name)};
}

std::string TritonTile::pass_held(size_t pass, const std::string& indent) {
  looped_ = false;
  indent_ = indent;
  for (const int id : program_.passes[pass].reductions) {
    const Node& node = program_.node(id);
    const std::string tile = masked(id, element(node.operands[0])), name = fmt::format("v{}", id);
    if (is_arg_reduction(node.prim)) line(fmt::format("_, {} = {}", name, reduced(id, tile, fmt::format("at{}.to(tl.int64) + tl.zeros((ROWS, 1), tl.int64)", along_.front()))), false);
    else line(fmt::format("{} = {}", name, reduced(id, tile, "")), false);
    names_[id] = name;
  }
  std::string text;
  std::swap(text, lines_);
  for (const int id : program_.passes[pass].stores) text += store(id, indent);
  return text;
}

std::string TritonTile::pass_looped(size_t pass, const std::string& indent) {
  looped_ = true;
  indent_ = indent;
  std::string starts, ends, body;
  // Tiles of an earlier pass are gone.
  std::erase_if(names_, [&](const auto& one) { return !is_kept(one.first); });
  for (const int id : program_.passes[pass].reductions) {
    const Node& node = program_.node(id);
    const DType of = program_.node(node.operands[0]).type.dtype, sum = accumulator_of(node, of);
    const char* const how = combination(node.prim, of == DType::kBool);
    const std::string tile = masked(id, element(node.operands[0]));
    starts += fmt::format("{}a{} = tl.full((ROWS, BLOCK), {}, {})\n", indent, id, neutral_of(node.prim, of), lanes_type(sum));
    if (is_arg_reduction(node.prim)) {
      starts += fmt::format("{}i{} = tl.zeros((ROWS, BLOCK), tl.int64)\n", indent, id);
      line(fmt::format("a{0}, i{0} = {1}(a{0}, i{0}, {2}, at{3}.to(tl.int64) + tl.zeros((ROWS, 1), tl.int64))", id, how, tile, along_.front()), false);
      ends += fmt::format("{}_, v{} = {}\n", indent, id, reduced(id, fmt::format("a{}", id), fmt::format("i{}", id)));
    } else {
      line(fmt::format("a{0} = {1}(a{0}, {2})", id, how, tile), false);
      ends += fmt::format("{}v{} = {}\n", indent, id, reduced(id, fmt::format("a{}", id), ""));
    }
  }
  std::swap(body, lines_);
  for (const int id : program_.passes[pass].stores) body += store(id, indent);
  for (const int id : program_.passes[pass].reductions) names_[id] = fmt::format("v{}", id);
  const bool back = std::any_of(nest_.graph->nodes.begin(), nest_.graph->nodes.end(), [](const Node& n) { return task::is_scan(n.prim) && n.attr<bool>("reverse"); });
  std::string text = before_ + starts + carries_before_ + fmt::format("{}for start in range(0, length, BLOCK):\n", indent);
  text += fmt::format("{0}    at = {1} + tl.arange(0, BLOCK)[None, :]\n{0}    at_in = at < length\n", indent, back ? "(length - 1) // BLOCK * BLOCK - start" : "start");
  text += places_prologue(indent + "    ") + body + carries_after_ + ends;
  before_.clear();
  carries_before_.clear();
  carries_after_.clear();
  looped_ = false;
  return text;
}

std::string TritonTile::row_stores(const std::string& indent, const std::string& once) {
  std::string text;
  for (const int id : program_.row_outputs) text += store(id, indent, once);
  return text;
}

}  // namespace hone::pattern
