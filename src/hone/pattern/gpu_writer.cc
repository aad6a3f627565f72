#include "hone/pattern/gpu_writer.h"

#include <algorithm>

#include <fmt/format.h>

#include "hone/pattern/cpp_writer.h"

namespace hone::pattern {
namespace {

using task::DType;
using task::IntExpr;
using task::Node;
using task::Prim;

/// A stretch shorter than this leaves threads without work.
constexpr int64_t kShortStretch = 512;
/// Beyond it a place along the stretch does not fit 32 bits.
constexpr int64_t kLongestDecoded = int64_t{1} << 30;

std::string thread_type(DType dtype) { return value_type(dtype, Way::kThread); }

std::string parenthesised(const IntExpr& e) {
  const std::string text = e.to_cpp();
  return text.find_first_of(" ?") == std::string::npos ? text : "(" + text + ")";
}

bool is_zero(const IntExpr& e) { return e.is_constant() && e.constant() == 0; }

IntExpr product(const Program& program, const std::vector<int>& axes) {
  IntExpr all = 1;
  for (const int axis : axes) all = all * program.extent(axis);
  return all;
}

}  // namespace

std::string gpu_parameters_of(const task::Task& task) {
  std::vector<std::string> all;
  for (const auto& input : task.inputs) all.push_back(fmt::format("const {}* __restrict__ {}", storage_type(input.type.dtype), input.name));
  for (const auto& [name, type] : task.outputs) all.push_back(fmt::format("{}* __restrict__ {}", storage_type(type.dtype), name));
  for (const std::string& symbol : symbols_of(task)) all.push_back(fmt::format("int64_t {}", symbol));
  return fmt::format("{}", fmt::join(all, ", "));
}

GpuWriter::GpuWriter(const Program& program, Stretch stretch, bool resident, std::vector<int> kept)
    : program_(program), stretch_(std::move(stretch)), resident_(resident), kept_(std::move(kept)) {}

bool GpuWriter::linear(const Program& program, int id, const std::vector<int>& axes) {
  const Nest& nest = program.nest;
  if (const auto access = nest.access.find(id); access != nest.access.end() && access->second.index >= 0 && !program.is_row_value(access->second.index))
    return false;
  IntExpr expected = 1;
  for (size_t k = axes.size(); k-- > 0;) {
    if (!nest.has(id, axes[k]) || !(nest.stride(id, axes[k]) == expected)) return false;
    expected = expected * program.extent(axes[k]);
  }
  return true;
}

int64_t GpuWriter::largest(const Program& program, const IntExpr& extent) {
  int64_t most = 0;
  for (const auto& workload : program.task->workloads) most = std::max(most, extent.eval(workload.bindings).value_or(0));
  return most;
}

Stretch GpuWriter::choose(const Program& program, const std::vector<int>& axes) {
  const auto& graph = *program.nest.graph;
  size_t first = axes.size() - 1;
  const auto straight = [&](const std::vector<int>& suffix) {
    const auto good = [&](int id) {
      return linear(program, id, suffix) ||
             std::none_of(suffix.begin(), suffix.end(), [&](int axis) { return program.nest.has(id, axis); });
    };
    for (size_t id = 0; id < graph.nodes.size(); ++id) {
      const bool leaf = graph.nodes[id].prim == Prim::kInput || program.nest.access.contains(static_cast<int>(id));
      if (graph.nodes[id].prim == Prim::kIota && !program.is_row_value(static_cast<int>(id))) return false;
      if (leaf && !good(static_cast<int>(id))) return false;
    }
    return std::all_of(graph.outputs.begin(), graph.outputs.end(), good);
  };
  while (first > 0) {
    const std::vector<int> now(axes.begin() + static_cast<std::ptrdiff_t>(first), axes.end());
    const std::vector<int> more(axes.begin() + static_cast<std::ptrdiff_t>(first) - 1, axes.end());
    const bool is_short = largest(program, product(program, now)) < kShortStretch && largest(program, product(program, more)) < kLongestDecoded;
    if (!straight(more) && !is_short) break;
    --first;
  }
  const auto split = axes.begin() + static_cast<std::ptrdiff_t>(first);
  return {{axes.begin(), split}, {split, axes.end()}};
}

std::string GpuWriter::output_name(int id) const {
  const auto& graph = *program_.nest.graph;
  for (size_t i = 0; i < graph.outputs.size(); ++i)
    if (graph.outputs[i] == id) return graph.output_names[i];
  HONE_CHECK(false, "not an output");
  return {};
}

bool GpuWriter::is_leaf(int id) const { return program_.node(id).prim == Prim::kInput || program_.nest.access.contains(id); }

bool GpuWriter::is_view(int id) const {
  const Prim op = program_.node(id).prim;
  return op == Prim::kBroadcast || op == Prim::kReshape || op == Prim::kTranspose;
}

bool GpuWriter::is_arg(int id) const {
  const Prim op = program_.node(id).prim;
  return op == Prim::kArgMax || op == Prim::kArgMin;
}

std::string GpuWriter::leaf_tensor(int id) const {
  const auto slice = program_.nest.access.find(id);
  if (slice == program_.nest.access.end()) return program_.tensor_of_input(id);
  const std::string tensor = program_.tensor_of_input(slice->second.input);
  return is_zero(slice->second.base) ? tensor : tensor + " + " + parenthesised(slice->second.base);
}

std::string GpuWriter::leaf_name(int id) const {
  const auto slice = program_.nest.access.find(id);
  return slice == program_.nest.access.end() ? program_.tensor_of_input(id)
                                             : fmt::format("{}_{}", program_.tensor_of_input(slice->second.input), id);
}

std::vector<int> GpuWriter::tensors() const {
  std::vector<int> all;
  for (const int input : program_.nest.graph->inputs)
    if (!program_.is_row_value(input)) all.push_back(input);
  for (const auto& [slice, access] : program_.nest.access)
    if (!program_.is_row_value(slice)) all.push_back(slice);
  for (const Pass& pass : program_.passes) all.insert(all.end(), pass.stores.begin(), pass.stores.end());
  return all;
}

std::string GpuWriter::requirements() const {
  std::vector<std::string> all;
  for (const IntExpr& condition : program_.nest.conditions) all.push_back("\"" + condition.to_string() + "\"");
  const bool narrow = stretch_.axes.size() > 1 && std::any_of(stretch_.axes.begin(), stretch_.axes.end(), [&](int axis) { return !program_.extent(axis).is_constant(); });
  if (narrow) all.push_back(fmt::format("\"{} < 2147483648\"", length().to_string()));
  return all.empty() ? "" : fmt::format("requires = [{}]\n", fmt::join(all, ", "));
}

std::string GpuWriter::aligned() const {
  std::vector<std::string> all;
  const auto add = [&](const IntExpr& step) {
    if (is_zero(step)) return;
    const std::string text = fmt::format("{} % VEC == 0", parenthesised(step));
    if (std::find(all.begin(), all.end(), text) == all.end()) all.push_back(text);
  };
  if (resident_ && !program_.by_columns) add(length());
  for (const int id : tensors()) {
    if (!is_linear(id)) continue;
    if (const auto access = program_.nest.access.find(id); access != program_.nest.access.end()) {
      add(access->second.base);
      if (access->second.index >= 0) add(access->second.index_stride);
    }
    for (size_t axis = 0; axis < program_.nest.axes.size(); ++axis) {
      const int a = static_cast<int>(axis);
      const bool along = std::find(stretch_.axes.begin(), stretch_.axes.end(), a) != stretch_.axes.end();
      if (!along && program_.nest.has(id, a)) add(program_.nest.stride(id, a));
    }
  }
  return all.empty() ? "true" : fmt::format("{}", fmt::join(all, " && "));
}

IntExpr GpuWriter::pieces() const { return product(program_, stretch_.pieces); }
IntExpr GpuWriter::length() const { return product(program_, stretch_.axes); }

int GpuWriter::widest_vector() const {
  int bytes = 1;
  for (const int id : tensors())
    if (is_linear(id)) bytes = std::max(bytes, task::size_of(program_.node(id).type.dtype));
  return std::min(16 / bytes, 8);
}

bool GpuWriter::stores_elements() const {
  return std::any_of(program_.passes.begin(), program_.passes.end(), [](const Pass& p) { return !p.stores.empty(); });
}

std::string GpuWriter::accumulator(const Running& result) const {
  if (result.second < 0) return accumulator(result.first);
  return fmt::format("hone::gpu::{}<{}>", result.kind == Running::Kind::kExpSum ? "ExpSum" : "Moments", thread_type(program_.node(result.first).type.dtype));
}

std::string GpuWriter::accumulator(int id) const {
  const Node& node = program_.node(id);
  const std::string type = thread_type(program_.node(node.operands[0]).type.dtype);
  switch (node.prim) {
    case Prim::kSum: return fmt::format("hone::gpu::Sum<{}>", thread_type(node.type.dtype));
    case Prim::kProd: return fmt::format("hone::gpu::Prod<{}>", thread_type(node.type.dtype));
    case Prim::kAny: return "hone::gpu::Max<int32_t>";
    case Prim::kAll: return "hone::gpu::Min<int32_t>";
    case Prim::kMax: return fmt::format("hone::gpu::Max<{}>", type == "bool" ? "int32_t" : type);
    case Prim::kMin: return fmt::format("hone::gpu::Min<{}>", type == "bool" ? "int32_t" : type);
    case Prim::kArgMax: return fmt::format("hone::gpu::ArgMax<{}>", type == "bool" ? "int32_t" : type);
    default: return fmt::format("hone::gpu::ArgMin<{}>", type == "bool" ? "int32_t" : type);
  }
}

int GpuWriter::slot_bytes() const {
  int bytes = 4;
  for (const Pass& pass : program_.passes)
    for (const int id : pass.reductions) {
      const std::string type = accumulator(id);
      if (is_arg(id)) bytes = 16;
      else if (type.find("double") != std::string::npos || type.find("int64_t") != std::string::npos) bytes = std::max(bytes, 8);
    }
  return bytes;
}

std::string GpuWriter::obstacle() const {
  const size_t reduced = program_.inner_axes.size() - (program_.by_columns ? 1 : 0);
  for (const Pass& pass : program_.passes)
    for (const int id : pass.reductions)
      if (is_arg(id) && reduced != 1) return "an index over several axes";
  return has_scans() ? "scans are a pattern of their own" : "";
}

bool GpuWriter::has_scans() const {
  const auto& nodes = program_.nest.graph->nodes;
  return std::any_of(nodes.begin(), nodes.end(), [](const Node& node) { return task::is_scan(node.prim); });
}

bool GpuWriter::goes_back() const {
  const auto& nodes = program_.nest.graph->nodes;
  return std::any_of(nodes.begin(), nodes.end(), [](const Node& node) { return task::is_scan(node.prim) && node.attr<bool>("reverse"); });
}

std::string GpuWriter::scan_obstacle() const {
  if (program_.by_columns || program_.inner_axes.size() != 1) return "a scan that does not run along memory";
  for (const Node& node : program_.nest.graph->nodes) {
    if (!task::is_scan(node.prim)) continue;
    if (node.attr<bool>("reverse") != goes_back()) return "scans in both directions";
    if (node.type.dtype == DType::kBool || node.type.dtype == DType::kBF16 || node.type.dtype == DType::kF16) return "a scan of a narrow type";
  }
  return {};
}

/// Scans that a pass needs, in the order to do them.
std::vector<int> GpuWriter::scans_of(const Pass& pass) const {
  std::set<int> seen;
  std::vector<int> work = pass.stores, found;
  for (const int id : pass.reductions) work.push_back(program_.node(id).operands[0]);
  while (!work.empty()) {
    const int id = work.back();
    work.pop_back();
    if (program_.is_row_value(id) || !seen.insert(id).second) continue;
    for (const int operand : program_.node(id).operands) work.push_back(operand);
  }
  for (const int id : seen)
    if (task::is_scan(program_.node(id).prim)) found.push_back(id);
  return found;
}

std::string GpuWriter::scan_type(int id) const {
  const Node& node = program_.node(id);
  const char* op = node.prim == Prim::kCumSum ? "Sum" : node.prim == Prim::kCumProd ? "Prod" : node.prim == Prim::kCumMax ? "Max" : "Min";
  // A product of some neighbours may leave float's range though the product of all so far does not.
  const std::string type = node.prim == Prim::kCumProd && task::is_float(node.type.dtype) ? "double" : thread_type(node.type.dtype);
  return fmt::format("hone::gpu::{}<{}>", op, type);
}

/// What comes before a pass's body: each scan's operand for all elements of the tile, and the scan.
std::string GpuWriter::scan_stages(const Pass& pass, const std::string& indent) {
  std::string text;
  std::vector<int> reads;
  scanned_.clear();
  loads_.clear();
  for (const int id : scans_of(pass)) {
    element_names_.clear();
    body_.clear();
    decodes_ = false;
    const std::string value = element(program_.node(id).operands[0]);
    text += fmt::format("{}auto scan{} = tile.full({}{{}}.value);\n", indent, id, scan_type(id));
    text += fmt::format("{}tile.each([&]([[maybe_unused]] int u, [[maybe_unused]] int e, [[maybe_unused]] int64_t j) {{\n", indent);
    for (const std::string& line : body_) text += indent + "  " + line + "\n";
    text += fmt::format("{0}  scan{1}[u][e] = {2};\n{0}}});\n{0}s{1}.next(scan{1}, totals, turn);\n", indent, id, value);
    scanned_.insert(id);
  }
  return text;
}

/// "at0 * D + at1", by what places are called.
std::string GpuWriter::offset(int node, const std::vector<int>& axes) const {
  std::vector<std::string> terms;
  for (const int axis : axes) {
    if (!program_.nest.has(node, axis)) continue;
    const IntExpr stride = program_.nest.stride(node, axis);
    if (is_zero(stride)) continue;
    const bool one = stride.is_constant() && stride.constant() == 1;
    terms.push_back(one ? fmt::format("at{}", axis) : fmt::format("at{} * {}", axis, parenthesised(stride)));
  }
  return fmt::format("{}", fmt::join(terms, " + "));
}

/// `const int64_t at3 = …;` for each axis from a linear index; narrow: by 32-bit divisions.
std::string GpuWriter::decode(const std::vector<int>& axes, const std::string& from, const std::string& indent, bool narrow) const {
  std::string text, rest = narrow ? fmt::format("static_cast<uint32_t>({})", from) : from;
  for (size_t k = axes.size(); k-- > 0;) {
    std::string extent = parenthesised(program_.extent(axes[k]));
    if (narrow) extent = fmt::format("static_cast<uint32_t>({})", extent);
    if (k == 0) {
      text += fmt::format("{}[[maybe_unused]] const int64_t at{} = {};\n", indent, axes[k], rest);
    } else {
      text += fmt::format("{}[[maybe_unused]] const int64_t at{} = {} % {};\n", indent, axes[k], rest, extent);
      rest = fmt::format("{} / {}", rest, extent);
    }
  }
  return text;
}

std::string GpuWriter::row_prologue(const std::string& from, const std::string& indent) {
  std::string text = decode(program_.row_axes, from, indent, false);
  const auto pointer = [&](int id, const std::string& name, const std::string& tensor, const char* qualifier) {
    const std::string at = offset(id, program_.row_axes);
    text += fmt::format("{}[[maybe_unused]] {}{}* const {}_row = {}{};\n", indent, qualifier, storage_type(program_.node(id).type.dtype), name,
                        tensor, at.empty() ? "" : " + " + at);
  };
  std::vector<int> leaves;
  for (size_t id = 0; id < program_.nest.graph->nodes.size(); ++id)
    if (const int node = static_cast<int>(id); is_leaf(node) && !program_.is_row_value(node)) {
      const bool hidden = program_.node(node).prim == Prim::kInput && program_.nest.of_node[id].empty();
      if (!hidden) pointer(node, leaf_name(node), leaf_tensor(node), "const ");
    }
  for (const Pass& pass : program_.passes)
    for (const int output : pass.stores) pointer(output, output_name(output), output_name(output), "");
  for (const int output : program_.column_outputs) pointer(output, output_name(output), output_name(output), "");
  return text;
}

/// Where the body stands along an axis that no row fixes.
std::string GpuWriter::place(int axis) {
  if (program_.by_columns) {
    if (axis == program_.inner_axes.back()) return "j";
    if (program_.inner_axes.size() == 2) return "r";
    decodes_ = true;
    return fmt::format("at{}", axis);
  }
  if (stretch_.axes.size() == 1 && stretch_.axes[0] == axis) return "j";
  if (std::find(stretch_.axes.begin(), stretch_.axes.end(), axis) != stretch_.axes.end()) decodes_ = true;
  return fmt::format("at{}", axis);
}

/// What an index adds to where `id` is read: " + v7 * D"; empty without one.
std::string GpuWriter::picked(int id) {
  const auto access = program_.nest.access.find(id);
  if (access == program_.nest.access.end() || access->second.index < 0) return {};
  const int index = access->second.index;
  return fmt::format(" + {} * {}", program_.is_row_value(index) ? row(index) : element(index), parenthesised(access->second.index_stride));
}

/// One element of a tensor that does not lie along the stretch.
std::string GpuWriter::gathered(int id, const std::string& base) {
  std::string at;
  for (const int axis : program_.inner_axes) {
    if (!program_.nest.has(id, axis)) continue;
    const IntExpr stride = program_.nest.stride(id, axis);
    if (is_zero(stride)) continue;
    const std::string term = stride.is_constant() && stride.constant() == 1 ? place(axis) : fmt::format("{} * {}", place(axis), parenthesised(stride));
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
  return operation_text(node, operands, types, Way::kThread);
}

/// The name of row value `id` made ready to divide elements by; a constant is one already.
std::string GpuWriter::divisor(int id) {
  const std::string value = row(id);
  if (value.find_first_not_of("0123456789.f-") == std::string::npos) return value;
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
    if (dtype == DType::kBool) value = fmt::format("static_cast<{}>({})", program_.node(id).prim == Prim::kSum ? thread_type(program_.node(id).type.dtype) : "int32_t", value);
    const std::string index = is_arg(id) ? ", " + std::string(program_.by_columns ? "r" : "j") : "";
    body_.push_back(fmt::format("t{}{}.take({}{});", id, program_.by_columns ? "[e]" : "", value, index));
  }
  for (const int id : pass.stores) {
    const std::string value = element(id), type = storage_type(program_.node(id).type.dtype);
    if (is_linear(id)) body_.push_back(fmt::format("{}_v{}[e] = hone::gpu::stored<{}>({});", output_name(id), by_words_ ? "" : "[u]", type, value));
    else body_.push_back(fmt::format("{} = hone::gpu::stored<{}>({});", gathered(id, output_name(id)), type, value));
  }
  std::string text;
  if (decodes_) {
    if (!program_.by_columns) {
      text += decode(stretch_.axes, "j", indent, true);
    } else {
      text += decode({program_.inner_axes.begin(), program_.inner_axes.end() - 1}, "r", indent, false);
    }
  }
  for (const std::string& line : body_) text += indent + line + "\n";
  return text;
}

std::string GpuWriter::row_offset(int id) {
  const std::vector<int> reduced(program_.inner_axes.begin(), program_.inner_axes.end() - 1);
  if (reduced.size() == 1) {
    const IntExpr stride = program_.nest.stride(id, reduced[0]);
    if (!program_.nest.has(id, reduced[0]) || is_zero(stride)) return "[=](int64_t) { return int64_t{0}; }";
    return fmt::format("[=](int64_t r) {{ return r * {}; }}", parenthesised(stride));
  }
  const std::string at = offset(id, reduced);
  return fmt::format("[=](int64_t r) {{\n{}      return {};\n    }}", decode(reduced, "r", "      ", false), at.empty() ? "int64_t{0}" : at);
}

std::string GpuWriter::loads(const std::string& indent) {
  std::string text;
  for (const int id : loads_) {
    if (resident_ && !loaded_.insert(id).second) continue;
    const std::string name = leaf_name(id), index = picked(id);
    if (program_.by_columns) {
      text += fmt::format("{}const auto {}_v = rows.load({}_row{}, {});\n", indent, name, name, index, row_offset(id));
      continue;
    }
    const std::string at = offset(id, stretch_.pieces);
    text += fmt::format("{}const auto {}_v = tile.load({}_row{}{});\n", indent, name, name, at.empty() ? "" : " + " + at, index);
  }
  return text;
}

std::string GpuWriter::rooms(const Pass& pass, const std::string& indent) const {
  std::string text;
  for (const int id : pass.stores)
    if (is_linear(id))
      text += fmt::format("{}auto {}_v = {}.template room<{}>();\n", indent, output_name(id), program_.by_columns ? "rows" : "tile",
                          storage_type(program_.node(id).type.dtype));
  return text;
}

std::string GpuWriter::stores(const Pass& pass, const std::string& indent) {
  std::string text;
  for (const int id : pass.stores) {
    if (!is_linear(id)) continue;
    const std::string name = output_name(id);
    if (program_.by_columns) {
      text += fmt::format("{}rows.store({}_row, {}, {}_v);\n", indent, name, row_offset(id), name);
      continue;
    }
    const std::string at = offset(id, stretch_.pieces);
    text += fmt::format("{}tile.store({}_row{}, {}_v);\n", indent, name, at.empty() ? "" : " + " + at, name);
  }
  return text;
}

/// tile.each(…) with the body of a pass.
std::string GpuWriter::each_text(size_t pass, const std::string& indent) {
  pass_ = pass;
  const std::string body = body_text(program_.passes[pass], indent + "  ");
  return fmt::format("{}tile.each([&]([[maybe_unused]] int u, [[maybe_unused]] int e, [[maybe_unused]] int64_t j) {{\n{}{}}});\n", indent, body, indent);
}

/// The last pass over a tile that holds its row: what only this pass needs comes word by word and takes no room.
std::string GpuWriter::words_text(size_t number, const std::string& indent) {
  const Pass& pass = program_.passes[number];
  pass_ = number;
  by_words_ = true;
  loads_.clear();
  const std::string in = indent + "  ", body = body_text(pass, in + "  ");
  std::string text = fmt::format("{}tile.words([&]([[maybe_unused]] int u) {{\n", indent);
  for (const int id : loads_) {
    if (loaded_.contains(id)) continue;
    const std::string name = leaf_name(id);
    text += fmt::format("{0}hone::gpu::Pack<{1}, VEC> {2}_v;\n{0}tile.load_word({2}_v, {2}_row{3}, u);\n", in, storage_type(program_.node(id).type.dtype), name, picked(id));
  }
  for (const int id : pass.stores)
    if (is_linear(id)) text += fmt::format("{}hone::gpu::Pack<{}, VEC> {}_v;\n", in, storage_type(program_.node(id).type.dtype), output_name(id));
  text += fmt::format("{0}tile.elements_of(u, [&]([[maybe_unused]] int e, [[maybe_unused]] int64_t j) {{\n{1}{0}}});\n", in, body);
  for (const int id : pass.stores)
    if (is_linear(id)) text += fmt::format("{0}tile.store_word({1}_row, u, {1}_v);\n", in, output_name(id));
  by_words_ = false;
  return take_row_lines(indent) + text + indent + "});\n";
}

/// The second pass of a round, with what the first found in this tile standing for what it will find in the row; then
/// both as one running result.
std::string GpuWriter::second_pass(const Round& round, const std::string& count, const std::string& indent, bool merge) {
  std::string text, locals, together;
  for (const Running& result : round.results) {
    if (result.second < 0) continue;
    const std::string type = thread_type(program_.node(result.first).type.dtype);
    const int known = result.kind == Running::Kind::kMoments ? result.mean : result.first;
    const std::string mean = fmt::format("static_cast<{}>({})", type, count);
    text += fmt::format("{}{} t{};\n", indent, accumulator(result.second), result.second);
    locals += result.kind == Running::Kind::kMoments
                  ? fmt::format("{0}  const {1} v{2} = t{3}.value / {4};\n", indent, type, known, result.first, mean)
                  : fmt::format("{}  const {} v{} = t{}.value;\n", indent, type, known, result.first);
    row_names_[known] = fmt::format("v{}", known);
    if (merge) together += fmt::format("{}team.merge(t{});\n", indent, result.second);
    together += fmt::format("{0}{1}{2}{3}::of(t{4}.value, t{5}.value, {6}){7};\n", indent, merge ? "auto " : "", fmt::format("r{}{}", result.first, merge ? " = " : ".merge("),
                            accumulator(result), result.first, result.second, mean, merge ? "" : ")");
  }
  const std::string body = each_text(round.passes[1], indent + "  ");
  text += fmt::format("{0}{{\n{1}{2}{0}}}\n{3}", indent, locals, body, together);
  // Views of what stood in have its name too.
  for (const Running& result : round.results)
    if (result.second >= 0) {
      const std::string name = fmt::format("v{}", result.kind == Running::Kind::kMoments ? result.mean : result.first);
      std::erase_if(row_names_, [&](const auto& known) { return known.second == name; });
    }
  return text;
}

std::string GpuWriter::round_loop(const Round& round, const std::string& first, const std::string& step, const std::string& indent) {
  const Pass& pass = program_.passes[round.passes[0]];
  pass_ = round.passes[0];
  const std::string in = indent + "  ";
  const std::string stages = scan_stages(pass, in);
  std::string inner;
  for (const int id : pass.reductions) inner += fmt::format("{}{} t{};\n", in, accumulator(id), id);
  inner += each_text(pass_, in);
  for (const Running& result : round.results)
    if (result.second < 0) inner += fmt::format("{0}r{1}.merge(t{1});\n", in, result.first);
  if (round.passes.size() > 1) inner += second_pass(round, "tile.count()", in, false);
  const std::string reads = loads(in);
  std::string text = take_row_lines(indent);
  for (const int id : scans_of(pass)) {
    const Node& node = program_.node(id);
    text += fmt::format("{}hone::gpu::Scan<{}, THREADS, ROWS, {}, {}> s{};\n", indent, scan_type(id), node.attr<bool>("reverse"), node.attr<bool>("exclusive"), id);
  }
  for (const Running& result : round.results) text += fmt::format("{}{} r{};\n", indent, accumulator(result), result.first);
  if (has_scans())
    text += fmt::format("{}hone::gpu::ordered_tiles<THREADS, VEC, UNROLL, {}>(aligned, some, {}, thread, [&](const auto tile) {{\n", indent, goes_back(), length().to_cpp());
  else
    text += fmt::format("{}hone::gpu::tiles<THREADS, VEC, UNROLL>(aligned, {}, {}, {}, {}, thread, [&](const auto tile, [[maybe_unused]] int64_t piece) {{\n", indent,
                        pieces().to_cpp(), length().to_cpp(), first, step);
  if (!stretch_.pieces.empty()) text += decode(stretch_.pieces, "piece", in, false);
  text += reads + stages + rooms(pass, in) + inner;
  return text + stores(pass, in) + indent + "});\n";
}

std::string GpuWriter::round_resident(const Round& round, const std::string& indent) {
  const size_t number = round.passes[0];
  const Pass& pass = program_.passes[number];
  const bool together = round.passes.size() > 1;
  if (pass.reductions.empty() && number > 0) return words_text(number, indent);
  loads_.clear();
  std::string inner;
  for (const int id : kept_)
    if (program_.depth[static_cast<size_t>(id)] == static_cast<int>(number))
      inner += fmt::format("{}auto keep{} = tile.template room<{}>();\n", indent, id, thread_type(program_.node(id).type.dtype));
  for (const int id : pass.reductions) inner += fmt::format("{}{} t{};\n", indent, accumulator(id), id);
  inner += each_text(number, indent);
  if (together)
    for (const int id : pass.reductions) inner += fmt::format("{}team.merge(t{});\n", indent, id);
  for (const Running& result : round.results)
    if (result.second < 0) inner += fmt::format("{0}auto r{1} = t{1};\n", indent, result.first);
  if (together) inner += second_pass(round, "tile.left", indent, true);
  const std::string reads = loads(indent);
  return take_row_lines(indent) + reads + rooms(pass, indent) + inner + stores(pass, indent);
}

namespace {
/// Of a running result: "r5.value", "r5.at", "r5.value != 0".
std::string result_of(const std::string& running, bool arg, DType dtype) {
  if (arg) return running + ".at";
  return dtype == DType::kBool ? running + ".value != 0" : running + ".value";
}
}  // namespace

std::string GpuWriter::merged(const Round& round, const std::string& indent, bool merge) {
  std::string text;
  for (const Running& result : round.results) {
    const int id = result.first;
    const DType dtype = program_.node(id).type.dtype;
    if (merge) text += fmt::format("{}team.merge(r{});\n", indent, id);
    text += fmt::format("{}[[maybe_unused]] const {} v{} = {};\n", indent, thread_type(dtype), id, result_of(fmt::format("r{}", id), is_arg(id), dtype));
    row_names_[id] = fmt::format("v{}", id);
    if (result.second < 0) continue;
    text += fmt::format("{}const {} v{} = r{}.second;\n", indent, thread_type(program_.node(result.second).type.dtype), result.second, id);
    row_names_[result.second] = fmt::format("v{}", result.second);
  }
  return text;
}

std::string GpuWriter::pass_columns(size_t number, const std::string& begin, const std::string& end, const std::string& indent) {
  const Pass& pass = program_.passes[number];
  pass_ = number;
  in_rows_ = true;
  loads_.clear();
  columns_needed_.clear();
  const std::string in = indent + "  ";
  const std::string body = body_text(pass, resident_ ? in : in + "  "), reads = loads(resident_ ? indent : in);
  const std::vector<int> needed = columns_needed_;
  in_rows_ = false;
  std::string text = take_row_lines(indent);
  // Column values first, each into its array.
  for (const int id : needed) {
    if (!columns_known_.insert(id).second) continue;
    element_names_.clear();
    body_.clear();
    const std::string value = element(id);
    text += take_row_lines(indent);
    text += fmt::format("{}{} c{}[VEC];\n{}columns.each([&](int e, [[maybe_unused]] int64_t j) {{\n", indent, thread_type(program_.node(id).type.dtype), id, indent);
    for (const std::string& line : body_) text += indent + "  " + line + "\n";
    text += fmt::format("{0}  c{1}[e] = {2};\n{0}}});\n", indent, id, value);
  }
  for (const int id : pass.reductions) text += fmt::format("{}{} r{}[VEC];\n", indent, accumulator(id), id);
  const std::string each = fmt::format("rows.each([&]([[maybe_unused]] int u, [[maybe_unused]] int e, [[maybe_unused]] int64_t r, [[maybe_unused]] int64_t j) {{\n{}", body);
  if (resident_) {
    for (const int id : pass.reductions) text += fmt::format("{0}auto& t{1} = r{1};\n", indent, id);
    return text + reads + rooms(pass, indent) + indent + each + indent + "});\n" + stores(pass, indent);
  }
  text += fmt::format("{}columns.rows({}, {}, [&](const auto rows) {{\n", indent, begin, end);
  text += reads + rooms(pass, in);
  for (const int id : pass.reductions) text += fmt::format("{}{} t{}[VEC];\n", in, accumulator(id), id);
  text += in + each + in + "});\n";
  for (const int id : pass.reductions) text += fmt::format("{}for (int e = 0; e < VEC; ++e) r{}[e].merge(t{}[e]);\n", in, id, id);
  return text + stores(pass, in) + indent + "});\n";
}

std::string GpuWriter::merged_columns(size_t number, const std::string& indent) {
  std::string text;
  for (const int id : program_.passes[number].reductions) {
    const DType dtype = program_.node(id).type.dtype;
    text += fmt::format("{0}hone::gpu::merge_columns(scratch, r{1});\n{0}{2} v{1}[VEC];\n{0}for (int e = 0; e < VEC; ++e) v{1}[e] = {3};\n", indent, id,
                        thread_type(dtype), result_of(fmt::format("r{}[e]", id), is_arg(id), dtype));
  }
  return text;
}

std::string GpuWriter::column_stores(const std::string& indent, const std::string& condition) {
  if (program_.column_outputs.empty()) return {};
  element_names_.clear();
  body_.clear();
  in_rows_ = false;
  for (const int id : program_.column_outputs) {
    const std::string value = element(id);
    body_.push_back(fmt::format("{} = hone::gpu::stored<{}>({});", gathered(id, output_name(id)), storage_type(program_.node(id).type.dtype), value));
  }
  std::string text = take_row_lines(indent);
  text += fmt::format("{}if ({}) {{\n{}  columns.each([&](int e, int64_t j) {{\n", indent, condition, indent);
  for (const std::string& line : body_) text += indent + "    " + line + "\n";
  return text + fmt::format("{0}  }});\n{0}}}\n", indent);
}

std::string GpuWriter::row_stores(const std::string& indent, const std::string& condition) {
  std::vector<std::string> lines;
  for (const int id : program_.row_outputs) {
    const std::string value = row(id), at = offset(id, program_.row_axes);
    lines.push_back(fmt::format("{}[{}] = hone::gpu::stored<{}>({});", output_name(id), at.empty() ? "0" : at, storage_type(program_.node(id).type.dtype), value));
  }
  std::string text = take_row_lines(indent);
  if (lines.empty()) return text;
  text += fmt::format("{}if ({}) {{\n", indent, condition);
  for (const std::string& line : lines) text += indent + "  " + line + "\n";
  return text + indent + "}\n";
}

std::string GpuWriter::outline() const {
  std::vector<std::string> passes;
  for (const Pass& pass : program_.passes) {
    std::vector<std::string> parts;
    for (const int id : pass.reductions) parts.emplace_back(task::name_of(program_.node(id).prim));
    for (const int id : pass.stores) parts.push_back("write " + output_name(id));
    passes.push_back(fmt::format("{}", fmt::join(parts, ", ")));
  }
  return fmt::format("{}", fmt::join(passes, "; "));
}

}  // namespace hone::pattern
