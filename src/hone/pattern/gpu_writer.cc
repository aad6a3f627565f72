#include "hone/pattern/gpu_writer.h"

#include <algorithm>

#include <fmt/format.h>

#include "hone/pattern/cpp_writer.h"
#include "hone/pattern/gpu_text.h"

namespace hone::pattern {

using task::DType;
using task::IntExpr;
using task::Node;
using task::Prim;

namespace {

/// A segment shorter than this leaves threads without work.
constexpr int64_t kShortSegment = 512;
/// Beyond it a place along the segment does not fit 32 bits.
constexpr int64_t kLongestDecoded = int64_t{1} << 30;

}  // namespace

std::string gpu_parameters_of(const task::Task& task) {
  std::vector<std::string> all;
  for (const auto& input : task.inputs) all.push_back(fmt::format("const {}* __restrict__ {}", storage_type(input.type.dtype), input.name));
  for (const auto& [name, type] : task.outputs) all.push_back(fmt::format("{}* __restrict__ {}", storage_type(type.dtype), name));
  for (const std::string& symbol : symbols_of(task)) all.push_back(fmt::format("int64_t {}", symbol));
  return fmt::format("{}", fmt::join(all, ", "));
}

std::string gpu_names_of(const task::Task& task) {
  std::vector<std::string> all;
  for (const auto& input : task.inputs) all.push_back(input.name);
  for (const auto& [name, type] : task.outputs) all.push_back(name);
  for (const std::string& symbol : symbols_of(task)) all.push_back(symbol);
  return fmt::format("{}", fmt::join(all, ", "));
}

GpuWriter::GpuWriter(const Program& program, Segment segment, bool resident, std::vector<int> kept)
    : program_(program), segment_(std::move(segment)), resident_(resident), kept_(std::move(kept)) {}

bool GpuWriter::linear(const Program& program, int id, const std::vector<int>& axes) {
  const Nest& nest = program.nest;
  if (const auto access = nest.access.find(id); access != nest.access.end() && access->second.index >= 0
      && !program.is_row_value(access->second.index))
    return false;
  IntExpr expected = 1;
  for (size_t k = axes.size(); k-- > 0;) {
    if (!nest.has(id, axes[k]) || !(nest.stride(id, axes[k]) == expected)) return false;
    expected = expected * program.extent(axes[k]);
  }
  return true;
}

int64_t GpuWriter::largest_of(const task::Task& task, const IntExpr& extent) {
  int64_t most = 0;
  for (const auto& workload : task.workloads) most = std::max(most, extent.eval(workload.bindings).value_or(0));
  return most;
}

Segment GpuWriter::choose(const Program& program, const std::vector<int>& axes) {
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
    const bool is_short = largest(program, product(program, now)) < kShortSegment && largest(program, product(program, more)) < kLongestDecoded;
    if (!straight(more) && !is_short) break;
    --first;
  }
  const auto split = axes.begin() + static_cast<std::ptrdiff_t>(first);
  return {{axes.begin(), split}, {split, axes.end()}};
}

bool GpuWriter::breaks_lines(const Program& program, const std::vector<int>& axes) {
  const Segment chosen = choose(program, axes);
  const std::vector<int> all = GpuWriter(program, chosen).tensors();
  return std::any_of(all.begin(), all.end(), [&](int id) {
    return linear(program, id, {chosen.axes.back()}) && !linear(program, id, chosen.axes);
  });
}

std::string GpuWriter::store_name(int id) const {
  return program_.nest.placed.contains(id) ? fmt::format("{}_{}", output_name(id), id) : output_name(id);
}

bool GpuWriter::is_leaf(int id) const { return program_.node(id).prim == Prim::kInput || program_.nest.access.contains(id); }

bool GpuWriter::is_view(int id) const {
  return pattern::is_view(program_.node(id));
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

std::string GpuWriter::leaf_end(int id) const {
  const auto slice = program_.nest.access.find(id);
  const int input = slice == program_.nest.access.end() ? id : slice->second.input;
  IntExpr all = 1;
  for (const IntExpr& extent : program_.node(input).type.dims) all = all * extent;
  return fmt::format("{} + {}", program_.tensor_of_input(input), parenthesised(all));
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

std::set<std::string> GpuWriter::conditions() const {
  std::set<std::string> all;
  for (const IntExpr& condition : program_.nest.conditions) all.insert("\"" + condition.to_string() + "\"");
  const bool narrow = segment_.axes.size() > 1 && std::any_of(segment_.axes.begin(), segment_.axes.end(),
                                                              [&](int axis) { return !program_.extent(axis).is_constant(); });
  if (narrow) all.insert(fmt::format("\"{} < 2147483648\"", length().to_string()));
  return all;
}

std::string GpuWriter::requirements(const std::set<std::string>& conditions) {
  return conditions.empty() ? "" : fmt::format("requires = [{}]\n", fmt::join(conditions, ", "));
}

/// What has to be whole words for every row and piece to begin on a boundary.
std::vector<IntExpr> GpuWriter::steps() const {
  std::vector<IntExpr> all;
  if (resident_ && !program_.by_columns) all.push_back(length());
  for (const int id : tensors()) {
    if (!is_linear(id)) continue;
    if (const auto access = program_.nest.access.find(id); access != program_.nest.access.end()) {
      all.push_back(access->second.base);
      if (access->second.index >= 0) all.push_back(access->second.index_stride);
    }
    if (const auto placed = program_.nest.placed.find(id); placed != program_.nest.placed.end()) all.push_back(placed->second.base);
    for (size_t axis = 0; axis < program_.nest.axes.size(); ++axis) {
      const int a = static_cast<int>(axis);
      const bool along = std::find(segment_.axes.begin(), segment_.axes.end(), a) != segment_.axes.end();
      if (!along && program_.nest.has(id, a)) all.push_back(program_.nest.stride(id, a));
    }
  }
  return all;
}

namespace {
/// "D % VEC == 0 && …", each condition once; "true".
std::string whole_words(const std::vector<IntExpr>& steps) {
  std::vector<std::string> all;
  for (const IntExpr& step : steps) {
    const std::string text = fmt::format("{} % VEC == 0", parenthesised(step));
    if (!is_zero(step) && std::find(all.begin(), all.end(), text) == all.end()) all.push_back(text);
  }
  return all.empty() ? "true" : fmt::format("{}", fmt::join(all, " && "));
}
}  // namespace

std::string GpuWriter::aligned() const { return whole_words(steps()); }

std::string GpuWriter::alignment() {
  footed_ = true;
  std::vector<IntExpr> even = steps(), alike;
  even.push_back(length());
  int first = -1;
  const auto base = [&](int id) {
    const auto access = program_.nest.access.find(id);
    return access == program_.nest.access.end() ? IntExpr(0) : access->second.base;
  };
  for (const int id : tensors()) {
    if (!is_linear(id)) continue;
    if (first < 0) first = id;
    alike.push_back(base(id) - base(first));
    if (const auto access = program_.nest.access.find(id); access != program_.nest.access.end() && access->second.index >= 0)
      alike.push_back(access->second.index_stride);
    for (size_t axis = 0; axis < program_.nest.axes.size(); ++axis) {
      const int a = static_cast<int>(axis);
      const auto stride = [&](int of) { return program_.nest.has(of, a) ? program_.nest.stride(of, a) : IntExpr(0); };
      const auto among = [&](const std::vector<int>& axes) { return std::find(axes.begin(), axes.end(), a) != axes.end(); };
      if (!among(segment_.axes)) alike.push_back(among(segment_.pieces) ? stride(id) : stride(id) - stride(first));
    }
  }
  // Nothing moves as words: element by element, neighbouring threads side by side.
  if (first < 0) return "hone::gpu::Alignment{false, false, 0}";
  const std::string name = is_leaf(first) ? leaf_name(first) : output_name(first);
  const auto access = program_.nest.access.find(first);
  const int input = access == program_.nest.access.end() ? first : access->second.input;
  const std::string tensor = is_leaf(first) ? program_.tensor_of_input(input) : name;
  return fmt::format("hone::gpu::Alignment::of({}, {}, {}_row, {})", whole_words(even), whole_words(alike), name, tensor);
}

std::string GpuWriter::most_lead() const {
  std::vector<std::string> all;
  for (const IntExpr& step : steps()) {
    const std::string text = fmt::format("({}) % VEC == 0", step.to_string());
    if (!is_zero(step) && std::find(all.begin(), all.end(), text) == all.end()) all.push_back(text);
  }
  return all.empty() ? "0" : fmt::format("select({}, 0, 31)", fmt::join(all, " and "));
}

IntExpr GpuWriter::pieces() const { return product(program_, segment_.pieces); }
IntExpr GpuWriter::length() const { return product(program_, segment_.axes); }

int GpuWriter::widest_vector() const {
  int bytes = 1;
  for (const int id : tensors())
    if (is_linear(id)) bytes = std::max(bytes, task::size_of(program_.node(id).type.dtype));
  return std::min(16 / bytes, 8);
}

bool GpuWriter::is_turned(int id) const {
  if (!resident_ || !program_.by_columns || program_.inner_axes.size() != 2 || task::size_of(program_.node(id).type.dtype) > 4) return false;
  const auto along = [&](size_t axis) { return program_.nest.stride(id, program_.inner_axes[axis]); };
  return program_.nest.has(id, program_.inner_axes[0]) && is_one(along(0)) && program_.nest.has(id, program_.inner_axes[1]) && !is_one(along(1)) && !is_zero(along(1));
}

bool GpuWriter::stores_elements() const {
  return std::any_of(program_.passes.begin(), program_.passes.end(), [](const Pass& p) { return !p.stores.empty(); });
}

std::string GpuWriter::accumulator(const Running& result) const {
  if (result.second < 0) return accumulator(result.first);
  return fmt::format("hone::gpu::{}<{}>", result.kind == Running::Kind::kExpSum ? "ExpSum" : "Moments",
                     thread_type(program_.node(result.first).type.dtype));
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
  return program_.has_scans() ? "scans are a pattern of their own" : "";
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

std::string GpuWriter::row_pointers(const std::string& indent) {
  std::string text;
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
    for (const int output : pass.stores) {
      const auto placed = program_.nest.placed.find(output);
      const bool behind = placed != program_.nest.placed.end() && !is_zero(placed->second.base);
      pointer(output, store_name(output), behind ? fmt::format("{} + {}", output_name(output), parenthesised(placed->second.base)) : output_name(output), "");
    }
  for (const int output : program_.column_outputs) pointer(output, output_name(output), output_name(output), "");
  return text;
}

}  // namespace hone::pattern
