// AMD's matrix cores: a wave of 64 multiplies by MFMA (gfx90a, gfx942, gfx950). c += a * b on s x s, s = 16 or 32, with e
// neighbours of the depth in a lane; the names say s x s x depth, depth = e * 64 / s. With g = lane / s and l = lane % s:
//   a  row l, depths e g to e g + e - 1, packed, the first in the low bits;  b  the same depths of column l
//   c[i]  column l;  s = 16: row 4 g + i;  s = 32: row 8 (i / 4) + 4 g + i % 4
// On hardware the lanes that a branch leaves out take part all the same, with whatever their registers hold; on the
// emulator that is a finding. How sums round: simt/runtime/mfma.h.
#pragma once
#include "hone/gpu/prim.h"

namespace hone::prim {

/// Row of c[i], i < s * s / 64, of a product of s = Size rows.
template <int Size>
HONE_DEVICE int mfma_row(int i) {
  static_assert(Size == 16 || Size == 32);
  return Size == 32 ? 8 * (i / 4) + 4 * (lane() / 32) + i % 4 : 4 * (lane() / 16) + i;
}
/// Column of all c[i], which is also the row of a and the column of b that the lane holds.
template <int Size>
HONE_DEVICE int mfma_line() {
  return lane() % Size;
}
/// First of the Each depths that the lane holds.
template <int Size, int Each>
HONE_DEVICE int mfma_depth() {
  return lane() / Size * Each;
}

#if !HONE_EMULATED
namespace amd {
template <class T, int N>
using Vector = T __attribute__((ext_vector_type(N)));
template <class To, class From>
HONE_DEVICE To as(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}
}  // namespace amd
#endif

// One function an instruction: NAME, elements of c, words of a and b, type of c; on the emulator operation, size and
// neighbours in a lane; on hardware the builtin and the types of its factors and sums.
#define HONE_MFMA_ARGUMENTS(HELD, WORDS, C) C (&c)[HELD], const uint32_t (&a)[WORDS], const uint32_t (&b)[WORDS]
#if HONE_EMULATED
#define HONE_MFMA(NAME, HELD, WORDS, C, OP, SIZE, EACH, BUILTIN, FACTOR)                                         \
  HONE_DEVICE void NAME(HONE_MFMA_ARGUMENTS(HELD, WORDS, C), int line = __builtin_LINE()) {                      \
    hone::simt::mfma(c, a, b, hone::simt::MatrixOp::OP, SIZE, EACH, line);                                       \
  }
#else
#define HONE_MFMA(NAME, HELD, WORDS, C, OP, SIZE, EACH, BUILTIN, FACTOR)                                         \
  HONE_DEVICE void NAME(HONE_MFMA_ARGUMENTS(HELD, WORDS, C)) {                                                   \
    const auto sum = BUILTIN(amd::as<FACTOR>(a), amd::as<FACTOR>(b), amd::as<amd::Vector<C, HELD>>(c), 0, 0, 0); \
    __builtin_memcpy(c, &sum, sizeof c);                                                                         \
  }
#define HONE_MFMA_HALF amd::Vector<_Float16, 4>
#define HONE_MFMA_BF16 amd::Vector<short, 4>
#define HONE_MFMA_TF32 amd::Vector<float, 2>
#endif

HONE_MFMA(mfma_f32_16x16x4, 4, 1, float, kF32, 16, 1, __builtin_amdgcn_mfma_f32_16x16x4f32, float)
HONE_MFMA(mfma_f32_32x32x2, 16, 1, float, kF32, 32, 1, __builtin_amdgcn_mfma_f32_32x32x2f32, float)
HONE_MFMA(mfma_f16_16x16x16, 4, 2, float, kF16, 16, 4, __builtin_amdgcn_mfma_f32_16x16x16f16, HONE_MFMA_HALF)
HONE_MFMA(mfma_f16_32x32x8, 16, 2, float, kF16, 32, 4, __builtin_amdgcn_mfma_f32_32x32x8f16, HONE_MFMA_HALF)
HONE_MFMA(mfma_bf16_16x16x16, 4, 2, float, kBf16, 16, 4, __builtin_amdgcn_mfma_f32_16x16x16bf16_1k, HONE_MFMA_BF16)
HONE_MFMA(mfma_bf16_32x32x8, 16, 2, float, kBf16, 32, 4, __builtin_amdgcn_mfma_f32_32x32x8bf16_1k, HONE_MFMA_BF16)
#if HONE_EMULATED || defined(__gfx942__)
/// Factors are floats of which the matrix cores look at 19 bits. gfx942 only.
HONE_MFMA(mfma_tf32_16x16x8, 4, 2, float, kTf32, 16, 2, __builtin_amdgcn_mfma_f32_16x16x8_xf32, HONE_MFMA_TF32)
HONE_MFMA(mfma_tf32_32x32x4, 16, 2, float, kTf32, 32, 2, __builtin_amdgcn_mfma_f32_32x32x4_xf32, HONE_MFMA_TF32)
#endif
// Signed bytes, exact modulo 2^32. gfx90a has the shallow ones, later processors the deep ones; each stands in for the
// other, as it does not matter which of a group's depths come first as long as both factors agree.
#if HONE_EMULATED || defined(__gfx90a__)
HONE_MFMA(mfma_i8_16x16x16, 4, 1, int32_t, kI8, 16, 4, __builtin_amdgcn_mfma_i32_16x16x16i8, int)
HONE_MFMA(mfma_i8_32x32x8, 16, 1, int32_t, kI8, 32, 4, __builtin_amdgcn_mfma_i32_32x32x8i8, int)
#endif
#if HONE_EMULATED || !defined(__gfx90a__)
HONE_MFMA(mfma_i8_16x16x32, 4, 2, int32_t, kI8, 16, 8, __builtin_amdgcn_mfma_i32_16x16x32_i8, long)
HONE_MFMA(mfma_i8_32x32x16, 16, 2, int32_t, kI8, 32, 8, __builtin_amdgcn_mfma_i32_32x32x16_i8, long)
#endif
#if !HONE_EMULATED && defined(__gfx90a__)
HONE_DEVICE void mfma_i8_16x16x32(int32_t (&c)[4], const uint32_t (&a)[2], const uint32_t (&b)[2]) {
  for (int half = 0; half < 2; ++half) mfma_i8_16x16x16(c, {a[half]}, {b[half]});
}
HONE_DEVICE void mfma_i8_32x32x16(int32_t (&c)[16], const uint32_t (&a)[2], const uint32_t (&b)[2]) {
  for (int half = 0; half < 2; ++half) mfma_i8_32x32x8(c, {a[half]}, {b[half]});
}
#elif !HONE_EMULATED
HONE_DEVICE void mfma_i8_16x16x16(int32_t (&c)[4], const uint32_t (&a)[1], const uint32_t (&b)[1]) {
  mfma_i8_16x16x32(c, {a[0], 0}, {b[0], 0});
}
HONE_DEVICE void mfma_i8_32x32x8(int32_t (&c)[16], const uint32_t (&a)[1], const uint32_t (&b)[1]) {
  mfma_i8_32x32x16(c, {a[0], 0}, {b[0], 0});
}
#endif
#undef HONE_MFMA
#undef HONE_MFMA_ARGUMENTS

}  // namespace hone::prim
