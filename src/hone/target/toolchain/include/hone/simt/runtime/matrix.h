// NVIDIA's matrix units in numbers. What is known of them (Fasi, Higham, Mikaitis and Pranesh, "Numerical behavior of NVIDIA
// tensor cores", 2021): products are exact; they and the sum so far are aligned to the largest of them, cut (not
// rounded) a bit or more behind its 24th, added, and the sum is cut to 24 bits. Here it is one bit, and four words of
// the depth at a time as on Ampere: the least accurate of the devices meant.
#pragma once
#include "hone/simt/runtime/report.h"

namespace hone::simt {

enum class Factors : int { kTf32, kBf16, kF16 };

struct Fragments {
  uint32_t a[4], b[2];
};

inline double factor_of(uint32_t bits, int half, Factors factors) {
  float v;
  if (factors == Factors::kTf32) {
    bits &= 0xffffe000u;  // the units look no further
    __builtin_memcpy(&v, &bits, 4);
    return static_cast<double>(v);
  }
  const auto half_bits = static_cast<uint16_t>(bits >> (16 * half));
  if (factors == Factors::kBf16) {
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

}  // namespace hone::simt

HONE_SIMT_API void hone_simt_matrix_put(hone::simt::Fragments* all, int lane, const uint32_t* a, uint32_t b0, uint32_t b1) {
  for (int i = 0; i < 4; ++i) all[lane].a[i] = a[i];
  all[lane].b[0] = b0;
  all[lane].b[1] = b1;
}
HONE_SIMT_API void hone_simt_matrix_multiply(float* c, const hone::simt::Fragments* all, int lane, int factors) {
  const auto kind = static_cast<hone::simt::Factors>(factors);
  const int halves = kind == hone::simt::Factors::kTf32 ? 1 : 2;
  for (int i = 0; i < 4; ++i) {
    const int row = lane / 4, column = lane % 4 * 2 + i % 2;
    for (int part = 0; part < 2; ++part) {
      double products[8];
      int count = 0;
      for (int t = 0; t < 4; ++t)
        for (int half = 0; half < halves; ++half)
          products[count++] = hone::simt::factor_of(all[row * 4 + t].a[part * 2 + i / 2], half, kind) *
                              hone::simt::factor_of(all[column * 4 + t].b[part], half, kind);
      c[i] = hone::simt::cut_sum(c[i], products, count);
    }
  }
}
