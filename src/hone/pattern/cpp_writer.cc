#include "hone/pattern/cpp_writer.h"

#include <algorithm>

#include <fmt/format.h>

namespace hone::pattern {
namespace {

using task::DType;
using task::IntExpr;
using task::Node;
using task::Prim;

/// The quickest of 4 KiB, 8 KiB and two rows for softmax on an Emerald Rapids (results/cpu).
constexpr int kAheadBytes = 8192;

std::string scalar_type(DType dtype) { return value_type(dtype, Way::kScalar); }

/// Of the least or largest of zeros and ones, as bools. Of no elements at all the largest is the least number that there is.
const char* as_truth(Prim op) { return op == Prim::kAny ? " > 0" : " != 0"; }

const char* reducer_of(Prim op) {
  switch (op) {
    case Prim::kSum: return "hone::Sum";
    case Prim::kProd: return "hone::Prod";
    case Prim::kMax: case Prim::kAny: return "hone::Max";
    case Prim::kMin: case Prim::kAll: return "hone::Min";
    case Prim::kArgMax: return "hone::ArgMax";
    case Prim::kArgMin: return "hone::ArgMin";
    default: return nullptr;
  }
}

const char* scan_of(Prim op) {
  switch (op) {
    case Prim::kCumSum: return "hone::Sum";
    case Prim::kCumProd: return "hone::Prod";
    case Prim::kCumMax: return "hone::Max";
    case Prim::kCumLogSumExp: return "hone::LogSumExp";
    default: return "hone::Min";
  }
}

}  // namespace

CppWriter::CppWriter(const Program& program, Way way, std::vector<int> kept, std::vector<int> local)
    : program_(program), way_(way), kept_(std::move(kept)), local_(std::move(local)) {
  const auto& graph = *program_.nest.graph;
  for (const int input : graph.inputs)
    if (!program_.is_row_value(input)) element_inputs_.push_back(input);
  for (const auto& [slice, access] : program_.nest.access)
    if (!program_.is_row_value(slice)) element_inputs_.push_back(slice);
}

std::string CppWriter::output_tensor(int id) const {
  const auto placed = program_.nest.placed.find(id);
  if (placed == program_.nest.placed.end()) return output_name(id);
  const IntExpr& base = placed->second.base;
  return base.is_constant() && base.constant() == 0 ? output_name(id) : output_name(id) + " + " + parenthesised(base);
}

std::string CppWriter::output_row(int id) const {
  const std::string name = output_name(id);
  return std::ranges::count(program_.nest.graph->output_names, name) > 1 ? fmt::format("{}_{}", name, id) : name;
}

bool CppWriter::stores_in_turns() const {
  if (program_.passes.size() != 1 || program_.passes.front().stores.size() != 2) return false;
  const int first = program_.passes.front().stores[0], second = program_.passes.front().stores[1];
  const auto a = program_.nest.placed.find(first), b = program_.nest.placed.find(second);
  if (a == program_.nest.placed.end() || b == program_.nest.placed.end() || output_name(first) != output_name(second)) return false;
  const auto alike = [&](int axis) { return program_.nest.stride(first, axis) == program_.nest.stride(second, axis); };
  return b->second.base - a->second.base == IntExpr(1) && program_.nest.stride(first, vector_axis()) == IntExpr(2) &&
         std::ranges::all_of(program_.nest.order, alike);
}

std::string CppWriter::tensor_type(int id) const { return storage_type(program_.node(id).type.dtype); }

std::set<std::string> symbols_of(const task::Task& task) {
  std::set<std::string> names;
  for (const std::string& name : task.symbols()) names.insert(name);
  const auto add = [&](const IntExpr& e) { names.merge(e.symbols()); };
  for (const Node& node : task.primitive.nodes) {
    for (const IntExpr& dim : node.type.dims) add(dim);
    for (const auto& [key, value] : node.attrs) {
      if (const auto* e = std::get_if<IntExpr>(&value)) add(*e);
      if (const auto* dims = std::get_if<task::Dims>(&value))
        for (const IntExpr& dim : *dims) add(dim);
    }
  }
  return names;
}

std::string parameters_of(const task::Task& task) {
  std::vector<std::string> all;
  for (const auto& input : task.inputs)
    all.push_back(fmt::format("[[maybe_unused]] const {}* {}", storage_type(input.type.dtype), input.name));
  for (const auto& [name, type] : task.outputs) all.push_back(fmt::format("{}* {}", storage_type(type.dtype), name));
  for (const std::string& symbol : symbols_of(task)) all.push_back(fmt::format("[[maybe_unused]] int64_t {}", symbol));
  return fmt::format("{}", fmt::join(all, ", "));
}

std::string arguments_of(const task::Task& task) {
  std::vector<std::string> all;
  for (const auto& input : task.inputs) all.push_back("\"" + input.name + "\"");
  for (const auto& [name, type] : task.outputs) all.push_back("\"" + name + "\"");
  for (const std::string& symbol : symbols_of(task)) all.push_back("\"i64:" + symbol + "\"");
  return fmt::format("{}", fmt::join(all, ", "));
}

std::string CppWriter::requirements() const {
  std::vector<std::string> all;
  for (const IntExpr& condition : program_.nest.conditions) all.push_back("\"" + condition.to_string() + "\"");
  return all.empty() ? "" : fmt::format("requires = [{}]\n", fmt::join(all, ", "));
}

bool CppWriter::stores_elements() const {
  return std::any_of(program_.passes.begin(), program_.passes.end(), [](const Pass& p) { return !p.stores.empty(); });
}

bool CppWriter::is_leaf(int id) const { return program_.node(id).prim == Prim::kInput || program_.nest.access.contains(id); }

std::string CppWriter::leaf_tensor(int id) const {
  const auto slice = program_.nest.access.find(id);
  if (slice == program_.nest.access.end()) return program_.tensor_of_input(id);
  const std::string tensor = program_.tensor_of_input(slice->second.input);
  const IntExpr& base = slice->second.base;
  return base.is_constant() && base.constant() == 0 ? tensor : tensor + " + " + parenthesised(base);
}

std::string CppWriter::leaf_name(int id) const {
  const auto slice = program_.nest.access.find(id);
  return slice == program_.nest.access.end() ? program_.tensor_of_input(id)
                                             : fmt::format("{}_{}", program_.tensor_of_input(slice->second.input), id);
}

bool CppWriter::is_view(int id) const {
  return pattern::is_view(program_.node(id));
}

/// Whether the row is walked from its end, as reverse scans need it.
bool CppWriter::goes_back() const {
  const auto& nodes = program_.nest.graph->nodes;
  return std::any_of(nodes.begin(), nodes.end(), [](const Node& node) { return task::is_scan(node.prim) && node.attr<bool>("reverse"); });
}

/// Scans run along the whole contiguous row, or down columns, all in one direction; reductions go forward.
bool CppWriter::scans_can_be_written() const {
  const auto& nodes = program_.nest.graph->nodes;
  const bool back = goes_back();
  for (const Node& node : nodes) {
    if (back && task::is_reduction(node.prim)) return false;
    if (!task::is_scan(node.prim)) continue;
    if (program_.inner_axes.size() != (program_.by_columns ? 2 : 1) || node.attr<bool>("reverse") != back) return false;
    if (node.type.dtype == DType::kBool || task::is_narrow(node.type.dtype)) return false;
  }
  return true;
}

bool CppWriter::is_arg_view(int id) const {
  while (is_view(id)) id = program_.node(id).operands[0];
  return program_.node(id).prim == Prim::kArgMax || program_.node(id).prim == Prim::kArgMin;
}

/// Whether anything but a view, or an output, reads `id`.
bool CppWriter::is_computed_on(int id) const {
  const auto& nodes = program_.nest.graph->nodes;
  for (size_t user = 0; user < nodes.size(); ++user) {
    const auto& operands = nodes[user].operands;
    if (std::find(operands.begin(), operands.end(), id) == operands.end()) continue;
    if (!is_view(static_cast<int>(user)) || is_computed_on(static_cast<int>(user))) return true;
  }
  return false;
}

bool CppWriter::is_side_by_side(int id) const {
  return !program_.nest.has(id, vector_axis()) || is_one(program_.nest.stride(id, vector_axis()));
}

int CppWriter::row_index(int node) const {
  const auto access = program_.nest.access.find(node);
  int index = access == program_.nest.access.end() ? -1 : access->second.index;
  while (index >= 0 && is_view(index)) index = program_.node(index).operands[0];
  return index >= 0 && program_.is_row_value(index) ? index : -1;
}

int CppWriter::leaf_index(int node) const {
  const auto access = program_.nest.access.find(node);
  int index = access == program_.nest.access.end() ? -1 : access->second.index;
  while (index >= 0 && is_view(index)) index = program_.node(index).operands[0];
  if (index < 0 || !is_leaf(index) || !program_.nest.has(index, vector_axis()) || !is_side_by_side(index)) return -1;
  const auto own = program_.nest.access.find(index);
  return own != program_.nest.access.end() && own->second.index >= 0 ? -1 : index;
}

bool CppWriter::only_picks(int id) const {
  const auto& nodes = program_.nest.graph->nodes;
  bool picks = false;
  for (size_t user = 0; user < nodes.size(); ++user) {
    const auto& operands = nodes[user].operands;
    const auto at = std::find(operands.begin(), operands.end(), id);
    if (at == operands.end()) continue;
    const int reader = static_cast<int>(user);
    picks = is_view(reader) ? only_picks(reader) : at == operands.begin() + 1 && (row_index(reader) >= 0 || leaf_index(reader) >= 0);
    if (!picks) return false;
  }
  return picks && std::ranges::find(program_.nest.graph->outputs, id) == program_.nest.graph->outputs.end();
}

bool CppWriter::vectorisable(bool apart_too) const {
  const auto& graph = *program_.nest.graph;
  if (!scans_can_be_written()) return false;
  // What is read more often than once had better be turned over first.
  const bool apart = program_.passes.size() == 1;
  for (const int input : element_inputs_)
    if (!apart && !is_side_by_side(input)) return false;
  // An index is known before any loop.
  for (const auto& [node, access] : program_.nest.access)
    if (access.index >= 0 && program_.depth[static_cast<size_t>(access.index)] > 0) return false;
  for (const int output : graph.outputs)
    if (!is_side_by_side(output) && !(apart_too && apart && program_.inner_axes.size() == 1)) return false;
  for (size_t id = 0; id < graph.nodes.size(); ++id) {
    const Node& node = graph.nodes[id];
    // The index that an arg-reduction keeps is that of one loop. By columns it lies in lanes of 32 bits: good
    // for storing, but not for computing on.
    if (is_arg_view(static_cast<int>(id))) {
      if (program_.inner_axes.size() != (program_.by_columns ? 2 : 1)) return false;
      if (program_.by_columns && is_computed_on(static_cast<int>(id))) return false;
      if (program_.by_columns) continue;
    }
    if (program_.is_row_value(static_cast<int>(id))) continue;
    if (node.prim == Prim::kIota && !program_.nest.axis_of_dim(static_cast<int>(id), node.attr<int64_t>("axis"))) return false;
    const bool iota_like = node.prim == Prim::kIota || node.prim == Prim::kSymbol || only_picks(static_cast<int>(id));
    if (way_ == Way::kVector32 && !fits_32(node.type.dtype) && !iota_like) return false;
  }
  return true;
}

/// Offset of `node`'s element at the given axes' loop variables: "at0 * D + at1".
std::string CppWriter::offset(int node, const std::vector<int>& axes) const {
  std::vector<std::string> terms;
  for (const int axis : axes) {
    if (!program_.nest.has(node, axis)) continue;
    const IntExpr stride = program_.nest.stride(node, axis);
    const bool one = stride.is_constant() && stride.constant() == 1;
    terms.push_back(one ? fmt::format("at{}", axis) : fmt::format("at{} * {}", axis, parenthesised(stride)));
  }
  return fmt::format("{}", fmt::join(terms, " + "));
}

std::string CppWriter::row_prologue(const std::string& from, const std::string& indent) {
  std::string text;
  const auto& axes = program_.row_axes;
  std::string rest = from;
  for (size_t k = axes.size(); k-- > 0;) {
    const std::string extent = parenthesised(program_.extent(axes[k]));
    if (k == 0) {
      text += fmt::format("{}[[maybe_unused]] const int64_t at{} = {};\n", indent, axes[k], rest);
    } else {
      text += fmt::format("{}[[maybe_unused]] const int64_t at{} = {} % {};\n", indent, axes[k], rest, extent);
      rest = fmt::format("{} / {}", rest, extent);
    }
  }
  const auto pointer = [&](int id, const std::string& name, const std::string& tensor, const char* qualifier) {
    const std::string at = offset(id, axes);
    text += fmt::format("{}{}{}* {}_row = {}{};\n", indent, qualifier, tensor_type(id), name, tensor,
                        at.empty() ? "" : " + " + at);
  };
  for (const int input : element_inputs_)
    if (std::find(local_.begin(), local_.end(), input) == local_.end()) pointer(input, leaf_name(input), leaf_tensor(input), "const ");
  for (const Pass& pass : program_.passes)
    for (const int output : pass.stores)
      if (output == pass.stores.front() || !stores_in_turns()) pointer(output, output_row(output), output_tensor(output), "");
  for (const int output : program_.column_outputs) pointer(output, output_name(output), output_tensor(output), "");
  return text;
}

IntExpr CppWriter::keep_bytes() const {
  const int size = way_ == Way::kVector64 ? 8 : 4;
  const IntExpr segment = IntExpr::ceil_div(program_.row_length() * IntExpr(size), 64) * IntExpr(64);
  return segment * IntExpr(static_cast<int64_t>(kept_.size()));
}

std::string CppWriter::keep_prologue(const std::string& indent, const std::string& slot) const {
  std::string text;
  const int size = way_ == Way::kVector64 ? 8 : 4;
  for (size_t k = 0; k < kept_.size(); ++k) {
    const bool real = task::is_float(program_.node(kept_[k]).type.dtype);
    const std::string type = size == 8 ? (real ? "double" : "int64_t") : (real ? "float" : "int32_t");
    const std::string place = slot.empty() ? fmt::format("{}", k) : fmt::format("({} * {} + {})", slot, kept_.size(), k);
    text += fmt::format("{}{}* keep{} = ({}*)shared + {} * hone::align({}, {});\n", indent, type, k, type, place,
                        program_.row_length().to_cpp(), 64 / size);
  }
  return text;
}

/// What a row's index adds to where `node` is read: " + v7 * D"; empty without one.
std::string CppWriter::picked(int node) {
  const int index = row_index(node);
  return index < 0 ? "" : fmt::format(" + {} * {}", row(index), parenthesised(program_.nest.access.at(node).index_stride));
}

std::string CppWriter::element_pointer(int node, const std::string& tensor) const {
  std::vector<int> loops(program_.inner_axes.begin(), program_.inner_axes.end() - 1);
  std::string at = offset(node, loops);
  if (program_.nest.has(node, vector_axis())) {
    at += at.empty() ? "j" : " + j";
    if (!is_side_by_side(node)) at += " * " + parenthesised(program_.nest.stride(node, vector_axis()));
  }
  return at.empty() ? tensor + "_row" : tensor + "_row + " + at;
}

std::string CppWriter::element(int id) {
  if (const auto it = element_names_.find(id); it != element_names_.end()) return it->second;
  const Node& node = program_.node(id);
  const std::string type = value_type(node.type.dtype, way_);
  if (program_.is_row_value(id)) {
    if (node.prim == Prim::kConstant) return element_names_[id] = constant_text(node, way_);
    const std::string name = fmt::format("v{}_all", id);
    if (hoisted_ids_.insert(id).second) {
      // Whole numbers of 64 bits meet lanes of 32 only where both are compared, and the lanes' are indices: the nearest that a lane holds compares alike.
      const bool nearest = way_ == Way::kVector32 && node.type.dtype == DType::kI64;
      const std::string value = nearest ? fmt::format("(int32_t)hone::min<int64_t>(hone::max<int64_t>({}, INT32_MIN), INT32_MAX)", row(id)) : row(id);
      hoisted_.push_back(node.type.dtype == DType::kBool
                             ? fmt::format("const {0} {1} = hone::splat<{0}>({2} ? -1 : 0);", type, name, value)
                             : fmt::format("const {0} {1} = hone::splat<{0}>({2});", type, name, value));
    }
    return element_names_[id] = name;
  }
  if (is_view(id)) return element_names_[id] = element(node.operands[0]);
  if (program_.is_column_value(id)) {
    if (task::is_reduction(node.prim)) return element_names_[id] = fmt::format("hone::load_n<{}>(v{} + i, n)", type, id);
    if (in_rows_ && !is_leaf(id) && node.prim != Prim::kIota) {
      if (std::find(columns_needed_.begin(), columns_needed_.end(), id) == columns_needed_.end()) columns_needed_.push_back(id);
      return element_names_[id] = fmt::format("hone::load_n<{}>(c{} + i, n)", type, id);
    }
  }
  const std::string name = fmt::format("v{}", id);
  body_.push_back(fmt::format("const {} {} = {};", type, name, compute_element(id)));
  const auto kept = std::find(kept_.begin(), kept_.end(), id);
  if (kept != kept_.end() && program_.depth[static_cast<size_t>(id)] == static_cast<int>(pass_))
    body_.push_back(fmt::format("hone::store_n(keep{}{} + j, {}, n);", kept - kept_.begin(), "", name));
  return element_names_[id] = name;
}

std::string CppWriter::compute_element(int id) {
  const Node& node = program_.node(id);
  const std::string type = value_type(node.type.dtype, way_);
  const auto kept = std::find(kept_.begin(), kept_.end(), id);
  if (kept != kept_.end() && program_.depth[static_cast<size_t>(id)] < static_cast<int>(pass_))
    return fmt::format("hone::load_n<{}>(keep{} + j, n)", type, kept - kept_.begin());
  if (is_leaf(id)) {
    const std::string at = element_pointer(id, leaf_name(id)) + picked(id);
    const bool vector = program_.nest.has(id, vector_axis());
    const auto access = program_.nest.access.find(id);
    if (access != program_.nest.access.end() && access->second.index >= 0 && row_index(id) < 0) {
      const std::string step = vector ? program_.nest.stride(id, vector_axis()).to_cpp() : "0";
      const int leaf = leaf_index(id);
      const std::string index = leaf >= 0 ? element_pointer(leaf, leaf_name(leaf)) : element(access->second.index);
      return fmt::format("hone::load_picked<{}>({}, {}, {}, {}, n){}", type, at, step, index,
                         access->second.index_stride.to_cpp(), node.type.dtype == DType::kBool ? " != " + type + "{}" : "");
    }
    const std::string loaded = is_side_by_side(id) ? fmt::format("hone::load_n<{}>({}, n)", type, at)
                                                   : fmt::format("hone::load_apart<{}>({}, {}, n)", type, at, parenthesised(program_.nest.stride(id, vector_axis())));
    if (node.type.dtype == DType::kBool)
      return vector ? fmt::format("{0} != {1}{{}}", loaded, type)
                    : fmt::format("hone::splat<{}>(*({}) ? -1 : 0)", type, at);
    if (vector) return loaded;
    return fmt::format("hone::splat<{}>(hone::load<hone::Lane<{}>>({}))", type, type, at);
  }
  if (node.prim == Prim::kIota) {
    const int axis = *program_.nest.axis_of_dim(id, node.attr<int64_t>("axis"));
    const char* lane = way_ == Way::kVector32 ? "int32_t" : "int64_t";
    if (axis == vector_axis()) return fmt::format("hone::iota<{0}>() + hone::splat<{0}>(({1})j)", type, lane);
    return fmt::format("hone::splat<{}>(({})at{})", type, lane, axis);
  }
  if (task::is_scan(node.prim)) {
    const std::string value = element(node.operands[0]);
    const std::string state = fmt::format("scan{}_{}", id, pass_);
    if (program_.by_columns) {
      const bool linear = node.prim == Prim::kLinearScan;
      const std::string added = linear ? element(node.operands[1]) + ", " : "";
      hoisted_.push_back(linear ? fmt::format("hone::LinearScanColumns<{}, WIDTH> {};", type, state)
                                : fmt::format("hone::ScanColumns<{}, {}, {}, WIDTH> {};", type, scan_of(node.prim), node.attr<bool>("exclusive"), state));
      return fmt::format("{}.next(i, {}, {}n)", state, value, added);
    }
    if (node.prim == Prim::kLinearScan) {
      const std::string added = element(node.operands[1]);
      hoisted_.push_back(fmt::format("hone::LinearScan<{}, {}> {};", type, node.attr<bool>("reverse"), state));
      return fmt::format("{}.next({}, {}, n)", state, value, added);
    }
    hoisted_.push_back(fmt::format("hone::Scan<{}, {}, {}, {}> {};", type, scan_of(node.prim), node.attr<bool>("reverse"),
                                   node.attr<bool>("exclusive"), state));
    return fmt::format("{}.next({}, n)", state, value);
  }
  if (node.prim == Prim::kDiv && way_ == Way::kVector32 && node.type.dtype == DType::kF32 && program_.is_row_value(node.operands[1]))
    return fmt::format("{} / {}", element(node.operands[0]), divisor(node.operands[1]));
  std::vector<std::string> operands;
  std::vector<DType> types;
  for (const int operand : node.operands) {
    operands.push_back(element(operand));
    types.push_back(program_.node(operand).type.dtype);
  }
  return operation_text(node, operands, types, way_);
}

/// The name of row value `id` made ready to divide elements by.
std::string CppWriter::divisor(int id) {
  const std::string name = fmt::format("v{}_divisor", id);
  if (divisor_ids_.insert(id).second) hoisted_.push_back(fmt::format("const hone::Divisor<f32v> {}({});", name, row(id)));
  return name;
}

std::string CppWriter::row(int id) {
  if (const auto it = row_names_.find(id); it != row_names_.end()) return it->second;
  const Node& node = program_.node(id);
  if (node.prim == Prim::kConstant) return row_names_[id] = constant_text(node, Way::kScalar);
  if (is_view(id)) return row_names_[id] = row(node.operands[0]);
  const std::string type = scalar_type(node.type.dtype);
  std::string value;
  if (node.prim == Prim::kSymbol) {
    value = fmt::format("({})({})", type, node.attr<IntExpr>("value").to_cpp());
  } else if (is_leaf(id)) {
    const std::string at = offset(id, program_.row_axes);
    value = fmt::format("hone::load<{}>({}{}{})", type, leaf_tensor(id), at.empty() ? "" : " + " + at, picked(id));
  } else if (node.prim == Prim::kIota) {
    const auto axis = program_.nest.axis_of_dim(id, node.attr<int64_t>("axis"));
    value = axis ? fmt::format("at{}", *axis) : "0";
  } else {
    HONE_CHECK(!task::is_reduction(node.prim), "a reduction is named by its pass");
    std::vector<std::string> operands;
    std::vector<DType> types;
    for (const int operand : node.operands) {
      operands.push_back(row(operand));
      types.push_back(program_.node(operand).type.dtype);
    }
    value = operation_text(node, operands, types, Way::kScalar);
  }
  const std::string name = fmt::format("v{}", id);
  row_lines_.push_back(fmt::format("const {} {} = {};", type, name, value));
  return row_names_[id] = name;
}

std::string CppWriter::prefetches(size_t pass) const {
  std::string text;
  // Of three passes or more the first reads memory and the last writes it: the one between leaves it idle.
  const size_t passes = program_.passes.size(), idle = passes > 2 ? 1 : passes - 1;
  for (const int input : element_inputs_) {
    if (!program_.nest.has(input, vector_axis()) || !is_side_by_side(input)) continue;
    if (const auto access = program_.nest.access.find(input); access != program_.nest.access.end() && access->second.index >= 0) continue;
    const std::string at = element_pointer(input, leaf_name(input));
    const int size = task::size_of(program_.node(input).type.dtype);
    if (passes > 1 && pass == idle && !program_.row_axes.empty()) {
      const IntExpr stride = program_.nest.stride(input, program_.row_axes.back());
      // A short row is over before its data could come: then further ahead.
      if (!(stride.is_constant() && stride.constant() == 0))
        text += fmt::format("if constexpr (AHEAD == 1) hone::prefetch_l2({} + hone::max((int64_t){}, (int64_t)({})));\n", at, kAheadBytes / size, stride.to_cpp());
    }
    if (pass == 0)
      text += fmt::format("if constexpr (AHEAD == 2) hone::prefetch({} + {});\n", at, 2048 / size);
  }
  return text;
}

/// `head0`: the elements before the first whole vector, so that what is stored past the caches is aligned.
std::string CppWriter::aligned_head(size_t number, const std::string& indent, const char* start, const std::string& vector) const {
  const Pass& pass = program_.passes[number];
  const auto& nodes = program_.nest.graph->nodes;
  const bool scans = std::any_of(nodes.begin(), nodes.end(), [](const Node& node) { return task::is_scan(node.prim); });
  if (!pass.reductions.empty() || pass.stores.empty() || scans) return {};
  const int output = pass.stores.front();
  if (!is_side_by_side(output)) return {};
  return fmt::format("{0}int64_t head{4} = 0;\n{0}if constexpr (STREAM) {{\n{0}  [[maybe_unused]] const int64_t j = {1};\n"
                     "{0}  head{4} = hone::before_boundary<{2}>({3});\n{0}}}\n",
                     indent, start, vector, element_pointer(output, output_row(output)), number);
}

std::string CppWriter::pass_text(size_t number, const std::string& indent, Span span) {
  const Pass& pass = program_.passes[number];
  pass_ = number;
  element_names_.clear();
  body_.clear();
  hoisted_.clear();
  std::vector<std::string> results, reducers;
  for (const int id : pass.reductions) {
    std::string value = element(program_.node(id).operands[0]);
    const Prim op = program_.node(id).prim;
    if (op == Prim::kAny || op == Prim::kAll) {
      const std::string type = value_type(DType::kBool, way_);
      value = fmt::format("hone::select({0}, hone::splat<{1}>(1), {1}{{}})", value, type);
    }
    results.push_back(value);
    reducers.emplace_back(reducer_of(op));
  }
  for (const int id : pass.stores) {
    const std::string value = element(id);
    const std::string to = element_pointer(id, output_row(id));
    if (stores_in_turns()) {
      if (id == pass.stores.front()) body_.push_back(fmt::format("hone::put_turns<STREAM>({}, {}, {}, n);", to, value, element(pass.stores.back())));
      continue;
    }
    body_.push_back(is_side_by_side(id) ? fmt::format("hone::put<STREAM>({}, {}, n);", to, value)
                                        : fmt::format("hone::put_apart({}, {}, {}, n);", to, program_.nest.stride(id, vector_axis()).to_cpp(), value));
  }
  std::string vector = way_ == Way::kVector32 ? "f32v" : "f64v";
  if (!pass.reductions.empty()) {
    const DType dtype = program_.node(program_.node(pass.reductions.front()).operands[0]).type.dtype;
    vector = value_type(dtype, way_);
  }
  std::string text;
  for (const std::string& line : row_lines_) text += indent + line + "\n";
  row_lines_.clear();
  for (const std::string& line : hoisted_) text += indent + line + "\n";
  if (!pass.reductions.empty())
    text += fmt::format("{}hone::Reduce<{}, UNROLL, {}> pass{};\n", indent, vector, fmt::join(reducers, ", "), number);
  std::string inner = indent;
  for (size_t k = 0; k + 1 < program_.inner_axes.size(); ++k) {
    const int axis = program_.inner_axes[k];
    text += fmt::format("{0}for (int64_t at{1} = 0; at{1} < {2}; ++at{1}) {{\n", inner, axis, program_.extent(axis).to_cpp());
    inner += "  ";
  }
  const std::string length = span == Span::kSlice ? "count" : program_.extent(vector_axis()).to_cpp();
  const char* index = span == Span::kSlice ? "i" : "j";
  const std::string head = aligned_head(number, inner, span == Span::kSlice ? "start" : "0", vector);
  text += head;
  const std::string loop = goes_back() ? "_back" : head.empty() ? "" : "_behind";
  text += pass.reductions.empty()
              ? fmt::format("{}hone::for_each{}<{}, UNROLL>({}{}, [&](int64_t {}, auto n) HONE_BODY {{\n", inner, loop, vector, head.empty() ? "" : fmt::format("head{}, ", number), length, index)
              : fmt::format("{}pass{}.run({}, [&](int64_t {}, auto n) HONE_BODY {{\n", inner, number, length, index);
  if (span == Span::kSlice) text += inner + "  const int64_t j = start + i;\n";
  const std::string ahead = prefetches(number);
  for (size_t start = 0; start < ahead.size();) {
    const size_t end = ahead.find('\n', start);
    text += inner + "  " + ahead.substr(start, end - start + 1);
    start = end + 1;
  }
  for (const std::string& line : body_) text += inner + "  " + line + "\n";
  if (results.size() == 1) text += fmt::format("{}  return {};\n", inner, results[0]);
  if (results.size() > 1) text += fmt::format("{}  return hone::pack({});\n", inner, fmt::join(results, ", "));
  text += inner + "});\n";
  while (inner.size() > indent.size()) {
    inner.resize(inner.size() - 2);
    text += inner + "}\n";
  }
  for (size_t i = 0; i < pass.reductions.size(); ++i) {
    const int id = pass.reductions[i];
    const std::string type = scalar_type(program_.node(id).type.dtype);
    text += fmt::format("{}const {} v{} = pass{}.get<{}>(){};\n", indent, type, id, number, i,
                        type == "bool" ? as_truth(program_.node(id).prim) : "");
    row_names_[id] = fmt::format("v{}", id);
  }
  return text;
}

std::string CppWriter::take_row_lines(const std::string& indent) {
  std::string text;
  for (const std::string& line : row_lines_) text += indent + line + "\n";
  for (const std::string& line : hoisted_) text += indent + line + "\n";
  row_lines_.clear();
  hoisted_.clear();
  return text;
}

namespace {
/// "float" for f32v.
std::string lane_type(const std::string& vector) {
  return vector == "f32v" ? "float" : vector == "i32v" ? "int32_t" : vector == "f64v" ? "double" : "int64_t";
}
}  // namespace

std::string CppWriter::column_pass_text(size_t number, const std::string& indent) {
  const Pass& pass = program_.passes[number];
  pass_ = number;
  element_names_.clear();
  body_.clear();
  columns_needed_.clear();
  in_rows_ = true;
  std::vector<std::string> results, reducers;
  for (const int id : pass.reductions) {
    std::string value = element(program_.node(id).operands[0]);
    const Prim op = program_.node(id).prim;
    if (op == Prim::kAny || op == Prim::kAll)
      value = fmt::format("hone::select({0}, hone::splat<{1}>(1), {1}{{}})", value, value_type(DType::kBool, way_));
    results.push_back(value);
    reducers.emplace_back(reducer_of(op));
  }
  for (const int id : pass.stores) {
    const std::string value = element(id);
    body_.push_back(fmt::format("hone::put<STREAM>({}, {}, n);", element_pointer(id, output_name(id)), value));
  }
  const std::vector<std::string> rows_body = std::exchange(body_, {});
  std::string text = take_row_lines(indent);
  // Column values first, each into its array.
  in_rows_ = false;
  const std::vector<int> needed = columns_needed_;
  for (const int id : needed) {
    if (!columns_known_.insert(id).second) continue;
    element_names_.clear();
    body_.clear();
    const std::string value = element(id);
    const std::string type = value_type(program_.node(id).type.dtype, way_);
    text += take_row_lines(indent);
    text += fmt::format("{}alignas(64) {} c{}[WIDTH];\n", indent, lane_type(type), id);
    text += fmt::format("{}hone::for_each<{}, 1>(count, [&](int64_t i, auto n) HONE_BODY {{\n", indent, type);
    text += fmt::format("{}  [[maybe_unused]] const int64_t j = start + i;\n", indent);
    for (const std::string& line : body_) text += indent + "  " + line + "\n";
    text += fmt::format("{}  hone::store_n(c{} + i, {}, n);\n{}}});\n", indent, id, value, indent);
  }
  std::string vector = way_ == Way::kVector32 ? "f32v" : "f64v";
  if (!pass.reductions.empty()) {
    vector = value_type(program_.node(program_.node(pass.reductions.front()).operands[0]).type.dtype, way_);
    text += fmt::format("{}hone::ReduceColumns<{}, WIDTH, {}> pass{};\n", indent, vector, fmt::join(reducers, ", "), number);
  }
  std::string inner = indent;
  for (size_t k = 0; k + 1 < program_.inner_axes.size(); ++k) {
    const int axis = program_.inner_axes[k];
    text += goes_back() ? fmt::format("{0}for (int64_t at{1} = {2}; at{1}-- > 0;) {{\n", inner, axis, program_.extent(axis).to_cpp())
                        : fmt::format("{0}for (int64_t at{1} = 0; at{1} < {2}; ++at{1}) {{\n", inner, axis, program_.extent(axis).to_cpp());
    inner += "  ";
  }
  text += pass.reductions.empty() ? fmt::format("{}hone::for_each<{}, 2>(count, [&](int64_t i, auto n) HONE_BODY {{\n", inner, vector)
                                  : fmt::format("{}pass{}.row(count, [&](int64_t i, auto n) HONE_BODY {{\n", inner, number);
  text += inner + "  [[maybe_unused]] const int64_t j = start + i;\n";
  for (const std::string& line : rows_body) text += inner + "  " + line + "\n";
  if (results.size() == 1) text += fmt::format("{}  return {};\n", inner, results[0]);
  if (results.size() > 1) text += fmt::format("{}  return hone::pack({});\n", inner, fmt::join(results, ", "));
  text += inner + "});\n";
  while (inner.size() > indent.size()) {
    inner.resize(inner.size() - 2);
    text += inner + "}\n";
  }
  if (!pass.reductions.empty()) text += fmt::format("{}pass{}.finish();\n", indent, number);
  for (size_t i = 0; i < pass.reductions.size(); ++i)
    text += fmt::format("{}const auto* v{} = pass{}.get<{}>();\n", indent, pass.reductions[i], number, i);
  return text;
}

std::string CppWriter::column_stores(const std::string& indent) {
  if (program_.column_outputs.empty()) return {};
  element_names_.clear();
  body_.clear();
  in_rows_ = false;
  for (const int id : program_.column_outputs) {
    const std::string value = element(id);
    body_.push_back(fmt::format("hone::store_n({} + j, {}, n);", output_name(id) + "_row", value));
  }
  std::string text = take_row_lines(indent);
  text += fmt::format("{}hone::for_each<{}, 1>(count, [&](int64_t i, auto n) HONE_BODY {{\n{}  const int64_t j = start + i;\n", indent,
                      way_ == Way::kVector32 ? "f32v" : "f64v", indent);
  for (const std::string& line : body_) text += indent + "  " + line + "\n";
  return text + indent + "});\n";
}

void CppWriter::adopt(int id, const std::string& name) { row_names_[id] = name; }

std::string CppWriter::row_stores(const std::string& indent) {
  std::vector<std::string> stores;
  for (const int id : program_.row_outputs) {
    const std::string value = row(id);
    const std::string at = offset(id, program_.row_axes);
    stores.push_back(fmt::format("hone::store({}{}, {});", output_tensor(id), at.empty() ? "" : " + " + at, value));
  }
  std::string text;
  for (const std::string& line : row_lines_) text += indent + line + "\n";
  row_lines_.clear();
  for (const std::string& line : stores) text += indent + line + "\n";
  return text;
}

Result<Way> way_for(const Program& program, bool apart) {
  for (const Way way : {Way::kVector32, Way::kVector64}) {
    const CppWriter writer(program, way, {});
    if (writer.vectorisable(apart)) return way;
  }
  return fail(ErrorCode::kUnavailable, "the innermost axis is not contiguous in every tensor");
}

}  // namespace hone::pattern
