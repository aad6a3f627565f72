// The floats of one byte (OFP8): storage only. Values become float when read and round to nearest even when written; what is
// too large becomes the largest number, infinities too; NaN stays NaN, denormals are kept. Whoever includes it defines
// HONE_INLINE. The same text for CPUs and GPUs; no state; nothing fails.
#pragma once
#include <stdint.h>

namespace hone {
namespace detail {

/// 1 sign bit, then the exponent with its bias, then the mantissa; magnitudes from kNotFinite on are no numbers.
struct E4M3 {
  static constexpr uint32_t kMantissa = 3, kBias = 7, kNotFinite = 0x7f, kLargest = 0x43e00000u;  // 448; one NaN, no infinity
};
struct E5M2 {
  static constexpr uint32_t kMantissa = 2, kBias = 15, kNotFinite = 0x7c, kLargest = 0x47600000u;  // 57344; infinity and three NaN
};

/// The formulas below work on one lane (U = uint32_t, F = float) or on a vector of them.
template <class Format, class F, class U>
HONE_INLINE F f8_value(U byte) {
  const U sign = (byte & 0x80u) << 24, magnitude = byte & 0x7fu;
  const U rest = magnitude << (23 - Format::kMantissa);  // exponent and mantissa, where float has them
  // Multiplying by a power of two corrects the exponent's bias and makes denormals normal.
  const F finite = __builtin_bit_cast(F, rest) * __builtin_bit_cast(float, (254 - Format::kBias) << 23);
  return __builtin_bit_cast(F, (magnitude >= Format::kNotFinite ? rest | 0x7f800000u : __builtin_bit_cast(U, finite)) | sign);
}

template <class Format, class F, class U>
HONE_INLINE U f8_bits(F x) {
  constexpr uint32_t kCut = 23 - Format::kMantissa, kRebias = (127 - Format::kBias) << 23;
  const U bits = __builtin_bit_cast(U, x), magnitude = bits & 0x7fffffffu;
  const U finite = magnitude > Format::kLargest ? (magnitude & 0) + Format::kLargest : magnitude;
  // Normal results: round at the last bit that is kept, then move the exponent's bias.
  const U normal = (finite + (((1u << (kCut - 1)) - 1) + ((finite >> kCut) & 1u)) - kRebias) >> kCut;
  // Below: adding what has the least denormal for its last bit leaves the multiple of it in the mantissa.
  constexpr uint32_t kShift = (127 + 24 - Format::kBias - Format::kMantissa) << 23;
  const U denormal = __builtin_bit_cast(U, __builtin_bit_cast(F, finite) + __builtin_bit_cast(float, kShift)) - kShift;
  const U number = finite < kRebias + (1u << 23) ? denormal : normal;
  return (magnitude > 0x7f800000u ? (magnitude & 0) + 0x7fu : number) | (bits >> 24 & 0x80u);
}

}  // namespace detail

/// 1 sign, 4 exponent, 3 mantissa bits.
struct f8e4m3 {
  using Format = detail::E4M3;
  uint8_t bits;
  f8e4m3() = default;
  HONE_INLINE explicit f8e4m3(float x) : bits(static_cast<uint8_t>(detail::f8_bits<Format, float, uint32_t>(x))) {}
  HONE_INLINE operator float() const { return detail::f8_value<Format, float, uint32_t>(bits); }
};

/// 1 sign, 5 exponent, 2 mantissa bits.
struct f8e5m2 {
  using Format = detail::E5M2;
  uint8_t bits;
  f8e5m2() = default;
  HONE_INLINE explicit f8e5m2(float x) : bits(static_cast<uint8_t>(detail::f8_bits<Format, float, uint32_t>(x))) {}
  HONE_INLINE operator float() const { return detail::f8_value<Format, float, uint32_t>(bits); }
};

}  // namespace hone
