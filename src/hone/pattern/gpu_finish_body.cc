#include "hone/pattern/gpu_finish_body.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "hone/pattern/expression.h"
#include "hone/pattern/gpu_factor.h"

namespace hone::pattern {
namespace {

using task::IntExpr;
using task::Node;
using task::Prim;

}  // namespace

FinishBody::FinishBody(const Contraction& all, std::vector<std::string> places)
    : all_(all), program_(all.program), nest_(all.program.nest), places_(std::move(places)) {}

std::string FinishBody::columns() const { return wrapped(all_.column.extent.to_cpp()); }

std::vector<int> FinishBody::axes() const {
  std::vector<int> all = program_.row_axes;
  all.insert(all.end(), program_.inner_axes.begin(), program_.inner_axes.end());
  return all;
}

std::string FinishBody::position(int axis) {
  if (!places_.empty()) {
    const std::vector<int> order = axes();
    return places_[static_cast<size_t>(std::find(order.begin(), order.end(), axis) - order.begin())];
  }
  used_.insert(axis);
  return fmt::format("at{}", axis);
}

std::string FinishBody::place_of_output(int id) {
  if (!nest_.placed.contains(id)) return fmt::format("line_at * {} + column_at", columns());
  std::string at;
  for (const int axis : axes())
    if (axis != column_axis()) at += fmt::format("{} * {} + ", position(axis), wrapped(nest_.stride(id, axis).to_cpp()));
  return at + "column_at";
}

std::optional<int> FinishBody::column_axis() const {
  const std::vector<int> order = axes();
  return is_one(all_.column.extent) || order.empty() ? std::nullopt : std::optional(order.back());
}

std::string FinishBody::column_position() const {
  const auto axis = column_axis();
  return axis && used_.contains(*axis) ? fmt::format("  const int64_t at{} = column_at;\n", *axis) : "";
}

std::string FinishBody::row_positions() const {
  std::string text, rest = "line_at";
  std::vector<int> order = axes();
  if (column_axis()) order.pop_back();
  for (size_t k = order.size(); k-- > 0;) {
    const std::string extent = wrapped(program_.extent(order[k]).to_cpp());
    if (used_.contains(order[k]))
      text += k == 0 ? fmt::format("  const int64_t at{} = {};\n", order[k], rest)
                     : fmt::format("  const int64_t at{} = {} % {};\n", order[k], rest, extent);
    rest = fmt::format("{} / {}", rest, extent);
  }
  return text;
}

bool FinishBody::is_second(int id) const { return all_.second && id == nest_.graph->inputs[1]; }

bool FinishBody::varies(int id) {
  if (const auto known = varies_.find(id); known != varies_.end()) return known->second;
  const Node& node = program_.node(id);
  const auto column = column_axis();
  bool of_element = id == nest_.graph->inputs.front() || is_second(id);
  const bool all = !places_.empty() && !in_words_;
  if (is_leaf(id)) of_element |= all || (column && nest_.has(id, *column));
  else if (node.prim == Prim::kIota) of_element |= all || (column && nest_.axis_of_dim(id, node.attr<int64_t>("axis")) == column);
  else
    for (const int operand : node.operands) of_element |= varies(operand);
  return varies_[id] = of_element;
}

bool FinishBody::is_leaf(int id) const { return program_.node(id).prim == Prim::kInput || nest_.access.contains(id); }

std::optional<IntExpr> FinishBody::line_stride(int id) const {
  std::vector<int> order = axes();
  if (column_axis()) order.pop_back();
  if (!places_.empty() || order.size() < 2) return std::nullopt;
  for (size_t k = 0; k < order.size(); ++k) {
    if (!nest_.has(id, order[k])) return std::nullopt;
    if (k + 1 < order.size() && !(nest_.stride(id, order[k]) == nest_.stride(id, order[k + 1]) * program_.extent(order[k + 1]))) return std::nullopt;
  }
  return nest_.stride(id, order.back());
}

Result<std::string> FinishBody::leaf(int id) {
  const auto access = nest_.access.find(id);
  std::string tensor = program_.tensor_of_input(access == nest_.access.end() ? id : access->second.input), at;
  if (access != nest_.access.end()) {
    if (access->second.index >= 0) return fail(ErrorCode::kUnavailable, "an element is picked by an index behind the product");
    at = access->second.base.to_cpp();
  }
  bool beside = false;
  const auto by_line = line_stride(id);
  if (by_line) at += fmt::format("{}line_at * {}", at.empty() ? "" : " + ", wrapped(by_line->to_cpp()));
  for (const int axis : axes()) {
    if (!nest_.has(id, axis) || (by_line && axis != column_axis())) continue;
    const IntExpr stride = nest_.stride(id, axis);
    if (in_words_ && axis == column_axis() && is_one(stride)) {
      at += at.empty() ? "column_at" : " + column_at";
      beside = true;
      continue;
    }
    at += (at.empty() ? "" : " + ") + position(axis) + (is_one(stride) ? "" : " * " + wrapped(stride.to_cpp()));
  }
  if (beside) {
    const std::string words = fmt::format("hone::gpu::Loaded<{}, Many>", storage_type(program_.node(id).type.dtype));
    word_members_.push_back(fmt::format("  {} w{};\n", words, id));
    word_reads_.push_back({words, fmt::format("{} + ({})", tensor, at)});
    return fmt::format("hone::gpu::value(given_at.w{}[e_at])", id);
  }
  return fmt::format("hone::gpu::value({}[{}])", tensor, at.empty() ? "0" : at);
}

Result<std::string> FinishBody::value(int id) {
  if (const auto it = names_.find(id); it != names_.end()) return it->second;
  const Node& node = program_.node(id);
  std::string text;
  if (id == nest_.graph->inputs.front()) return names_[id] = "product_at";
  if (is_second(id)) return names_[id] = "second_at";
  if (node.prim == Prim::kConstant) return names_[id] = constant_text(node, Way::kThread);
  if (node.prim == Prim::kBroadcast || node.prim == Prim::kReshape || node.prim == Prim::kTranspose) {
    HONE_TRY(text, value(node.operands[0]));
    return names_[id] = text;
  }
  if (is_leaf(id)) {
    HONE_TRY(text, leaf(id));
  } else if (node.prim == Prim::kSymbol) {
    text = node.attr<IntExpr>("value").to_cpp();
  } else if (node.prim == Prim::kIota) {
    const auto axis = nest_.axis_of_dim(id, node.attr<int64_t>("axis"));
    text = axis ? position(*axis) : "0";
  } else if (task::is_elementwise(node.prim)) {
    std::vector<std::string> operands;
    std::vector<task::DType> types;
    for (const int operand : node.operands) {
      HONE_TRY(const std::string of, value(operand));
      operands.push_back(of);
      types.push_back(program_.node(operand).type.dtype);
    }
    text = thread_text(*nest_.graph, node, operands, types);
  } else {
    return fail(ErrorCode::kUnavailable, fmt::format("{} behind the product", task::name_of(node.prim)));
  }
  const std::string name = fmt::format("v{}", id), type = value_type(node.type.dtype, Way::kThread);
  (varies(id) ? lines_ : row_lines_) += fmt::format("  const {} {} = {};\n", type, name, text);
  if (!varies(id)) lines_of_row_[name] = type;
  else note_facts(id);
  return names_[id] = name;
}

void FinishBody::note_facts(int id) {
  const auto column = column_axis();
  if (is_leaf(id)) {
    if (line_stride(id)) needs_line_ = true;
    for (const int axis : axes())
      if (nest_.has(id, axis) && axis != column && !line_stride(id)) element_axes_.insert(axis);
    return;
  }
  for (const int operand : program_.node(id).operands)
    if (const auto name = names_.find(operand); name != names_.end() && lines_of_row_.contains(name->second)) facts_.insert(name->second);
}

}  // namespace hone::pattern
