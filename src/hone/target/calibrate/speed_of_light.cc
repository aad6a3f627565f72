#include "hone/target/calibrate/speed_of_light.h"

#include <algorithm>

namespace hone::target {
namespace {

double at(double amount, double rate) { return amount > 0 && rate > 0 ? amount / rate : 0; }

}  // namespace

double memory_ns(const task::Cost& cost, const CpuPeaks& peaks) {
  const double both = std::min(cost.bytes_read, cost.bytes_written);
  return at(2 * both, peaks.copy) + at(cost.bytes_read - both, peaks.read) + at(cost.bytes_written - both, peaks.write);
}

double compute_ns(const task::Cost& cost, task::Track track, const CpuPeaks& peaks) {
  const task::Products& n = cost.products;
  return std::max({at(n.f64, peaks.f64), at(n.f32, track == task::Track::kBf16 ? peaks.bf16 : peaks.f32), at(n.bf16, peaks.bf16),
                   at(n.i8, peaks.i8)});
}

std::string_view bound_by(double memory, double compute) { return compute > memory ? "compute" : "memory"; }

}  // namespace hone::target
