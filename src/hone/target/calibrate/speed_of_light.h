// The least time this CPU could take for a computation: the memory side from minimal bytes, the compute
// side from minimal multiply-adds, by the measured peaks. Pure.
#pragma once
#include <string_view>

#include "hone/target/calibrate/peaks.h"
#include "hone/task/task.h"

namespace hone::target {

/// Nanoseconds to move the minimal bytes from and to memory: equal parts read and written go at the
/// copy peak, what one has more at its own. 0 when a peak it needs is not known.
[[nodiscard]] double memory_ns(const task::Cost& cost, const CpuPeaks& peaks);

/// Nanoseconds for the minimal multiply-adds, each type at its own peak; f32 operands at that of what the track lets a
/// kernel round them to, bf16 or TF32 (f16 as the latter, but on matrix units as bf16). Types overlap, so the longest counts. 0 without
/// products, or when the peak is not known. Direct products: an algorithm with fewer (Winograd,
/// Strassen, sums pulled out of a product) can be faster.
[[nodiscard]] double compute_ns(const task::Cost& cost, task::Track track, const CpuPeaks& peaks);

/// Said wherever a share of light above 1 is: nobody is faster than it.
inline constexpr const char* kAboveLight = "above 1: the bound was measured in a slower moment, or calls find their data in caches, or it computes less than was counted";

/// "memory" or "compute": the longer side.
[[nodiscard]] std::string_view bound_by(double memory_ns, double compute_ns);

}  // namespace hone::target
