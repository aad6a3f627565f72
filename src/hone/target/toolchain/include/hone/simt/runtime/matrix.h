// NVIDIA's matrix units in numbers. What is known of them (Fasi, Higham, Mikaitis and Pranesh, "Numerical behavior of NVIDIA
// tensor cores", 2021): products are exact; they and the sum so far are aligned to the largest of them, cut (not
// rounded) a bit or more behind its 24th, added, and the sum is cut to 24 bits. Here it is one bit, and four words of
// the depth at a time as on Ampere: the least accurate of the devices meant. Of floats of one byte they keep 13 bits behind the
// first (DeepSeek-V3 Technical Report, arXiv:2412.19437, section 3.3.2). Sums of i8 are exact modulo 2^32.
#pragma once
#include "hone/simt/matrix_call.h"

namespace hone::simt {

inline float float_of(uint32_t word) {
  float v;
  __builtin_memcpy(&v, &word, 4);
  return v;
}
inline uint32_t word_of(float v) {
  uint32_t word;
  __builtin_memcpy(&word, &v, 4);
  return word;
}

/// A float of one byte: a sign, then the exponent with its bias, then the mantissa.
inline double f8_of(uint32_t bits, int mantissa, int bias, uint32_t not_finite) {
  const uint32_t magnitude = bits & 0x7f;
  if (magnitude >= not_finite) return magnitude == 0x7c ? (bits & 0x80 ? -__builtin_inf() : __builtin_inf()) : __builtin_nan("");
  const auto exponent = static_cast<int>(magnitude >> mantissa), rest = static_cast<int>(magnitude & ((1u << mantissa) - 1));
  const double value = __builtin_ldexp(exponent ? rest + (1 << mantissa) : rest, (exponent ? exponent : 1) - bias - mantissa);
  return bits & 0x80 ? -value : value;
}
/// Element `part` of packed words, as a double; kTf32: as far as the units look.
[[gnu::always_inline]] inline double factor_of(const uint32_t* words, int part, MatrixOp op) {
  switch (op) {
    case MatrixOp::kTf32: return static_cast<double>(float_of(words[part] & 0xffffe000u));
    case MatrixOp::kF32: return static_cast<double>(float_of(words[part]));
    case MatrixOp::kE4M3: return f8_of(words[part / 4] >> (8 * (part % 4)) & 0xff, 3, 7, 0x7f);
    case MatrixOp::kE5M2: return f8_of(words[part / 4] >> (8 * (part % 4)) & 0xff, 2, 15, 0x7c);
    case MatrixOp::kBf16: return static_cast<double>(float_of((words[part / 2] >> (16 * (part % 2))) << 16));
    default: {
      const auto bits = static_cast<uint16_t>(words[part / 2] >> (16 * (part % 2)));
      _Float16 h;
      __builtin_memcpy(&h, &bits, 2);
      return static_cast<double>(h);
    }
  }
}
/// The first `count` elements of packed words; the kind is told apart once, so that the compiler may take several at a time.
inline void factors_of(const uint32_t* words, int count, MatrixOp op, double* to) {
  const auto each = [&](auto kind) {
    for (int k = 0; k < count; ++k) to[k] = factor_of(words, k, kind());
  };
  switch (op) {
    case MatrixOp::kBf16: return each([] { return MatrixOp::kBf16; });
    case MatrixOp::kF16: return each([] { return MatrixOp::kF16; });
    case MatrixOp::kTf32: return each([] { return MatrixOp::kTf32; });
    default: return each([op] { return op; });
  }
}
/// Byte `part` of packed words.
inline int32_t byte_of(const uint32_t* words, int part) { return static_cast<int8_t>(words[part / 4] >> (8 * (part % 4))); }

/// The word of a double without its sign: ordered as magnitudes are, NaN last.
inline int64_t magnitude_bits(double value) { return static_cast<int64_t>(__builtin_bit_cast(uint64_t, value) & ~(uint64_t{1} << 63)); }

/// `bits_behind`: so many behind the first one of the largest are kept; of floats of one byte 13, in the sum too.
inline float cut_sum(float c, const double* products, int count, int bits_behind = 24) {
#ifdef __clang__
#pragma clang fp reassociate(on)  // Both sums are the same in any order: the first matters where it is zero, infinite or NaN, the other is of whole numbers.
#endif
  int64_t bits = magnitude_bits(static_cast<double>(c));
  double plain = static_cast<double>(c);
  for (int i = 0; i < count; ++i) {
    const int64_t mine = magnitude_bits(products[i]);
    bits = mine > bits ? mine : bits;
    plain += products[i];
  }
  if (bits == 0 || !__builtin_isfinite(plain)) return static_cast<float>(plain);
  // The largest is in [2^e, 2^(e + 1)): a unit is 2^(e - 24), the word of a double with nothing but an exponent.
  const auto behind = static_cast<uint64_t>(bits_behind), exponent = static_cast<uint64_t>(bits) >> 52;
  const uint64_t of_unit = (exponent - behind) << 52, of_units = (2 * 1023 + behind - exponent) << 52;
  double unit, units;
  __builtin_memcpy(&unit, &of_unit, 8);
  __builtin_memcpy(&units, &of_units, 8);
  double sum = __builtin_trunc(static_cast<double>(c) * units);
  for (int i = 0; i < count; ++i) sum += __builtin_trunc(products[i] * units);
  sum *= unit;
  if (behind < 24) {
    uint64_t of_sum;
    __builtin_memcpy(&of_sum, &sum, 8);
    of_sum = of_sum >> (52 - behind) << (52 - behind);
    __builtin_memcpy(&sum, &of_sum, 8);
  }
  const float nearest = static_cast<float>(sum);
  if (__builtin_fabs(static_cast<double>(nearest)) <= __builtin_fabs(sum)) return nearest;
  return float_of(word_of(nearest) - 1);  // rounding went away from zero: one step back
}

/// One lane's part of the product. `calls`: all 32 lanes', by address.
inline void multiply(MatrixCall& mine, int lane, const uint64_t* calls) {
  const auto of = [&](int other) -> const MatrixCall& { return *reinterpret_cast<const MatrixCall*>(calls[other]); };
  const int in_word = mine.op == MatrixOp::kTf32 ? 1 : mine.op == MatrixOp::kI8 ? 4 : 2;
  for (int i = 0; i < 4; ++i) {
    const int row = lane / 4, column = lane % 4 * 2 + i % 2;
    for (int part = 0; part < 2; ++part) {
      double products[8];
      int count = 0;
      for (int t = 0; t < 4; ++t) {
        const uint32_t* const a = &of(row * 4 + t).a[part * 2 + i / 2];
        const uint32_t* const b = &of(column * 4 + t).b[part];
        for (int k = 0; k < in_word; ++k) {
          if (mine.op == MatrixOp::kI8) mine.c[i] += static_cast<uint32_t>(byte_of(a, k) * byte_of(b, k));
          else products[count++] = factor_of(a, k, mine.op) * factor_of(b, k, mine.op);
        }
      }
      if (count > 0) mine.c[i] = word_of(cut_sum(float_of(mine.c[i]), products, count));
    }
  }
}

/// All 32 lanes' calls, by address, which are of one operation.
inline void operate_warp(const uint64_t* calls) {
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
