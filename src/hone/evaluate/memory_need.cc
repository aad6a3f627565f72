#include "hone/evaluate/memory_need.h"

#include <algorithm>

#include <fmt/format.h>

#include "hone/task/task.h"

namespace hone::evaluate {
namespace {

/// An element's answer and scale in fp64, and as much again on the way to them.
constexpr double kOracleBytes = 24;
/// Share of the available memory that an evaluation may want: compilers and opponents need some.
constexpr double kMostOfMemory = 0.8;

double gib(double bytes) { return bytes / static_cast<double>(int64_t{1} << 30); }

}  // namespace

double memory_need(const task::Task& task, std::span<const Playing> plays) {
  double buffers = 0, largest = 0, whole = 0;
  for (const Playing& play : plays) {
    buffers += play.bytes * play.slots;
    largest = std::max(largest, play.bytes);
    const auto graph = task::instantiate(task.primitive, play.workload->bindings);
    if (!graph) continue;
    for (const int output : graph->graph.outputs)
      whole = std::max(whole, kOracleBytes * static_cast<double>(task::element_count(graph->shapes[static_cast<size_t>(output)])));
  }
  return buffers + largest + whole;
}

Status check_memory(const task::Task& task, std::span<const Playing> plays, int64_t available) {
  const double need = memory_need(task, plays);
  if (available < 0 || need <= kMostOfMemory * static_cast<double>(available)) return {};
  return fail(ErrorCode::kExhausted,
              fmt::format("evaluating this task needs about {:.1f} GiB of memory, of which {:.1f} GiB are available (four fifths of it may be used)",
                          gib(need), gib(static_cast<double>(available))),
              "use smaller workloads, or fewer, or a machine with more memory");
}

}  // namespace hone::evaluate
