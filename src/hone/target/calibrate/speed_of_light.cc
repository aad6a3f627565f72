#include "hone/target/calibrate/speed_of_light.h"

#include <algorithm>

namespace hone::target {
namespace {

double at(double amount, double rate) { return amount > 0 && rate > 0 ? amount / rate : 0; }

double of_floats(const task::Products& n, task::Track track, const CpuPeaks& peaks) {
  const double tf32 = peaks.tf32 > 0 ? peaks.tf32 : peaks.f32;
  switch (track) {
    case task::Track::kBf16: return at(n.f32, peaks.bf16);
    case task::Track::kF16: return at(n.f32, peaks.tf32 > 0 ? peaks.bf16 : peaks.f32);
    case task::Track::kTf32: return at(n.f32, tf32);
    case task::Track::kAsPytorch: return at(n.f32 - n.convolved_f32, peaks.f32) + at(n.convolved_f32, tf32);
    case task::Track::kStrict: break;
  }
  return at(n.f32, peaks.f32);
}

}  // namespace

double memory_ns(const task::Cost& cost, const CpuPeaks& peaks) {
  const double both = std::min(cost.bytes_read, cost.bytes_written);
  return at(2 * both, peaks.copy) + at(cost.bytes_read - both, peaks.read) + at(cost.bytes_written - both, peaks.write);
}

double compute_ns(const task::Cost& cost, task::Track track, const CpuPeaks& peaks) {
  const task::Products& n = cost.products;
  return std::max({at(n.f64, peaks.f64), of_floats(n, track, peaks), at(n.bf16, peaks.bf16), at(n.i8, peaks.i8)});
}

std::string_view bound_by(double memory, double compute) { return compute > memory ? "compute" : "memory"; }

}  // namespace hone::target
