// Inner loops of drawing: random bits and the few functions that turn them into values, vectorised
// and the same to the last bit on every processor (no fused multiply-add, no C library), so that a
// recorded seed replays anywhere. Pure; thread-safe.
#pragma once
#include <cstdint>

namespace hone::evaluate {

struct DrawLoops {
  /// Two independent uniform numbers in (0, 1) of 53 bits for each counter: base::philox(key, first + i).
  void (*uniforms)(uint64_t key, uint64_t first, int64_t n, double* u, double* v);
  /// y = sqrt(-2 log u) cos(2 pi v): standard normal.
  void (*normals)(int64_t n, const double* u, const double* v, double* y);
  /// y = 2^x; x and y may be the same array.
  void (*exp2)(int64_t n, const double* x, double* y);
};

[[nodiscard]] const DrawLoops& draw_loops();

}  // namespace hone::evaluate
