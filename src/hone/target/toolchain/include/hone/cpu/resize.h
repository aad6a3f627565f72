// Integers between lanes of different width, for loads and stores of small types. clang finds the
// instructions in __builtin_convertvector by itself; g++ 12 goes lane by lane where lanes grow or
// shrink fourfold, so for it the instructions are named here.
#pragma once
#include "hone/cpu/vector.h"

namespace hone::detail {

/// At least 16 bytes that start with those of x: what the builtins ask for.
template <class R>
HONE_INLINE auto padded(R x) {
  if constexpr (sizeof(R) == 4) {
    return Of<int, 16>{bit_cast<int>(x), 0, 0, 0};
  } else if constexpr (sizeof(R) == 8) {
    Of<long long, 16> wide{bit_cast<long long>(x), 0};
#if defined(HONE_AVX512) && !defined(__clang__)
    asm("" : "+x"(wide));  // g++ 12 crashes on merging such a load into a masked extension to 64 bits
#endif
    return wide;
  } else {
    return x;
  }
}

/// Lanes of T, an integer of 8 or 16 bits, as lanes of 32 bits.
template <class T, class R>
HONE_INLINE auto widen_to_32(R x) {
  constexpr int n = sizeof(R) / sizeof(T);
  using To = Of<int, 4 * n>;
#if defined(__AVX2__) && !defined(__clang__)
#if defined(HONE_AVX512)
#define HONE_WIDEN_512(name, from) \
  if constexpr (n == 16) return __builtin_ia32_##name##512_mask(bit_cast<from>(p), To{}, 0xffff);
#else
#define HONE_WIDEN_512(name, from)
#endif
#define HONE_WIDEN(name, from)                                                     \
  HONE_WIDEN_512(name, from)                                                       \
  if constexpr (n == 8) return __builtin_ia32_##name##256(bit_cast<from>(p));      \
  if constexpr (n == 4) return __builtin_ia32_##name##128(bit_cast<from>(p));
  const auto p = padded(x);
  using Bytes16 = Of<char, 16>;
  using Shorts = Of<short, sizeof(p)>;
  if constexpr (n <= 16 && n >= 4) {
    if constexpr (Same<T, int8_t>) { HONE_WIDEN(pmovsxbd, Bytes16) }
    else if constexpr (Same<T, uint8_t>) { HONE_WIDEN(pmovzxbd, Bytes16) }
    else if constexpr (Same<T, int16_t>) { HONE_WIDEN(pmovsxwd, Shorts) }
    else if constexpr (Same<T, uint16_t>) { HONE_WIDEN(pmovzxwd, Shorts) }
  } else {
    return __builtin_convertvector(x, To);
  }
#undef HONE_WIDEN
#undef HONE_WIDEN_512
#else
  return __builtin_convertvector(x, To);
#endif
}

/// Lanes of 32 bits, signed, as lanes of 64.
template <class R>
HONE_INLINE i64v widen_to_64(R x) {
#if defined(HONE_AVX512) && !defined(__clang__)
  return bit_cast<i64v>(__builtin_ia32_pmovsxdq512_mask(x, Of<long long, 64>{}, 0xff));
#elif defined(__AVX2__) && !defined(__clang__)
  return bit_cast<i64v>(__builtin_ia32_pmovsxdq256(x));
#else
  return __builtin_convertvector(x, i64v);
#endif
}

/// The low bits of each lane, as lanes of T (8 or 16 bits).
template <class T, class V>
HONE_INLINE auto narrow_to(V v) {
  constexpr int n = width<V>;
  const auto x = __builtin_convertvector(v, detail::Of<int, 4 * n>);
  using To = Of<T, sizeof(T) * n>;
#if defined(HONE_AVX512) && !defined(__clang__)
  if constexpr (sizeof(x) == 64 && sizeof(T) == 2)
    return bit_cast<To>(__builtin_ia32_pmovdw512_mask(x, Of<short, 32>{}, 0xffff));
  else return __builtin_convertvector(x, To);
#elif defined(__AVX2__) && !defined(__clang__)
  if constexpr (sizeof(x) == 32 && sizeof(T) == 2) {
    // Within each half first, which is what shuffles of small lanes can do.
    const auto h = bit_cast<Of<short, 32>>(x);
    const auto low = __builtin_shufflevector(h, h, 0, 2, 4, 6, 0, 2, 4, 6, 8, 10, 12, 14, 8, 10, 12, 14);
    const auto q = bit_cast<Of<long long, 32>>(low);
    return bit_cast<To>(__builtin_shufflevector(q, q, 0, 2));
  } else if constexpr (sizeof(x) == 32 && sizeof(T) == 1) {
    const auto b = bit_cast<Of<char, 32>>(x);
    const auto low = __builtin_shufflevector(b, b, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12, 16, 20,
                                             24, 28, 16, 20, 24, 28, 16, 20, 24, 28, 16, 20, 24, 28);
    const auto q = bit_cast<Of<int, 32>>(low);
    return bit_cast<To>(__builtin_shufflevector(q, q, 0, 4));
  } else {
    return __builtin_convertvector(x, To);
  }
#else
  return __builtin_convertvector(x, To);
#endif
}

}  // namespace hone::detail
