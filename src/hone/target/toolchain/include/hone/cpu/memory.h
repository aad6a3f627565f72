// Loads, stores, tails, non-temporal stores and prefetch. A vector type V computes on any storage
// type T: load<f32v>(p) takes float*, bf16*, f16*, int8_t*, bool*, ... and store(p, v) converts back
// (float to integer truncates and must be in range; bool is "not zero"). Pointers need T's own
// alignment only, except for stream().
// The _n forms touch exactly the first n elements, 0 <= n <= width<V>: a page behind may be missing.
#pragma once
#include "hone/cpu/half.h"
#include "hone/whole.h"

namespace hone {

namespace detail {

/// What T is made of.
template <class T>
struct StorageOf { using Type = T; };
template <>
struct StorageOf<bool> { using Type = uint8_t; };
template <>
struct StorageOf<bf16> { using Type = uint16_t; };
template <>
struct StorageOf<f16> { using Type = uint16_t; };
template <>
struct StorageOf<f8e4m3> { using Type = uint8_t; };
template <>
struct StorageOf<f8e5m2> { using Type = uint8_t; };
template <class T>
inline constexpr bool kNarrowFloat = Same<T, bf16> || Same<T, f16> || Same<T, f8e4m3> || Same<T, f8e5m2>;
/// width<V> elements of T, as they lie in memory.
template <class V, class T>
using Raw = Of<typename StorageOf<T>::Type, sizeof(T) * width<V>>;

template <class V, class T, class R>
HONE_INLINE V from_raw(R raw) {
  if constexpr (Same<V, R>) {
    return raw;
  } else if constexpr (sizeof(Lane<V>) == 8 && kNarrowFloat<T>) {
    V v{};
    for (int i = 0; i < width<V>; ++i) v[i] = static_cast<Lane<V>>(static_cast<float>(bit_cast<T>(raw[i])));
    return v;
  } else if constexpr (kNarrowFloat<T>) {
    f32v v;
    if constexpr (Same<T, bf16>) v = from_bf16(raw);
    else if constexpr (Same<T, f16>) v = from_f16(raw);
    else v = from_f8<T>(raw);
    if constexpr (Same<V, f32v>) return v;
    else return __builtin_convertvector(v, V);
  } else if constexpr (sizeof(T) < 4) {
    const auto x = widen_to_32<typename StorageOf<T>::Type>(raw);
    if constexpr (sizeof(Lane<V>) == 8 && !FloatVector<V>) return bit_cast<V>(widen_to_64(x));
    else return __builtin_convertvector(x, V);
  } else if constexpr (Same<T, int32_t> && Same<V, i64v>) {
    return widen_to_64(raw);
  } else {
    return __builtin_convertvector(raw, V);
  }
}

template <class V, class T>
HONE_INLINE Raw<V, T> to_raw(V v) {
  using R = Raw<V, T>;
  if constexpr (Same<V, R>) return v;
  else if constexpr (sizeof(Lane<V>) == 8 && kNarrowFloat<T>) {
    R raw{};
    for (int i = 0; i < width<V>; ++i) raw[i] = T(to_odd(static_cast<double>(v[i]))).bits;
    return raw;
  } else if constexpr (!Same<V, f32v> && kNarrowFloat<T>) return to_raw<f32v, T>(__builtin_convertvector(v, f32v));
  else if constexpr (Same<T, bf16>) return to_bf16(v);
  else if constexpr (Same<T, f16>) return to_f16(v);
  else if constexpr (kNarrowFloat<T>) return to_f8<T>(v);
  else if constexpr (Same<T, bool>) return narrow_to<uint8_t>((v != V{}) & 1);
  else if constexpr (sizeof(T) < 4) return narrow_to<T>(v);
  else return __builtin_convertvector(v, R);
}

/// Elements wider than V's lanes (double for f32v): rare, so one by one.
template <class V, class T>
inline constexpr bool kOneByOne = !Vector<V> || sizeof(T) > sizeof(Lane<V>);

/// Builtins of the two compilers want pointers to different types.
struct AnyPointer {
  void* p;
  template <class T>
  HONE_INLINE operator T*() const { return static_cast<T*>(p); }
};

/// The first n elements at p; the others are zero. Masked-out lanes of a masked load cannot fault.
template <class R>
HONE_INLINE R load_raw(const void* p, int n) {
  constexpr int kElement = sizeof(R{}[0]);
  [[maybe_unused]] const AnyPointer at{const_cast<void*>(p)};
#if defined(HONE_AVX512)
  const unsigned mask = (1u << n) - 1;
  if constexpr (sizeof(R) == 64 && kElement == 4)
    return bit_cast<R>(__builtin_ia32_loaddqusi512_mask(at, Of<int, 64>{}, mask));
  else if constexpr (sizeof(R) == 64 && kElement == 8)
    return bit_cast<R>(__builtin_ia32_loaddqudi512_mask(at, Of<long long, 64>{}, mask));
  else if constexpr (sizeof(R) == 32 && kElement == 4)
    return bit_cast<R>(__builtin_ia32_loaddqusi256_mask(at, Of<int, 32>{}, mask));
  else if constexpr (sizeof(R) == 32 && kElement == 2)
    return bit_cast<R>(__builtin_ia32_loaddquhi256_mask(at, Of<short, 32>{}, mask));
  else if constexpr (sizeof(R) == 16 && kElement == 2)
    return bit_cast<R>(__builtin_ia32_loaddquhi128_mask(at, Of<short, 16>{}, mask));
  else if constexpr (sizeof(R) == 16 && kElement == 1)
    return bit_cast<R>(__builtin_ia32_loaddquqi128_mask(at, Of<char, 16>{}, mask));
#elif defined(__AVX2__)
  using Q = Of<long long, 32>;
  if constexpr (sizeof(R) == 32 && kElement == 4)
    return bit_cast<R>(__builtin_ia32_maskloadd256(at, iota<i32v>() < n));
  else if constexpr (sizeof(R) == 32 && kElement == 8)
    return bit_cast<R>(__builtin_ia32_maskloadq256(at, bit_cast<Q>(iota<i64v>() < int64_t{n})));
#endif
  R raw{};
  __builtin_memcpy(&raw, p, static_cast<unsigned>(n * kElement));
  return raw;
}

template <class R>
HONE_INLINE void store_raw(void* p, R raw, int n) {
  constexpr int kElement = sizeof(raw[0]);
  [[maybe_unused]] const AnyPointer at{p};
#if defined(HONE_AVX512)
  const unsigned mask = (1u << n) - 1;
  if constexpr (sizeof(R) == 64 && kElement == 4)
    return __builtin_ia32_storedqusi512_mask(at, bit_cast<Of<int, 64>>(raw), mask);
  else if constexpr (sizeof(R) == 64 && kElement == 8)
    return __builtin_ia32_storedqudi512_mask(at, bit_cast<Of<long long, 64>>(raw), mask);
  else if constexpr (sizeof(R) == 32 && kElement == 4)
    return __builtin_ia32_storedqusi256_mask(at, bit_cast<Of<int, 32>>(raw), mask);
  else if constexpr (sizeof(R) == 32 && kElement == 2)
    return __builtin_ia32_storedquhi256_mask(at, bit_cast<Of<short, 32>>(raw), mask);
  else if constexpr (sizeof(R) == 16 && kElement == 2)
    return __builtin_ia32_storedquhi128_mask(at, bit_cast<Of<short, 16>>(raw), mask);
  else if constexpr (sizeof(R) == 16 && kElement == 1)
    return __builtin_ia32_storedquqi128_mask(at, bit_cast<Of<char, 16>>(raw), mask);
#elif defined(__AVX2__)
  using Q = Of<long long, 32>;
  if constexpr (sizeof(R) == 32 && kElement == 4)
    return __builtin_ia32_maskstored256(at, iota<i32v>() < n, bit_cast<Of<int, 32>>(raw));
  else if constexpr (sizeof(R) == 32 && kElement == 8)
    return __builtin_ia32_maskstoreq256(at, bit_cast<Q>(iota<i64v>() < int64_t{n}), bit_cast<Q>(raw));
#endif
  __builtin_memcpy(p, &raw, static_cast<unsigned>(n * kElement));
}

}  // namespace detail

/// The width<V> elements at p.
template <class V, class T>
HONE_INLINE V load(const T* p) {
  if constexpr (!Vector<V>) {
    return static_cast<V>(*p);
  } else if constexpr (detail::kOneByOne<V, T>) {
    V v{};
    for (int i = 0; i < width<V>; ++i) v[i] = static_cast<Lane<V>>(p[i]);
    return v;
  } else {
    typedef detail::Raw<V, T> Unaligned __attribute__((aligned(1), may_alias));
    const detail::Raw<V, T> raw = *static_cast<const Unaligned*>(static_cast<const void*>(p));
    return detail::from_raw<V, T>(raw);
  }
}

/// The first n elements at p, `fill` in the other lanes.
template <class V, class T>
HONE_INLINE V load_n(const T* p, int64_t n, Lane<V> fill = 0) {
  if constexpr (!Vector<V>) {
    return n > 0 ? static_cast<V>(*p) : fill;
  } else if constexpr (detail::kOneByOne<V, T>) {
    V v = splat<V>(fill);
    for (int i = 0; i < n; ++i) v[i] = static_cast<Lane<V>>(p[i]);
    return v;
  } else {
    const V v = detail::from_raw<V, T>(detail::load_raw<detail::Raw<V, T>>(p, static_cast<int>(n)));
    if (__builtin_constant_p(fill) && fill == 0) return v;
    const Mask<V> present = iota<Mask<V>>() < static_cast<Lane<Mask<V>>>(n);
    return select(present, v, fill);
  }
}

/// The first n elements of those that lie `step` apart from p on, zeros in the other lanes.
template <class V, class T>
HONE_INLINE V load_apart(const T* p, int64_t step, int64_t n) {
  V v{};
  for (int i = 0; i < n; ++i) v[i] = load<Lane<V>>(p + i * step);
  return v;
}

/// The first n elements of those that each lane's index says, `stride` apart, from places that lie `step` apart from p on. `index`: a vector, or a pointer.
template <class V, class T, class I>
HONE_INLINE V load_picked(const T* p, int64_t step, I index, int64_t stride, int64_t n) {
  V v{};
  for (int i = 0; i < n; ++i) v[i] = load<Lane<V>>(p + (i * step + static_cast<int64_t>(index[i]) * stride));
  return v;
}

template <class T, class V>
HONE_INLINE void store(T* p, V v) {
  if constexpr (!Vector<V>) {
    *p = static_cast<T>(v);
  } else if constexpr (detail::kOneByOne<V, T>) {
    for (int i = 0; i < width<V>; ++i) p[i] = static_cast<T>(v[i]);
  } else {
    const auto raw = detail::to_raw<V, T>(v);
    __builtin_memcpy(static_cast<void*>(p), &raw, sizeof(raw));
  }
}

/// Stores the first n lanes.
template <class T, class V>
HONE_INLINE void store_n(T* p, V v, int64_t n) {
  if constexpr (!Vector<V>) {
    if (n > 0) *p = static_cast<T>(v);
  } else if constexpr (detail::kOneByOne<V, T>) {
    for (int i = 0; i < n; ++i) p[i] = static_cast<T>(v[i]);
  } else {
    detail::store_raw(p, detail::to_raw<V, T>(v), static_cast<int>(n));
  }
}

/// Stores the first n lanes `step` elements apart from p on.
template <class T, class V>
HONE_INLINE void put_apart(T* p, int64_t step, V v, int64_t n) {
  T all[width<V>];
  store(all, v);
  for (int i = 0; i < n; ++i) p[i * step] = all[i];
}

/// Stores past the caches: for large outputs nobody reads soon. p must be aligned to the bytes
/// stored (width<V> elements of T). Call stream_fence() after the last one.
template <class T, class V>
HONE_INLINE void stream(T* p, V v) {
  if constexpr (detail::kOneByOne<V, T>) {
    store(p, v);
  } else {
    const auto raw = detail::to_raw<V, T>(v);
    [[maybe_unused]] const detail::AnyPointer at{p};
#if defined(__clang__)
    __builtin_nontemporal_store(raw, static_cast<detail::Raw<V, T>*>(at));
#elif defined(__SSE2__)
    constexpr int kBytes = sizeof(raw);
    using Q = detail::Of<long long, (kBytes < 16 ? 16 : kBytes)>;
#if defined(HONE_AVX512)
    if constexpr (kBytes == 64) __builtin_ia32_movntdq512(at, bit_cast<Q>(raw));
#endif
#if defined(__AVX2__)
    if constexpr (kBytes == 32) __builtin_ia32_movntdq256(at, bit_cast<Q>(raw));
#endif
    if constexpr (kBytes == 16) __builtin_ia32_movntdq(at, bit_cast<Q>(raw));
    if constexpr (kBytes < 16) store(p, v);
#else
    store(p, v);
#endif
  }
}
HONE_INLINE void stream_fence() {
#if defined(__SSE2__)
  __builtin_ia32_sfence();
#else
  __sync_synchronize();
#endif
}

/// Asks for the cache line at p: into the first, or the second level. Any address is allowed.
HONE_INLINE void prefetch(const void* p) { __builtin_prefetch(p, 0, 3); }
HONE_INLINE void prefetch_l2(const void* p) { __builtin_prefetch(p, 0, 2); }

}  // namespace hone
