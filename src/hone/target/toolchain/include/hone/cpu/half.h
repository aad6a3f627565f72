// The floating types of two bytes, and by hone/float8.h of one: storage only. Values become float when read and round to nearest even
// when written; NaN stays NaN, too large becomes infinity, denormals are kept.
#pragma once
#include "hone/cpu/resize.h"
#include "hone/float8.h"

namespace hone {

namespace detail {

/// The formulas below work on one lane (U = uint32_t, F = float) or on a vector of them.
template <class F, class U>
HONE_INLINE U bf16_bits(F x) {
  const U bits = bit_cast<U>(x);
  const U rounded = (bits + (0x7fffu + ((bits >> 16) & 1u))) >> 16;
  const U quiet = (bits >> 16) | 0x40u;  // rounding up could carry a NaN into infinity
  return x != x ? quiet : rounded;
}

template <class F, class U>
HONE_INLINE F f16_value(U half) {
  const U sign = (half & 0x8000u) << 16;
  const U rest = (half & 0x7fffu) << 13;  // exponent and mantissa, where float has them
  // Multiplying by 2^112 corrects the exponent's bias and makes denormals normal.
  const F finite = bit_cast<F>(rest) * 0x1p112f;
  const U special = rest | 0x7f800000u;
  return bit_cast<F>((rest >= 0x0f800000u ? special : bit_cast<U>(finite)) | sign);
}

template <class F, class U>
HONE_INLINE U f16_bits(F x) {
  const U bits = bit_cast<U>(x);
  const U rest = bits & 0x7fffffffu;
  // Normal results: round at bit 13, then move the exponent's bias from 127 to 15. What overflows,
  // or was infinite, becomes infinity.
  const U rounded = (rest + (0xfffu + ((rest >> 13) & 1u)) - (112u << 23)) >> 13;
  const U normal = rest >= 0x477ff000u ? (rest & 0) + 0x7c00u : rounded;
  // Results below 2^-14: adding 0.5 leaves the multiple of 2^-24 in the mantissa's last bits.
  const U denormal = bit_cast<U>(bit_cast<F>(rest) + 0.5f) - 0x3f000000u;
  const U number = rest < 0x38800000u ? denormal : normal;
  const U result = rest > 0x7f800000u ? (rest >> 13 & 0x3ffu) | 0x7e00u : number;
  return result | (bits >> 16 & 0x8000u);
}

}  // namespace detail

/// 1 sign, 8 exponent, 7 mantissa bits: the upper half of a float.
struct bf16 {
  uint16_t bits;
  bf16() = default;
  HONE_INLINE explicit bf16(float x)
      : bits(static_cast<uint16_t>(detail::bf16_bits<float, uint32_t>(x))) {}
  HONE_INLINE operator float() const { return bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
};

/// 1 sign, 5 exponent, 10 mantissa bits: IEEE binary16.
struct f16 {
  uint16_t bits;
  f16() = default;
  HONE_INLINE explicit f16(float x)
      : bits(static_cast<uint16_t>(detail::f16_bits<float, uint32_t>(x))) {}
  HONE_INLINE operator float() const {
    return detail::f16_value<float, uint32_t>(static_cast<uint32_t>(bits));
  }
};

/// As many 16-bit values as f32v has lanes.
typedef uint16_t u16h __attribute__((vector_size(HONE_VECTOR_BYTES / 2)));

HONE_INLINE u32v widen_u16(u16h x) { return bit_cast<u32v>(detail::widen_to_32<uint16_t>(x)); }

HONE_INLINE f32v from_bf16(u16h x) { return bit_cast<f32v>(widen_u16(x) << 16); }
HONE_INLINE u16h to_bf16(f32v x) { return detail::narrow_to<uint16_t>(detail::bf16_bits<f32v, u32v>(x)); }

HONE_INLINE f32v from_f16(u16h x) {
#if defined(__F16C__) && defined(__AVX2__)
#if defined(__clang__)
  return __builtin_convertvector(bit_cast<detail::Of<_Float16, HONE_VECTOR_BYTES / 2>>(x), f32v);
#elif defined(HONE_AVX512)
  return __builtin_ia32_vcvtph2ps512_mask(bit_cast<detail::Of<short, 32>>(x), f32v{}, 0xffff, 4);
#else
  return __builtin_ia32_vcvtph2ps256(bit_cast<detail::Of<short, 16>>(x));
#endif
#else
  return detail::f16_value<f32v, u32v>(widen_u16(x));
#endif
}
HONE_INLINE u16h to_f16(f32v x) {
#if defined(__F16C__) && defined(__AVX2__)
#if defined(__clang__)
  return bit_cast<u16h>(__builtin_convertvector(x, detail::Of<_Float16, HONE_VECTOR_BYTES / 2>));
#elif defined(HONE_AVX512)
  return bit_cast<u16h>(__builtin_ia32_vcvtps2ph512_mask(x, 0, detail::Of<short, 32>{}, 0xffff));
#else
  return bit_cast<u16h>(__builtin_ia32_vcvtps2ph256(x, 0));
#endif
#else
  return detail::narrow_to<uint16_t>(detail::f16_bits<f32v, u32v>(x));
#endif
}

/// As many bytes as f32v has lanes.
typedef uint8_t u8q __attribute__((vector_size(HONE_VECTOR_BYTES / 4)));

template <class T>
HONE_INLINE f32v from_f8(u8q x) { return detail::f8_value<typename T::Format, f32v, u32v>(bit_cast<u32v>(detail::widen_to_32<uint8_t>(x))); }
template <class T>
HONE_INLINE u8q to_f8(f32v x) { return detail::narrow_to<uint8_t>(detail::f8_bits<typename T::Format, f32v, u32v>(x)); }

}  // namespace hone
