// Matrix units on the emulator: what a warp's lanes hold is brought together in lane 0's memory, out of sight of the
// checks, as registers are no memory. At least as inaccurate as the hardware: see runtime/matrix.h.
#pragma once

namespace hone::simt {

enum class MatrixFactors : int { kTf32, kBf16, kF16 };

struct MatrixFragments {
  uint32_t a[4], b[2];
};

}  // namespace hone::simt

HONE_SIMT_CALL void hone_simt_matrix_put(hone::simt::MatrixFragments* all, int lane, const uint32_t* a, uint32_t b0, uint32_t b1);
HONE_SIMT_CALL void hone_simt_matrix_multiply(float* c, const hone::simt::MatrixFragments* all, int lane, int factors);

namespace hone::simt {

/// c += a * b on 16 x 8 with fragments as mma.sync has them: m16n8k8 of TF32, m16n8k16 of the others.
inline void mma(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1, MatrixFactors factors, int line = __builtin_LINE()) {
  MatrixFragments mine[HONE_SIMT_WAVE];  // lane 0's is the warp's
  auto* all = reinterpret_cast<MatrixFragments*>(shuffle(kShuffle, kAllLanes, reinterpret_cast<uint64_t>(mine), 0, HONE_SIMT_WAVE, line));
  hone_simt_matrix_put(all, hone_simt_lane(), a, b0, b1);
  hone_simt_collective(kSync, kAllLanes, 0, 0, 1, line);
  hone_simt_matrix_multiply(c, all, hone_simt_lane(), static_cast<int>(factors));
  hone_simt_collective(kSync, kAllLanes, 0, 0, 1, line);
}

}  // namespace hone::simt
