// What a register tile multiplies and adds: numbers one by one, or neighbours in depth that one instruction
// multiplies and adds up. Neighbours ("a group") fill a word of 32 bits.
#pragma once
#include "hone/cpu/arithmetic.h"
#include "hone/cpu/memory.h"

namespace hone {

/// f32 or f64 (V: f32v, f64v), fused multiply-adds.
template <class V>
struct PlainProducts {
  using Sum = V;
  using Line = V;
  using Element = Lane<V>;
  static constexpr int kGroup = 1;
  static constexpr bool kShifted = false;
  static HONE_INLINE Line line(const Element* at) { return load<V>(at); }
  static HONE_INLINE Line spread(const Element* at) { return splat<V>(*at); }
  static HONE_INLINE Sum add(Sum sum, Line a, Line b) { return sum + a * b; }
};

namespace detail {
template <class T>
HONE_INLINE u32v spread_word(const T* at) {
  uint32_t word;
  __builtin_memcpy(&word, at, 4);
  return splat<u32v>(word);
}
}  // namespace detail

/// Quads of i8, summed in i32 modulo 2^32. The left factor is stored shifted, as a + 128, because the instruction
/// (VNNI) multiplies unsigned by signed bytes; the tile takes 128 times the sum of the right one's column off again.
struct I8Products {
  using Sum = i32v;
  using Line = i32v;
  using Element = int8_t;
  static constexpr int kGroup = 4;
  static constexpr bool kShifted = true;
  static HONE_INLINE Line line(const Element* at) { return load<i32v>(static_cast<const int32_t*>(static_cast<const void*>(at))); }
  static HONE_INLINE Line spread(const Element* at) { return bit_cast<i32v>(detail::spread_word(at)); }
  static HONE_INLINE Sum add(Sum sum, Line a, Line b) {
#if defined(__AVX512VNNI__) && defined(HONE_AVX512)
#if defined(__clang__)
    return __builtin_ia32_vpdpbusd512(sum, a, b);
#else
    return __builtin_ia32_vpdpbusd_v16si(sum, a, b);
#endif
#elif defined(__AVXVNNI__) && defined(__AVX2__) && !defined(HONE_AVX512)
#if defined(__clang__)
    return __builtin_ia32_vpdpbusd256(sum, a, b);
#else
    return __builtin_ia32_vpdpbusd_v8si(sum, a, b);
#endif
#else
    u32v total = bit_cast<u32v>(sum);
    HONE_UNROLL(4)
    for (int byte = 0; byte < 4; ++byte)
      total += bit_cast<u32v>((a >> 8 * byte & 0xff) * (b << (24 - 8 * byte) >> 24));
    return bit_cast<i32v>(total);
#endif
  }
};

}  // namespace hone
