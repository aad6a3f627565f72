#include "hone/pattern/gpu_pool.h"

#include <algorithm>

#include <fmt/format.h>

#include "hone/pattern/cpp_writer.h"
#include "hone/pattern/expression.h"
#include "hone/pattern/gpu_factor.h"
#include "hone/pattern/gpu_finish.h"
#include "hone/pattern/gpu_patterns.h"
#include "hone/pattern/gpu_writer.h"
#include "hone/pattern/pool_counts.h"
#include "hone/pattern/template.h"

namespace hone::pattern::gpu {
namespace {

using task::DType;
using task::IntExpr;
using task::Node;
using task::Prim;
using Ints = std::vector<int64_t>;

bool is_pooling(const Node& node) { return node.prim == Prim::kPoolMax || node.prim == Prim::kPoolSum; }

tl::unexpected<Error> no(const char* why) { return fail(ErrorCode::kUnavailable, why); }

/// Windows along one dimension. A dimension that is not pooled has windows of one element.
struct Along {
  IntExpr extent = 1, windows = 1;
  int64_t kernel = 1, stride = 1, dilation = 1, low = 0, high = 0;
  [[nodiscard]] int64_t reach() const { return (kernel - 1) * dilation + 1; }
  /// Windows under way at a time.
  [[nodiscard]] int64_t open() const { return (reach() - 1) / stride + 1; }
  /// Places from the beginning of one window to that of the next, as far as a window has any.
  [[nodiscard]] int64_t step() const { return std::min(stride, reach()); }
  [[nodiscard]] std::string text() const { return fmt::format("{}, {}, {}, {}, {}", kernel, stride, dilation, low, high); }
};

/// One pooling: over the last dimension a march along all others, which are one; over two, images of a march; over three,
/// with a dimension beside.
struct Pooling {
  int node = -1, input = -1;
  bool largest = false;
  DType read = DType::kF32, computed = DType::kF32;
  IntExpr images = 1;
  Along march, beside, across;
};

Result<Pooling> find_pooling(const task::Graph& graph) {
  Pooling found;
  for (size_t id = 0; id < graph.nodes.size(); ++id) {
    if (!is_pooling(graph.nodes[id])) continue;
    if (found.node >= 0) return no("more than one pooling");
    found.node = static_cast<int>(id);
    found.largest = graph.nodes[id].prim == Prim::kPoolMax;
  }
  if (found.node < 0) return no("no pooling");
  const Node& node = graph.node(found.node);
  found.input = node.operands[0];
  if (const Node& cast = graph.node(found.input); cast.prim == Prim::kCast) {
    const DType from = graph.node(cast.operands[0]).type.dtype;
    if (!task::is_float(from) || !task::is_float(cast.type.dtype) || task::size_of(cast.type.dtype) < task::size_of(from))
      return no("what is pooled is converted first");
    found.input = cast.operands[0];
  }
  if (graph.node(found.input).prim != Prim::kInput) return no("what is pooled is computed first");
  found.read = graph.node(found.input).type.dtype;
  found.computed = node.type.dtype;
  if (found.read == DType::kBool) return no("pooling of truth values");
  const task::Dims &dims = graph.node(found.input).type.dims, &result = node.type.dims;
  const size_t pooled = node.attr<Ints>("kernel").size(), lead = dims.size() - pooled;
  if (pooled > 3) return no("pooling of more than three dimensions");
  IntExpr before = 1;
  for (size_t d = 0; d < lead; ++d) before = before * dims[d];
  const auto along = [&](size_t s) {
    return Along{dims[lead + s], result[lead + s], node.attr<Ints>("kernel")[s], node.attr<Ints>("stride")[s],
                 node.attr<Ints>("dilation")[s], node.attr<Ints>("padding_low")[s], node.attr<Ints>("padding_high")[s]};
  };
  found.across = along(pooled - 1);
  if (pooled == 1) found.march.extent = found.march.windows = before;
  else found.march = along(0), found.images = before;
  if (pooled == 3) found.beside = along(1);
  return found;
}

int64_t largest(const task::Task& task, const IntExpr& extent) {
  int64_t most = 1;
  for (const auto& workload : task.workloads) most = std::max(most, extent.eval(workload.bindings).value_or(0));
  return most;
}

/// What a kernel is run with unless somebody knows better.
struct Defaults {
  int64_t across, down, vec, words, march, ahead, hold;
};

/// Elements of a line that a thread holds at most.
constexpr int64_t kHeldAcross = 16;
/// Planes that two segments share are read twice: so much of a march they may be, if there are threads enough.
constexpr double kMostShared = 0.05;
constexpr int64_t kLongestMarch = 64;
/// Four times what a large device holds.
constexpr int64_t kManyThreads = 1 << 20;
/// Words that a thread has on their way while it works on others.
constexpr int64_t kMostAhead = 8;
constexpr int64_t kSharedBytes = 49152;

/// Bytes of shared memory for an element across.
int64_t element_bytes(const Pooling& p) { return p.computed == DType::kF64 || p.computed == DType::kI64 ? 8 : 4; }
/// Elements of a line in shared memory beside the columns.
int64_t borders_of(const Pooling& p) { return (p.across.low + 15) / 16 * 16 + p.across.high + 16; }

Defaults defaults_of(const task::Task& task, const Pooling& p) {
  Defaults d{};
  d.vec = std::min<int64_t>(16 / static_cast<int64_t>(task::size_of(p.read)), 8);
  const int64_t words = (largest(task, p.across.extent) + d.vec - 1) / d.vec;
  const bool flat = p.march.kernel == 1 && p.beside.kernel == 1;
  if (p.march.stride >= p.march.reach() && !flat && words > 128) {
    // Windows that share nothing: the whole line, so that a window at its end is not alone in a tile.
    d.across = std::min<int64_t>(power_of_two(words), 512);
    d.words = 1;
  } else {
    d.across = std::clamp<int64_t>(power_of_two(words), 8, 32);
    d.words = std::clamp<int64_t>(power_of_two((words + d.across - 1) / d.across), 1, kHeldAcross / d.vec);
  }
  while (d.across * d.vec * d.words < d.vec + p.across.reach()) d.across *= 2;
  // Where lines beside each other share much, many groups meet in a block.
  const int64_t threads = p.beside.reach() > p.beside.stride ? 512 : 256;
  d.down = std::max<int64_t>(1, threads / d.across);
  while (d.down * d.across % 64 != 0) d.down *= 2;
  const int64_t lines = largest(task, p.images * p.beside.windows) * d.across * ((largest(task, p.across.windows) + 511) / 512);
  const auto threads_of = [&](int64_t m) { return lines * ((largest(task, p.march.windows) + m - 1) / m); };
  const auto shared = [&](int64_t m) {
    return static_cast<double>(p.march.reach() - p.march.stride) / static_cast<double>(m * p.march.stride);
  };
  d.march = flat && threads_of(4) >= kManyThreads ? 4 : 1;
  while (d.march < kLongestMarch && shared(d.march) > kMostShared && threads_of(2 * d.march) >= kManyThreads) d.march *= 2;
  while (d.march < 8 && shared(d.march) > 4 * kMostShared && !flat) d.march *= 2;
  d.ahead = d.march > 1 && p.march.step() * p.beside.kernel * d.words <= kMostAhead ? 1 : 0;
  const bool wide = p.across.stride == 1 && p.across.kernel >= 6 && flat;
  d.hold = wide ? d.vec * d.words - 1 : 1;
  const auto shared_bytes = [&] {
    return 2 * d.down * element_bytes(p) * (d.across * d.vec * d.words + borders_of(p) + p.across.stride * d.hold);
  };
  while (shared_bytes() > kSharedBytes && d.down / 2 * d.across % 64 == 0 && d.down > 1) d.down /= 2;
  return d;
}

std::string names_of(const task::Task& task) {
  std::vector<std::string> all;
  for (const auto& input : task.inputs) all.push_back(input.name);
  for (const auto& [name, type] : task.outputs) all.push_back(name);
  for (const std::string& symbol : symbols_of(task)) all.push_back(symbol);
  return fmt::format("{}", fmt::join(all, ", "));
}

/// What follows the pooling, in the form that finish_text takes.
Result<std::unique_ptr<Contraction>> rest_of(const task::Task& task, const Pooling& p) {
  auto rest = std::make_unique<Contraction>();
  const task::Dims& dims = task.primitive.node(p.node).type.dims;
  rest->column.extent = dims.back();
  HONE_TRY(rest->epilogue, epilogue_of(task, p.node));
  std::vector<size_t> fences;
  if (dims.size() > 1) fences.push_back(dims.size() - 1);
  HONE_TRY(rest->program, find_program(rest->epilogue, {.columns = false, .slices = true, .fences = fences}));
  const Program& program = rest->program;
  std::vector<int> axes = program.row_axes;
  axes.insert(axes.end(), program.inner_axes.begin(), program.inner_axes.end());
  const auto& pooled = program.nest.of_node[0];
  if (axes != pooled) return no("the rest of the computation runs over other axes");
  for (const int output : program.nest.graph->outputs)
    if (program.nest.of_node[static_cast<size_t>(output)] != pooled) return no("an output is not laid out as the pooling's result is");
  return rest;
}

}  // namespace

bool has_pooling(const task::Task& task) {
  return std::any_of(task.primitive.nodes.begin(), task.primitive.nodes.end(), is_pooling);
}

Result<kernel::Kernel> pool(const task::Task& given, kernel::Language language) {
  const task::Task task = with_pool_counts(given);
  HONE_TRY(const Pooling p, find_pooling(task.primitive));
  HONE_TRY(const auto rest, rest_of(task, p));
  HONE_TRY(const std::string finish, finish_text(*rest, gpu_parameters_of(task)));
  const auto& inputs = task.primitive.inputs;
  const std::string x = task.inputs[static_cast<size_t>(std::find(inputs.begin(), inputs.end(), p.input) - inputs.begin())].name;
  const Defaults d = defaults_of(task, p);
  const std::string type = value_type(p.computed, Way::kThread);
  const int64_t need = d.vec * d.words * (p.march.open() + p.beside.kernel * (d.ahead > 0 ? (d.ahead + 1) * p.march.step() : 1));

  Slots slots;
  slots["language"] = kernel::name_of(language);
  slots["note"] = fmt::format("windows on a march: {}, {}", p.largest ? "max" : "sum", finish_outline(*rest));
  slots["requires"] = CppWriter(rest->program, Way::kScalar, {}).requirements();
  slots["tunables"] = fmt::format("ACROSS = [{}], DOWN = [{}], VEC = [{}], WORDS = [{}], MARCH = [{}], AHEAD = [{}], HOLD = [{}]",
                                  choices(d.across, {32, 64, 128, 256}), choices(d.down, {1, 2, 4, 8, 16, 32}),
                                  choices(d.vec, {4, 2, 1}), choices(d.words, {1, 2, 4}),
                                  p.march.kernel == 1 ? choices(d.march, {1, 4, 8}) : choices(d.march, {1, 4, 8, 16, 32, 64}),
                                  choices(d.ahead, {0, 1, 2}), choices(d.hold, {1, 7, 15}));
  slots["reach"] = std::to_string(p.across.reach());
  slots["stride"] = std::to_string(p.across.stride);
  slots["held"] = fmt::format("({} + {} * select(AHEAD > 0, (AHEAD + 1) * {}, 1))", p.march.open(), p.beside.kernel, p.march.step());
  slots["registers"] = std::to_string(std::max<int64_t>(128, need));
  slots["bytes"] = std::to_string(element_bytes(p));
  slots["borders"] = std::to_string(borders_of(p));
  slots["shared"] = std::to_string(kSharedBytes);
  const std::string width = p.across.extent.to_string(), windows = p.across.windows.to_string(), columns = "ACROSS * VEC * WORDS";
  const std::string fit = fmt::format("({} - VEC + 1 - {}) // {} + 1", columns, p.across.reach(), p.across.stride);
  slots["tiles"] = fmt::format("select({0} <= {1} and (HOLD == 1 or {2} <= HOLD * ACROSS), 1, "
                               "ceil_div({2}, min({3}, select(HOLD > 1, HOLD * ACROSS, {1}))))", width, columns, windows, fit);
  slots["units"] = fmt::format("{}ceil_div({}, MARCH) * {}", factor(p.images), p.march.windows.to_string(), in_plan(p.beside.windows));
  slots["args"] = arguments_of(task);
  slots["march"] = p.march.text();
  slots["beside"] = p.beside.text();
  slots["across"] = p.across.text();
  slots["take"] = fmt::format("hone::gpu::{}<{}>", p.largest ? "Max" : "Sum", type);
  slots["finish"] = finish;
  slots["parameters"] = gpu_parameters_of(task);
  const IntExpr extents[] = {p.images, p.march.extent, p.beside.extent, p.across.extent, p.march.windows, p.beside.windows, p.across.windows};
  std::vector<std::string> shape;
  for (const IntExpr& e : extents) shape.push_back(e.to_cpp());
  slots["shape"] = fmt::format("{}", fmt::join(shape, ", "));
  slots["x"] = x;
  slots["names"] = names_of(task);
  return finished(fill_pattern("patterns/gpu/pool.cu", slots), "pool");
}

}  // namespace hone::pattern::gpu
