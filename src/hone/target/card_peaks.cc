#include "hone/target/card_peaks.h"

#include <algorithm>

namespace hone::target {
namespace {

/// Multiply-adds a clock and multiprocessor: plain f64 and f32, and dense bf16 and i8 on the matrix units.
/// NVIDIA's white papers of A100, GA102, AD102 and H100 (SXM): 19.5, 989 and 1979 T(FL)OP/s at their clocks, halved. Of TF32 half as many as of bf16.
struct Architecture {
  int major, minor;
  double f64, f32, bf16, i8;
};
constexpr Architecture kArchitectures[] = {
    {8, 0, 64, 64, 1024, 2048},  // f64 with its matrix units
    {8, 6, 1, 128, 512, 1024},
    {8, 9, 1, 128, 512, 1024},
    {9, 0, 128, 128, 2048, 4096},
};

}  // namespace

CpuPeaks card_peaks(const CardInfo& card) {
  CpuPeaks peaks;
  peaks.threads = card.sms;
  for (const Architecture& a : kArchitectures) {
    if (a.major != card.major || a.minor != card.minor) continue;
    const double clocks = static_cast<double>(card.sms) * card.clock_khz * 1e-6;
    peaks.f64 = a.f64 * clocks;
    peaks.f32 = std::max(a.f32, a.bf16 / 6) * clocks;
    peaks.bf16 = a.bf16 * clocks;
    peaks.tf32 = a.bf16 / 2 * clocks;
    peaks.i8 = a.i8 * clocks;
  }
  return peaks;
}

double card_memory_peak(const CardInfo& card) {
  constexpr double kTransfers = 2;  // a clock: double data rate
  return kTransfers * card.memory_clock_khz * 1e-6 * card.memory_bus_bits / 8;
}

}  // namespace hone::target
