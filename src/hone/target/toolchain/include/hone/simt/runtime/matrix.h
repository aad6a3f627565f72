// NVIDIA's matrix units in numbers. What is known of them (Fasi, Higham, Mikaitis and Pranesh, "Numerical behavior of NVIDIA
// tensor cores", 2021): products are exact; they and the sum so far are aligned to the largest of them, cut (not
// rounded) a bit or more behind its 24th, added, and the sum is cut to 24 bits. Here it is one bit, and four words of
// the depth at a time as on Ampere: the least accurate of the devices meant.
#pragma once
#include "hone/simt/matrix_call.h"
#include "hone/simt/runtime/report.h"

namespace hone::simt {

inline double factor_of(uint32_t bits, int half, MatrixOp op) {
  float v;
  if (op == MatrixOp::kTf32) {
    bits &= 0xffffe000u;  // the units look no further
    __builtin_memcpy(&v, &bits, 4);
    return static_cast<double>(v);
  }
  const auto half_bits = static_cast<uint16_t>(bits >> (16 * half));
  if (op == MatrixOp::kBf16) {
    bits = static_cast<uint32_t>(half_bits) << 16;
    __builtin_memcpy(&v, &bits, 4);
    return static_cast<double>(v);
  }
  _Float16 h;
  __builtin_memcpy(&h, &half_bits, 2);
  return static_cast<double>(h);
}

inline float cut_sum(float c, const double* products, int count) {
  double largest = __builtin_fabs(static_cast<double>(c)), plain = static_cast<double>(c);
  for (int i = 0; i < count; ++i) {
    if (__builtin_fabs(products[i]) > largest) largest = __builtin_fabs(products[i]);
    plain += products[i];
  }
  if (!(largest > 0) || !__builtin_isfinite(plain)) return static_cast<float>(plain);
  // largest is in [2^e, 2^(e + 1)): a unit is 2^(e - 24), the word of a double with nothing but an exponent.
  uint64_t bits;
  __builtin_memcpy(&bits, &largest, 8);
  const uint64_t of_unit = ((bits >> 52) - 24) << 52, of_units = (2 * 1023 + 24 - (bits >> 52)) << 52;
  double unit, units;
  __builtin_memcpy(&unit, &of_unit, 8);
  __builtin_memcpy(&units, &of_units, 8);
  double sum = __builtin_trunc(static_cast<double>(c) * units);
  for (int i = 0; i < count; ++i) sum += __builtin_trunc(products[i] * units);
  sum *= unit;
  const float nearest = static_cast<float>(sum);
  if (__builtin_fabs(static_cast<double>(nearest)) <= __builtin_fabs(sum)) return nearest;
  uint32_t word;  // rounding went away from zero: one step back
  __builtin_memcpy(&word, &nearest, 4);
  --word;
  float cut;
  __builtin_memcpy(&cut, &word, 4);
  return cut;
}

/// One lane's part of the product.
inline void multiply(MatrixCall& mine, int lane, const uint64_t* calls) {
  const auto of = [&](int other) -> const MatrixCall& { return *reinterpret_cast<const MatrixCall*>(calls[other]); };
  const int halves = mine.op == MatrixOp::kTf32 ? 1 : 2;
  for (int i = 0; i < 4; ++i) {
    const int row = lane / 4, column = lane % 4 * 2 + i % 2;
    for (int part = 0; part < 2; ++part) {
      double products[8];
      int count = 0;
      for (int t = 0; t < 4; ++t)
        for (int half = 0; half < halves; ++half)
          products[count++] = factor_of(of(row * 4 + t).a[part * 2 + i / 2], half, mine.op) *
                              factor_of(of(column * 4 + t).b[part], half, mine.op);
      mine.c[i] = cut_sum(mine.c[i], products, count);
    }
  }
}

/// All lanes' calls, by address.
inline void operate(const uint64_t* calls) {
  const auto of = [&](int lane) -> MatrixCall& { return *reinterpret_cast<MatrixCall*>(calls[lane]); };
  if (of(0).op != MatrixOp::kRows) {
    for (int lane = 0; lane < 32; ++lane) multiply(of(lane), lane, calls);
    return;
  }
  const void* rows[32];
  for (int lane = 0; lane < 32; ++lane) rows[lane] = of(lane).rows[0];
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 32; ++i) of(lane).rows[i] = rows[i];
}

}  // namespace hone::simt
