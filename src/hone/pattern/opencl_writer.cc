#include "hone/pattern/opencl_writer.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

namespace hone::pattern::opencl {

using task::DType;
using task::IntExpr;
using task::Node;
using task::Prim;

namespace {

bool is_whole_division(const Node& node) {
  const bool division = node.prim == Prim::kMod || node.prim == Prim::kFloorDiv || node.prim == Prim::kDiv || node.prim == Prim::kPow;
  return division && !task::is_float(node.type.dtype);
}

}  // namespace

Writer::Writer(const Program& program, Walk walk)
    : program_(program), walk_(std::move(walk)), narrow_(is_narrow(*program.task)), lanes_(walk_.columns ? fits_columns() : fits_lanes()) {
  if (walk_.columns && lanes_) way_ = Way::kLanes;
}

void Writer::choose(bool lanes) {
  lanes_ = lanes;
  way_ = lanes ? Way::kLanes : Way::kItem;
}

bool Writer::has_lane(int id) const { return walk_.columns && program_.nest.has(id, program_.row_axes.back()); }
bool Writer::is_scalar(int id) const { return program_.is_row_value(id) && !has_lane(id); }

bool Writer::is_view(int id) const { return hone::pattern::is_view(program_.node(id)); }
bool Writer::is_leaf(int id) const { return program_.node(id).prim == Prim::kInput || program_.nest.access.contains(id); }

bool Writer::is_arg(int id) const {
  const Prim prim = program_.node(id).prim;
  return prim == Prim::kArgMax || prim == Prim::kArgMin;
}

bool Writer::lies_along(int id) const {
  const Nest& nest = program_.nest;
  const auto access = nest.access.find(id);
  if (access != nest.access.end() && access->second.index >= 0 && !program_.is_row_value(access->second.index)) return false;
  IntExpr expected = 1;
  for (size_t k = program_.inner_axes.size(); k-- > 0;) {
    const int axis = program_.inner_axes[k];
    if (!nest.has(id, axis) || !(nest.stride(id, axis) == expected)) return false;
    expected = expected * program_.extent(axis);
  }
  return true;
}

/// Everything that an element is computed from has 32 bits and lies along the row; no lane needs to know its place.
bool Writer::fits_lanes() const {
  std::set<int> seen;
  const std::function<bool(int)> fits = [&](int id) {
    const Node& node = program_.node(id);
    if (node.prim == Prim::kConstant) return fits_32(node.type.dtype);
    if (program_.is_row_value(id)) return fits_32(node.type.dtype);
    if (!seen.insert(id).second) return true;
    if (is_view(id) && !is_leaf(id)) return fits(node.operands[0]);
    if (is_leaf(id)) return fits_32(node.type.dtype) && lies_along(id);
    if (!task::is_elementwise(node.prim) || !fits_32(node.type.dtype) || is_whole_division(node)) return false;
    return std::all_of(node.operands.begin(), node.operands.end(), fits);
  };
  for (const Pass& pass : program_.passes) {
    for (const int id : pass.reductions)
      if (is_arg(id) || !fits_32(program_.node(id).type.dtype) || !fits(program_.node(id).operands[0])) return false;
    for (const int id : pass.stores)
      if (!fits(id) || !lies_along(id)) return false;
  }
  return true;
}

/// Everything that differs from column to column has 32 bits, and columns are neighbours in memory.
bool Writer::fits_columns() const {
  if (program_.row_axes.empty()) return false;
  const int lane = program_.row_axes.back();
  const auto beside = [&](int id) { return !program_.nest.has(id, lane) || is_one(program_.nest.stride(id, lane)); };
  const auto& nodes = program_.nest.graph->nodes;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const int id = static_cast<int>(i);
    if (nodes[i].prim == Prim::kConstant || nodes[i].prim == Prim::kSymbol || is_scalar(id)) continue;
    if (!fits_32(nodes[i].type.dtype) || nodes[i].prim == Prim::kIota || is_arg(id) || is_whole_division(nodes[i])) return false;
    if (task::is_reduction(nodes[i].prim) && !has_lane(id)) return false;
    if (is_leaf(id)) {
      const auto access = program_.nest.access.find(id);
      if (!beside(id) || (access != program_.nest.access.end() && access->second.index >= 0)) return false;
    }
  }
  for (const Node& node : nodes)
    if (!fits_32(node.type.dtype))
      for (const Node& user : nodes)
        for (const int operand : user.operands)
          if (&nodes[static_cast<size_t>(operand)] == &node && !is_scalar(static_cast<int>(&user - nodes.data()))) return false;
  const auto& outputs = program_.nest.graph->outputs;
  return std::all_of(outputs.begin(), outputs.end(), [&](int id) { return has_lane(id) && beside(id); });
}

std::string Writer::requirements() const {
  std::vector<std::string> all = narrow_ ? narrow_requirements(*program_.task) : std::vector<std::string>{};
  for (const IntExpr& condition : program_.nest.conditions) all.push_back("\"" + condition.to_string() + "\"");
  return all.empty() ? "" : fmt::format("requires = [{}]\n", fmt::join(all, ", "));
}

std::string Writer::vector_tunable(int64_t best) const {
  if (!lanes_) return "VEC = [1]";
  std::string text = fmt::format("VEC = [{}", best);
  for (const int64_t other : {16, 8, 4, 1})
    if (other != best) text += fmt::format(", {}", other);
  return text + "]";
}

std::string Writer::obstacle() const {
  if (has_taken_symbol(*program_.task)) return "a symbol has a name of OpenCL C";
  for (const Pass& pass : program_.passes)
    for (const int id : pass.reductions)
      if (is_arg(id) && program_.inner_axes.size() != 1) return "an index over several axes";
  return program_.has_scans() ? "a scan" : "";
}

std::string Writer::leaf_tensor(int id) const {
  const auto access = program_.nest.access.find(id);
  if (access == program_.nest.access.end()) return name_of(program_.tensor_of_input(id));
  const std::string tensor = name_of(program_.tensor_of_input(access->second.input));
  return is_zero(access->second.base) ? tensor : fmt::format("{} + {}", tensor, spelled(parenthesised(access->second.base)));
}

std::string Writer::leaf_name(int id) const {
  const auto access = program_.nest.access.find(id);
  return access == program_.nest.access.end() ? name_of(program_.tensor_of_input(id))
                                              : fmt::format("{}_{}", name_of(program_.tensor_of_input(access->second.input)), id);
}

std::string Writer::output_name(int id) const { return name_of(program_.name_of_output(id)); }

/// "at0 * D + at1".
std::string Writer::offset(int id, const std::vector<int>& axes) const {
  std::string text;
  for (const int axis : axes) {
    if (!program_.nest.has(id, axis)) continue;
    const IntExpr stride = program_.nest.stride(id, axis);
    if (is_zero(stride)) continue;
    text += fmt::format("{}at{}", text.empty() ? "" : " + ", axis);
    if (!is_one(stride)) text += " * " + spelled(parenthesised(stride));
  }
  return text;
}

/// Where the body stands along an axis of the row.
std::string Writer::place(int axis) {
  if (program_.inner_axes.size() == 1 && program_.inner_axes[0] == axis) return "j";
  if (std::find(program_.inner_axes.begin(), program_.inner_axes.end(), axis) != program_.inner_axes.end()) decodes_ = true;
  return fmt::format("at{}", axis);
}

/// What an index adds to where `id` is read: "v7 * D"; empty without one.
std::string Writer::picked(int id) {
  const auto access = program_.nest.access.find(id);
  if (access == program_.nest.access.end() || access->second.index < 0) return {};
  const int index = access->second.index;
  const std::string value = program_.is_row_value(index) ? row(index) : element(index);
  return fmt::format("{} * {}", value, spelled(parenthesised(access->second.index_stride)));
}

/// Where an element of a row lies behind the row's pointer.
std::string Writer::at_element(int id) {
  const std::string index = picked(id);
  std::string text;
  if (lies_along(id)) {
    text = "j";
  } else {
    for (const int axis : program_.inner_axes) {
      if (!program_.nest.has(id, axis)) continue;
      const IntExpr stride = program_.nest.stride(id, axis);
      if (is_zero(stride)) continue;
      text += (text.empty() ? "" : " + ") + place(axis);
      if (!is_one(stride)) text += " * " + spelled(parenthesised(stride));
    }
  }
  if (!index.empty()) text += (text.empty() ? "" : " + ") + index;
  return text.empty() ? "0" : text;
}

namespace {
/// One value for all lanes.
std::string as_lanes(DType dtype, const std::string& value) {
  if (dtype == DType::kBool) return fmt::format("((INTS)({} ? 1 : 0) != (INTS)(0))", value);
  return fmt::format("({})({})", value_type(dtype, Way::kLanes), value);
}
}  // namespace

/// A row value as the body that is written takes it.
std::string Writer::operand(int id) {
  const std::string value = row(id);
  return way_ == Way::kItem || has_lane(id) ? value : as_lanes(program_.node(id).type.dtype, value);
}

std::string Writer::element(int id) {
  if (const auto it = element_names_.find(id); it != element_names_.end()) return it->second;
  const Node& node = program_.node(id);
  if (node.prim == Prim::kConstant) return element_names_[id] = constant_text(node, way_);
  if (program_.is_row_value(id)) return element_names_[id] = operand(id);
  if (is_view(id) && !is_leaf(id)) return element_names_[id] = element(node.operands[0]);
  std::string value;
  if (is_leaf(id)) {
    const bool alike = walk_.columns && way_ == Way::kLanes && !has_lane(id);
    value = loaded(node.type.dtype, leaf_name(id) + "_row", at_element(id), alike ? Way::kItem : way_);
    if (alike) value = as_lanes(node.type.dtype, value);
  } else if (node.prim == Prim::kIota) {
    const int axis = *program_.nest.axis_of_dim(id, node.attr<int64_t>("axis"));
    const bool of_row = std::find(program_.row_axes.begin(), program_.row_axes.end(), axis) != program_.row_axes.end();
    value = of_row ? fmt::format("at{}", axis) : place(axis);
  } else {
    std::vector<std::string> operands;
    std::vector<DType> types;
    for (const int operand : node.operands) {
      operands.push_back(element(operand));
      types.push_back(program_.node(operand).type.dtype);
    }
    value = operation_text(node, operands, types, way_);
  }
  const std::string name = fmt::format("v{}", id);
  lines_.push_back(fmt::format("const {} {} = {};", value_type(node.type.dtype, way_), name, value));
  return element_names_[id] = name;
}

std::string Writer::row(int id) {
  if (const auto it = row_names_.find(id); it != row_names_.end()) return it->second;
  const Node& node = program_.node(id);
  const Way way = has_lane(id) ? way_ : Way::kItem;
  if (node.prim == Prim::kConstant) return row_names_[id] = constant_text(node, Way::kItem);
  if (is_view(id) && !is_leaf(id)) return row_names_[id] = way == Way::kLanes ? operand(node.operands[0]) : row(node.operands[0]);
  std::string value;
  if (node.prim == Prim::kSymbol) {
    value = spelled(node.attr<IntExpr>("value").to_cpp());
  } else if (is_leaf(id)) {
    std::string at = offset(id, program_.row_axes);
    if (const std::string index = picked(id); !index.empty()) at += (at.empty() ? "" : " + ") + index;
    const std::string tensor = leaf_tensor(id);
    value = loaded(node.type.dtype, tensor.find(' ') == std::string::npos ? tensor : "(" + tensor + ")", at.empty() ? "0" : at, way);
  } else if (node.prim == Prim::kIota) {
    const auto axis = program_.nest.axis_of_dim(id, node.attr<int64_t>("axis"));
    value = axis ? fmt::format("at{}", *axis) : "0";
  } else {
    HONE_CHECK(!task::is_reduction(node.prim), "a reduction is named by its pass");
    std::vector<std::string> operands;
    std::vector<DType> types;
    for (const int of : node.operands) {
      operands.push_back(way == Way::kLanes ? operand(of) : row(of));
      types.push_back(program_.node(of).type.dtype);
    }
    value = operation_text(node, operands, types, way);
  }
  const std::string name = fmt::format("v{}", id);
  row_lines_.push_back(fmt::format("const {} {} = {};", value_type(node.type.dtype, way), name, value));
  return row_names_[id] = name;
}

std::string Writer::take_row_lines(const std::string& indent) {
  std::string text;
  for (const std::string& line : row_lines_) text += indent + line + "\n";
  row_lines_.clear();
  return text;
}

std::string Writer::row_prologue(const std::string& from, const std::string& indent) {
  std::string text, rest = from;
  std::vector<std::string> lines;
  for (size_t k = program_.row_axes.size(); k-- > 0;) {
    const std::string extent = spelled(parenthesised(program_.extent(program_.row_axes[k])));
    lines.push_back(fmt::format("{}const {} at{} = {}{};\n", indent, index(), program_.row_axes[k], rest, k ? " % " + extent : ""));
    rest += " / " + extent;
  }
  for (auto it = lines.rbegin(); it != lines.rend(); ++it) text += *it;
  const auto pointer = [&](int id, const std::string& name, const std::string& tensor, const char* qualifier) {
    const std::string at = offset(id, program_.row_axes);
    text += fmt::format("{}__global {}{}* {}_row = {}{};\n", indent, qualifier, storage(program_.node(id).type.dtype), name, tensor,
                        at.empty() ? "" : " + " + at);
  };
  for (size_t id = 0; id < program_.nest.graph->nodes.size(); ++id) {
    const int node = static_cast<int>(id);
    if (!is_leaf(node) || program_.is_row_value(node)) continue;
    const bool hidden = program_.node(node).prim == Prim::kInput && program_.nest.of_node[id].empty();
    if (!hidden) pointer(node, leaf_name(node), leaf_tensor(node), "const ");
  }
  for (const Pass& pass : program_.passes)
    for (const int output : pass.stores) pointer(output, output_name(output), output_name(output), "");
  return text;
}

}  // namespace hone::pattern::opencl
