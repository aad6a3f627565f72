// The inner loops behind draw(): Philox words and what the families make of them, a block of elements
// at a time, compiled once for each instruction set and chosen when first asked for. Every set gives
// the same bits: only operations that IEEE 754 rounds correctly, never contracted into fused ones
// (CMakeLists.txt sets the flags), so that a recorded seed replays anywhere. Pure functions.
#pragma once
#include <cstdint>
#include <vector>

#include "hone/evaluate/verify/inputs.h"

namespace hone::evaluate {

/// Element e of a tensor is element e % kDrawBlock of block e / kDrawBlock. A block is made from
/// kDrawCounters Philox counters; its quarter k takes word k of each.
inline constexpr int64_t kDrawCounters = 256, kDrawBlock = 4 * kDrawCounters;

/// Second halves of the counters: independent words under one key.
enum class DrawStream : uint64_t { kValue, kOther, kRefinement, kTensor, kSlabs };

enum class DrawKind : uint8_t { kReal, kPositive, kUnitInterval, kNearOne, kSign, kTruth, kWhole, kPositiveWhole };

/// What all elements of one tensor are drawn by.
struct Recipe {
  uint64_t key = 0;
  Family family = Family::kNormal;
  DrawKind kind = DrawKind::kReal;
  bool f16 = false;     ///< the type is f16 or has one byte: smaller magnitudes, and denormals of its own
  /// Family::kShifted: the tensor's mean, of either sign. Family::kLarge: the largest magnitude; negative: with round numbers
  /// among them.
  float centre = 0;
};

struct DrawKernels {
  const char* name;
  /// The block's words, as base::philox(key, counter, stream) gives them: word k of its counter i at
  /// words[k * kDrawCounters + i].
  void (*words)(uint64_t key, DrawStream stream, uint64_t block, uint32_t* words);
  /// The block's values: kDrawBlock of them.
  void (*values)(const Recipe& recipe, uint64_t block, float* values);
  /// The block's values with all 53 bits of a double. Whole numbers of the discrete families stay.
  void (*refine)(const Recipe& recipe, uint64_t block, const float* values, double* refined);
  /// Nearest even.
  void (*to_f16)(const float* values, int64_t count, uint16_t* out);
  void (*to_bf16)(const float* values, int64_t count, uint16_t* out);
};
/// The best that this processor runs.
[[nodiscard]] const DrawKernels& draw_kernels();
/// All that it runs, the best last.
[[nodiscard]] const std::vector<const DrawKernels*>& runnable_draw_kernels();

}  // namespace hone::evaluate
