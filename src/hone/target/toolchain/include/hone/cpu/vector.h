// Vector types of the widest native width, masks, and the few operations that need no arithmetic.
// f32v, i32v, ... are compiler vectors: + - * / & | ^ << >> and comparisons work on them directly,
// also against a scalar of the lane's type. A comparison gives a mask: an integer vector whose lanes
// are -1 (true) or 0. The functions here and in the other headers take scalars too (masks are then
// bool), so the same expression text serves a vector loop and its scalar remainder.
#pragma once
#include <stdint.h>

#define HONE_RESTRICT __restrict__
#define HONE_INLINE inline __attribute__((always_inline))
#define HONE_PRAGMA(text) _Pragma(#text)
#if defined(__clang__)
#define HONE_UNROLL(n) HONE_PRAGMA(clang loop unroll_count(n))
#else
#define HONE_UNROLL(n) HONE_PRAGMA(GCC unroll n)
#endif

/// The AVX-512 of every server since 2017; less than these four subsets counts as AVX2.
#if defined(__AVX512F__) && defined(__AVX512VL__) && defined(__AVX512BW__) && defined(__AVX512DQ__)
#define HONE_AVX512 1
#define HONE_VECTOR_BYTES 64
#elif defined(__AVX2__)
#define HONE_VECTOR_BYTES 32
#else
#define HONE_VECTOR_BYTES 16
#endif

namespace hone {

/// Elements of T in a native vector.
template <class T>
inline constexpr int lanes = HONE_VECTOR_BYTES / static_cast<int>(sizeof(T));

typedef float f32v __attribute__((vector_size(HONE_VECTOR_BYTES)));
typedef double f64v __attribute__((vector_size(HONE_VECTOR_BYTES)));
typedef int32_t i32v __attribute__((vector_size(HONE_VECTOR_BYTES)));
typedef uint32_t u32v __attribute__((vector_size(HONE_VECTOR_BYTES)));
typedef __typeof__(f64v{} == f64v{}) i64v;  // long or long long lanes: what comparisons give
typedef uint64_t u64v __attribute__((vector_size(HONE_VECTOR_BYTES)));

template <class A, class B>
concept Same = __is_same(A, B);
template <class V>
concept FloatVector = Same<V, f32v> || Same<V, f64v>;
template <class V>
concept Vector = FloatVector<V> || Same<V, i32v> || Same<V, u32v> || Same<V, i64v> || Same<V, u64v>;
template <class T>
concept FloatScalar = Same<T, float> || Same<T, double>;
/// A number in a register: float, double or any integer. Storage types are in hone/cpu/memory.h.
template <class T>
concept Scalar = FloatScalar<T> || (!Vector<T> && requires(T x) { 1 << x; });

namespace detail {
template <class V>
struct Shape {  // of a scalar: one lane, masks are bool
  using Lane = V;
  using Mask = bool;
};
template <Vector V>
struct Shape<V> {
  static constexpr V value{};
  using Lane = __typeof__(value[0] + value[0]);
  using Mask = __typeof__(value == value);
};
}  // namespace detail

template <class V>
using Lane = typename detail::Shape<V>::Lane;
template <class V>
using Mask = typename detail::Shape<V>::Mask;
/// Lanes of a vector type, 1 for a scalar.
template <class V>
inline constexpr int width = static_cast<int>(sizeof(V) / sizeof(Lane<V>));

/// Every lane x.
template <class V>
HONE_INLINE V splat(Lane<V> x) {
  if constexpr (Vector<V>) return x - V{};  // x + 0 would lose the sign of -0
  else return x;
}

/// 0, 1, 2, ...
template <class V>
HONE_INLINE V iota() {
  V result{};
  if constexpr (Vector<V>)
    for (int i = 0; i < width<V>; ++i) result[i] = static_cast<Lane<V>>(i);
  return result;
}

/// The type in which a vector meets a scalar (the vector's) or two scalars meet (C++'s rule).
namespace detail {
template <class A, class B>
struct Wider {
  using Type = decltype(A{} + B{});
};
template <Vector V>
struct Wider<V, V> { using Type = V; };
template <Vector V, Scalar S>
struct Wider<V, S> { using Type = V; };
template <Scalar S, Vector V>
struct Wider<S, V> { using Type = V; };
template <Scalar S>
struct Wider<S, S> { using Type = S; };
}  // namespace detail
template <class A, class B>
using Wider = typename detail::Wider<A, B>::Type;

/// x as a V: a scalar meeting a vector is spread over its lanes.
template <class V, class T>
HONE_INLINE V widen(T x) {
  if constexpr (Same<V, T>) return x;
  else return splat<V>(static_cast<Lane<V>>(x));
}

/// a where the mask is set, else b, lane by lane. Both are evaluated.
template <class A, class B>
HONE_INLINE Wider<A, B> select(Mask<Wider<A, B>> mask, A a, B b) {
  using V = Wider<A, B>;
  return mask ? widen<V>(a) : widen<V>(b);
}

/// The lanes' bits under another type of the same width; no conversion.
template <class To, class From>
HONE_INLINE To bit_cast(From x) { return __builtin_bit_cast(To, x); }

/// Lane by lane conversion between types with as many lanes: f32v to i32v truncates.
template <class To, class From>
HONE_INLINE To convert(From x) {
  if constexpr (Vector<To>) return __builtin_convertvector(x, To);
  else return static_cast<To>(x);
}

/// f applied to each lane: how functions that are rare in kernels reach the C library. Compilers
/// turn it into vector instructions where these exist (sqrt, floor, ...).
template <class V, class F>
HONE_INLINE V map(F f, V x) {
  if constexpr (Vector<V>) {
    V result{};
    HONE_UNROLL(16)
    for (int i = 0; i < width<V>; ++i) result[i] = f(x[i]);
    return result;
  } else {
    return f(x);
  }
}
template <class V, class F>
HONE_INLINE V map(F f, V x, V y) {
  if constexpr (Vector<V>) {
    V result{};
    HONE_UNROLL(16)
    for (int i = 0; i < width<V>; ++i) result[i] = f(x[i], y[i]);
    return result;
  } else {
    return f(x, y);
  }
}

namespace detail {
/// The vector types that the compiler's own builtins are declared with: B bytes of T.
template <class T, int B>
struct Bytes {
  typedef T Type __attribute__((vector_size(B)));
};
template <class T, int B>
using Of = typename Bytes<T, B>::Type;

/// Float lanes are summed and multiplied over many elements in double, whole ones in their own type, where they wrap around.
template <class L>
struct Summing { using Type = L; };
template <>
struct Summing<float> { using Type = double; };
template <unsigned BYTES>
struct UnsignedLane { using Type = uint32_t; };
template <>
struct UnsignedLane<8> { using Type = uint64_t; };
/// a + b and a * b, of numbers or vectors. Whole ones unsigned on the way: a signed overflow is a compiler's licence to do anything.
template <class V>
HONE_INLINE V added(V a, V b) {
  if constexpr (FloatScalar<Lane<V>>) return a + b;
  else if constexpr (Vector<V>) {
    using U = Of<typename UnsignedLane<sizeof(Lane<V>)>::Type, sizeof(V)>;
    return bit_cast<V>(bit_cast<U>(a) + bit_cast<U>(b));
  } else return static_cast<V>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
template <class V>
HONE_INLINE V multiplied(V a, V b) {
  if constexpr (FloatScalar<Lane<V>>) return a * b;
  else if constexpr (Vector<V>) {
    using U = Of<typename UnsignedLane<sizeof(Lane<V>)>::Type, sizeof(V)>;
    return bit_cast<V>(bit_cast<U>(a) * bit_cast<U>(b));
  } else return static_cast<V>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
}  // namespace detail

/// True if any, or every, lane of the mask is set.
HONE_INLINE bool any(bool mask) { return mask; }
HONE_INLINE bool all(bool mask) { return mask; }
template <class M>
  requires Same<M, i32v> || Same<M, i64v>
HONE_INLINE unsigned mask_bits(M mask) {  // bit i: lane i
  constexpr bool k32 = Same<M, i32v>;
#if defined(HONE_AVX512)
  if constexpr (k32) return __builtin_ia32_cvtd2mask512(mask);
  else return __builtin_ia32_cvtq2mask512(bit_cast<detail::Of<long long, 64>>(mask));
#elif defined(__AVX2__)
  if constexpr (k32) return static_cast<unsigned>(__builtin_ia32_movmskps256(bit_cast<f32v>(mask)));
  else return static_cast<unsigned>(__builtin_ia32_movmskpd256(bit_cast<f64v>(mask)));
#elif defined(__SSE2__)
  if constexpr (k32) return static_cast<unsigned>(__builtin_ia32_movmskps(bit_cast<f32v>(mask)));
  else return static_cast<unsigned>(__builtin_ia32_movmskpd(bit_cast<f64v>(mask)));
#else
  unsigned result = 0;
  for (int i = 0; i < width<M>; ++i) result |= static_cast<unsigned>(mask[i] < 0) << i;
  return result;
#endif
}
template <class M>
  requires Same<M, i32v> || Same<M, i64v>
HONE_INLINE bool any(M mask) { return mask_bits(mask) != 0; }
template <class M>
  requires Same<M, i32v> || Same<M, i64v>
HONE_INLINE bool all(M mask) { return mask_bits(mask) == (1u << width<M>) - 1; }

}  // namespace hone
