// AMD's matrix cores (MFMA) in a wave of 64: where elements lie and how sums round.
//
// With s rows and columns, e neighbours of the depth in a lane (depth e * 64 / s), g = lane / s and l = lane % s:
//   a: row l, depths e g to e g + e - 1;  b: the same depths of column l
//   c[i]: column l, row 8 (i / 4) + 4 g + i % 4 for s = 32, row 4 g + i for s = 16
// (AMD matrix instruction calculator; CDNA 3 instruction set guide, "Matrix arithmetic instructions").
//
// Rounding is nowhere documented by AMD. What is known was found by probing an MI300X (Xie, Wang, Yang and Yang, "MMA-Sim:
// bit-accurate reference model of tensor cores and matrix cores", arXiv 2511.10909): f32 is a chain of fused
// multiply-adds in the order of the depth. Of 16-bit types eight products at a time (TF32: four) are aligned to the
// largest exponent, cut behind 24 bits of fraction and added; that sum, with 31 bits, and c, with 24, are aligned again,
// rounded down, added, and the result is rounded to nearest. So it is here. An MI250X rounds otherwise (four products in
// pairs, to nearest) and takes subnormal numbers of 16 bits for zero, which does not show here. Sums of i8 are exact
// modulo 2^32.
#pragma once
#include "hone/simt/runtime/matrix.h"

namespace hone::simt {

constexpr int kMfmaMost = 32;  ///< rows, columns; the depth is never more

constexpr int kLowestExponent = -126, kLowestOfHalf = -14;  ///< of floats and bf16; of f16
/// floor(log2 |v|), at least the lowest exponent of v's type; of zero, a float's lowest.
inline int exponent_of(double v, int lowest) {
  if (v == 0) return kLowestExponent;
  uint64_t bits;
  __builtin_memcpy(&bits, &v, 8);
  const int e = static_cast<int>(bits >> 52 & 2047) - 1023;
  return e < lowest ? lowest : e;
}
/// 2^e, e within a double's.
inline double power_of_two(int e) {
  const uint64_t bits = static_cast<uint64_t>(e + 1023) << 52;
  double v;
  __builtin_memcpy(&v, &bits, 8);
  return v;
}

/// c + sum of a[k] b[k], k < count (at most 8), as an MI300X adds products of 16-bit and TF32 factors.
/// `lowest`: exponent of the factors' type.
inline float mfma_sum(float c, const double* a, const double* b, int count, int lowest) {
  double plain = static_cast<double>(c);
  int largest = 2 * kLowestExponent;
  for (int k = 0; k < count; ++k) {
    plain += a[k] * b[k];
    const int e = exponent_of(a[k], lowest) + exponent_of(b[k], lowest);
    if (e > largest) largest = e;
  }
  if (!__builtin_isfinite(plain)) return static_cast<float>(plain);
  double sum = 0;
  for (int k = 0; k < count; ++k) sum += __builtin_trunc(a[k] * b[k] * power_of_two(24 - largest));
  sum *= power_of_two(largest - 24);
  const int of_c = exponent_of(static_cast<double>(c), kLowestExponent), common = largest > of_c ? largest : of_c;
  const double high = __builtin_floor(sum * power_of_two(31 - common)) * power_of_two(common - 31);
  const double low = __builtin_floor(static_cast<double>(c) * power_of_two(24 - common)) * power_of_two(common - 24);
  return static_cast<float>(high + low);
}

/// All 64 lanes' calls, by address, which are of one operation, size and depth.
inline void operate_wave(const uint64_t* calls) {
  const auto of = [&](int lane) -> MatrixCall& { return *reinterpret_cast<MatrixCall*>(calls[lane]); };
  const MatrixOp op = of(0).op;
  const int size = of(0).size, each = of(0).each, groups = 64 / size, depth = each * groups;
  const auto row_of = [&](int lane, int i) { return size == 32 ? 8 * (i / 4) + 4 * (lane / 32) + i % 4 : 4 * (lane / 16) + i; };
  const int held = size * size / 64;
  if (op == MatrixOp::kI8) {
    for (int lane = 0; lane < 64; ++lane)
      for (int i = 0; i < held; ++i)
        for (int k = 0; k < depth; ++k)
          of(lane).c[i] += static_cast<uint32_t>(byte_of(of(k / each * size + row_of(lane, i)).a, k % each) *
                                                 byte_of(of(k / each * size + lane % size).b, k % each));
    return;
  }
  static double rows[kMfmaMost][kMfmaMost], columns[kMfmaMost][kMfmaMost];  // one operating-system thread
  for (int lane = 0; lane < 64; ++lane)
    for (int k = 0; k < each; ++k) {
      rows[lane % size][lane / size * each + k] = factor_of(of(lane).a, k, op);
      columns[lane % size][lane / size * each + k] = factor_of(of(lane).b, k, op);
    }
  const int at_once = op == MatrixOp::kTf32 ? 4 : 8, lowest = op == MatrixOp::kF16 ? kLowestOfHalf : kLowestExponent;
  for (int lane = 0; lane < 64; ++lane)
    for (int i = 0; i < held; ++i) {
      const double *a = rows[row_of(lane, i)], *b = columns[lane % size];
      float sum = float_of(of(lane).c[i]);
      if (op == MatrixOp::kF32) {
        for (int k = 0; k < depth; ++k) sum = __builtin_fmaf(static_cast<float>(a[k]), static_cast<float>(b[k]), sum);
      } else {
        for (int k = 0; k < depth; k += at_once) sum = mfma_sum(sum, a + k, b + k, depth - k < at_once ? depth - k : at_once, lowest);
      }
      of(lane).c[i] = word_of(sum);
    }
}

}  // namespace hone::simt
