#include "hone/pattern/least_time.h"

#include <algorithm>

namespace hone::pattern {
namespace {

/// Bytes and operations a nanosecond.
constexpr double kMemory = 3000, kProducts32 = 60'000, kProducts16 = 700'000, kOther = 30'000;

}  // namespace

double least_ns(const task::Task& task) {
  const auto graph = task::instantiate(task.primitive, task.workloads.front().bindings);
  if (!graph) return 0;
  const task::Cost cost = task::minimal_cost(*graph);
  const double wide = 2 * (cost.products.f64 + cost.products.f32), narrow = 2 * (cost.products.bf16 + cost.products.i8);
  const double other = std::max(0.0, cost.flops - wide - narrow);
  return std::max({(cost.bytes_read + cost.bytes_written) / kMemory, wide / kProducts32 + narrow / kProducts16, other / kOther});
}

}  // namespace hone::pattern
