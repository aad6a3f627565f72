// GpuWriter: what one element or one row value is computed by.
#include "hone/pattern/gpu_writer.h"

#include <algorithm>

#include <fmt/format.h>

#include "hone/pattern/gpu_text.h"

namespace hone::pattern {

using task::DType;
using task::IntExpr;
using task::Node;
using task::Prim;

/// Where the body stands along an axis that no row fixes.
std::string GpuWriter::place(int axis) {
  if (program_.by_columns) {
    if (axis == program_.inner_axes.back()) return "j";
    if (program_.inner_axes.size() == 2) return "r";
    decodes_ = true;
    return fmt::format("at{}", axis);
  }
  if (segment_.axes.size() == 1 && segment_.axes[0] == axis) return "j";
  if (std::find(segment_.axes.begin(), segment_.axes.end(), axis) != segment_.axes.end()) decodes_ = true;
  return fmt::format("at{}", axis);
}

/// What an index adds to where `id` is read: " + v7 * D"; empty without one.
std::string GpuWriter::picked(int id) {
  const auto access = program_.nest.access.find(id);
  if (access == program_.nest.access.end() || access->second.index < 0) return {};
  const int index = access->second.index;
  return fmt::format(" + {} * {}", program_.is_row_value(index) ? row(index) : element(index), parenthesised(access->second.index_stride));
}

/// One element of a tensor that does not lie along the segment.
std::string GpuWriter::gathered(int id, const std::string& base) {
  std::string at;
  for (const int axis : program_.inner_axes) {
    if (!program_.nest.has(id, axis)) continue;
    const IntExpr stride = program_.nest.stride(id, axis);
    if (is_zero(stride)) continue;
    const std::string term = stride.is_constant() && stride.constant() == 1 ? place(axis) : fmt::format("{} * {}", place(axis),
        parenthesised(stride));
    at += (at.empty() ? "" : " + ") + term;
  }
  at += picked(id);
  if (at.starts_with(" + ")) at = at.substr(3);
  return fmt::format("{}_row[{}]", base, at.empty() ? "0" : at);
}

std::string GpuWriter::element(int id) {
  if (const auto it = element_names_.find(id); it != element_names_.end()) return it->second;
  const Node& node = program_.node(id);
  if (node.prim == Prim::kConstant) return element_names_[id] = constant_text(node, Way::kThread);
  if (program_.is_row_value(id)) return element_names_[id] = row(id);
  if (is_view(id) && !is_leaf(id)) return element_names_[id] = element(node.operands[0]);
  if (program_.is_column_value(id)) {
    if (task::is_reduction(node.prim)) return element_names_[id] = fmt::format("v{}[e]", id);
    if (in_rows_) {
      if (std::find(columns_needed_.begin(), columns_needed_.end(), id) == columns_needed_.end()) columns_needed_.push_back(id);
      return element_names_[id] = fmt::format("c{}[e]", id);
    }
  }
  const bool kept = std::find(kept_.begin(), kept_.end(), id) != kept_.end();
  if (kept && have_.contains(id)) return element_names_[id] = fmt::format("keep{}[u][e]", id);
  const std::string name = fmt::format("v{}", id), value = compute_element(id);
  body_.push_back(fmt::format("const {} {} = {};", thread_type(node.type.dtype), name, value));
  if (kept && program_.depth[static_cast<size_t>(id)] == static_cast<int>(pass_)) {
    body_.push_back(fmt::format("keep{}[u][e] = {};", id, name));
    have_.insert(id);
    // What follows in this pass goes by the value's own name.
  }
  return element_names_[id] = name;
}

std::string GpuWriter::compute_element(int id) {
  const Node& node = program_.node(id);
  if (is_leaf(id)) {
    if (const auto run = in_runs_.find(id); run != in_runs_.end()) return fmt::format("hone::gpu::value({})", run->second);
    if (std::find(across_.begin(), across_.end(), id) != across_.end()) return fmt::format("hone::gpu::value({}_tile.at[a + e * step][d])", leaf_name(id));
    const bool packs = is_linear(id) && (!program_.by_columns || in_rows_);
    if (!packs) return fmt::format("hone::gpu::value({})", gathered(id, leaf_name(id)));
    if (std::find(loads_.begin(), loads_.end(), id) == loads_.end()) loads_.push_back(id);
    return fmt::format("hone::gpu::value({}_v{}[e])", leaf_name(id), by_words_ && !loaded_.contains(id) ? "" : "[u]");
  }
  if (scanned_.contains(id)) return fmt::format("static_cast<{}>(scan{}[u][e])", thread_type(node.type.dtype), id);
  if (node.prim == Prim::kIota) {
    const int axis = *program_.nest.axis_of_dim(id, node.attr<int64_t>("axis"));
    const bool of_row = std::find(program_.row_axes.begin(), program_.row_axes.end(), axis) != program_.row_axes.end();
    return of_row ? fmt::format("at{}", axis) : place(axis);
  }
  if (node.prim == Prim::kDiv && thread_type(node.type.dtype) == "float" && program_.is_row_value(node.operands[1]) && !program_.by_columns) {
    const std::string value = element(node.operands[0]);
    return fmt::format("{} / {}", value, divisor(node.operands[1]));
  }
  std::vector<std::string> operands;
  std::vector<DType> types;
  for (const int operand : node.operands) {
    operands.push_back(element(operand));
    types.push_back(program_.node(operand).type.dtype);
  }
  return thread_text(*program_.nest.graph, node, operands, types);
}

/// The name of row value `id` made ready to divide elements by; a constant is one already.
std::string GpuWriter::divisor(int id) {
  const std::string value = row(id);
  if (!value.starts_with('v')) return value;
  const std::string name = fmt::format("{}_divisor", value);
  if (divisor_ids_.insert(id).second) row_lines_.push_back(fmt::format("const hone::gpu::Divisor {}({});", name, value));
  return name;
}

std::string GpuWriter::row(int id) {
  if (const auto it = row_names_.find(id); it != row_names_.end()) return it->second;
  const Node& node = program_.node(id);
  if (node.prim == Prim::kConstant) return row_names_[id] = constant_text(node, Way::kThread);
  if (is_view(id) && !is_leaf(id)) return row_names_[id] = row(node.operands[0]);
  const std::string type = thread_type(node.type.dtype);
  std::string value;
  if (node.prim == Prim::kSymbol) {
    value = fmt::format("static_cast<{}>({})", type, node.attr<IntExpr>("value").to_cpp());
  } else if (is_leaf(id)) {
    const std::string at = offset(id, program_.row_axes), index = picked(id);
    const std::string all = at.empty() && index.starts_with(" + ") ? index.substr(3) : at + index;
    value = fmt::format("hone::gpu::value(({})[{}])", leaf_tensor(id), all.empty() ? "0" : all);
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
    value = operation_text(node, operands, types, Way::kThread);
  }
  const std::string name = fmt::format("v{}", id);
  row_lines_.push_back(fmt::format("const {} {} = {};", type, name, value));
  return row_names_[id] = name;
}

std::string GpuWriter::one_word(const std::vector<int>& across, const std::string& indent) {
  across_ = across;
  pass_ = 0;
  by_words_ = true;
  loads_.clear();
  const Pass& pass = program_.passes.front();
  const std::string body = body_text(pass, indent + "  ");
  by_words_ = false;
  const auto line = [&](int id, const std::string& name) {
    std::vector<int> others = program_.inner_axes;
    std::erase(others, segment_.axes.front());
    const std::string at = offset(id, others);
    return name + "_row" + (at.empty() ? "" : " + " + at);
  };
  std::string text;
  for (const int id : loads_)
    text += fmt::format("{}const auto {}_v = hone::gpu::word_of<VEC>({}{}, first, step, along_end, whole);\n", indent, leaf_name(id), line(id, leaf_name(id)), picked(id));
  for (const int id : pass.stores)
    text += fmt::format("{}hone::gpu::Pack<{}, VEC> {}_v;\n", indent, storage_type(program_.node(id).type.dtype), store_name(id));
  text += fmt::format("{0}HONE_UNROLL\n{0}for (int e = 0; e < VEC; ++e) {{\n{0}  [[maybe_unused]] const int64_t j = first + e * step;\n{1}{0}}}\n", indent, body);
  for (const int id : pass.stores)
    text += fmt::format("{}hone::gpu::put_word<VEC>({}, first, step, along_end, whole, {}_v);\n", indent, line(id, store_name(id)), store_name(id));
  return text;
}

std::string GpuWriter::take_row_lines(const std::string& indent) {
  std::string text;
  for (const std::string& line : row_lines_) text += indent + line + "\n";
  row_lines_.clear();
  return text;
}

/// The body of a pass for one element; leaves it takes from tiles are in loads_ afterwards.
std::string GpuWriter::body_text(const Pass& pass, const std::string& indent) {
  element_names_.clear();
  body_.clear();
  decodes_ = false;
  for (const int id : pass.reductions) {
    std::string value = element(program_.node(id).operands[0]);
    const DType dtype = program_.node(program_.node(id).operands[0]).type.dtype;
    if (dtype == DType::kBool) value = fmt::format("static_cast<{}>({})", program_.node(id).prim == Prim::kSum
                                                   ? thread_type(program_.node(id).type.dtype) : "int32_t", value);
    const std::string index = is_arg(id) ? ", " + std::string(program_.by_columns ? "r" : "j") : "";
    body_.push_back(fmt::format("t{}{}.take({}{});", id, program_.by_columns ? "[e]" : "", value, index));
  }
  for (const int id : pass.stores) {
    const std::string value = element(id), type = storage_type(program_.node(id).type.dtype);
    if (const auto run = in_runs_.find(id); run != in_runs_.end()) body_.push_back(fmt::format("{} = hone::gpu::stored<{}>({});", run->second, type, value));
    else if (is_linear(id) || is_turned(id)) body_.push_back(fmt::format("{}_v{}[e] = hone::gpu::stored<{}>({});", store_name(id), by_words_ ? "" : "[u]", type,
                                                   value));
    else body_.push_back(fmt::format("{} = hone::gpu::stored<{}>({});", gathered(id, store_name(id)), type, value));
  }
  std::string text;
  if (decodes_) {
    if (!program_.by_columns) {
      text += decode(segment_.axes, "j", indent, true);
    } else {
      text += decode({program_.inner_axes.begin(), program_.inner_axes.end() - 1}, "r", indent, false);
    }
  }
  for (const std::string& line : body_) text += indent + line + "\n";
  return text;
}

}  // namespace hone::pattern
