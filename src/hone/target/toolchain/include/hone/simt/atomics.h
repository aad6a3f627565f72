// Atomic operations on shared and global memory. One operating-system thread runs all threads, so what makes
// them atomic is that nobody gets a turn in between; the emulator is told of each.
#pragma once

namespace hone::simt {

template <class T>
inline T raw_load(const T* p) {
  T v;
  using W = std::conditional_t<sizeof(T) == 2, uint16_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>;
  const W w = __atomic_load_n(reinterpret_cast<const W*>(p), __ATOMIC_RELAXED);
  __builtin_memcpy(&v, &w, sizeof v);
  return v;
}
template <class T>
inline void raw_store(T* p, T v) {
  using W = std::conditional_t<sizeof(T) == 2, uint16_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>;
  W w;
  __builtin_memcpy(&w, &v, sizeof v);
  __atomic_store_n(reinterpret_cast<W*>(p), w, __ATOMIC_RELAXED);
}

constexpr bool is_for_the_block(const char* name) {
  for (; *name; ++name)
    if (__builtin_strcmp(name, "_block") == 0) return true;
  return false;
}

/// Puts change(old) where old was; returns old.
template <bool kForTheBlock = false, class T, class Change>
inline T modify(T* p, Change change) {
  if constexpr (kForTheBlock) hone_simt_for_the_block(p, sizeof(T));
  hone_simt_atomic(p, sizeof(T), 1, 1);
  const T old = raw_load(p);
  const T now = change(old);
  raw_store(p, now);
  hone_simt_atomic_done(__builtin_memcmp(&now, &old, sizeof now) != 0);
  return old;
}

}  // namespace hone::simt

#define HONE_ATOMIC(NAME, T, EXPRESSION) \
  inline T NAME(T* p, std::type_identity_t<T> v) { return hone::simt::modify<hone::simt::is_for_the_block(#NAME)>(p, [v](T old) -> T { return EXPRESSION; }); }
#define HONE_ATOMIC_ALIAS(NAME) HONE_ATOMIC_ALL(NAME) HONE_ATOMIC_ALL(NAME##_block) HONE_ATOMIC_ALL(NAME##_system)

#define HONE_ATOMIC_INTEGERS(NAME, EXPRESSION)       \
  HONE_ATOMIC(NAME, int, EXPRESSION)                 \
  HONE_ATOMIC(NAME, unsigned, EXPRESSION)            \
  HONE_ATOMIC(NAME, long, EXPRESSION)                \
  HONE_ATOMIC(NAME, long long, EXPRESSION)           \
  HONE_ATOMIC(NAME, unsigned long, EXPRESSION)       \
  HONE_ATOMIC(NAME, unsigned long long, EXPRESSION)
#define HONE_ATOMIC_FLOATS(NAME, EXPRESSION) HONE_ATOMIC(NAME, float, EXPRESSION) HONE_ATOMIC(NAME, double, EXPRESSION)
#define HONE_ATOMIC_SCOPES(SCOPE)                                                   \
  HONE_ATOMIC_INTEGERS(atomicAdd##SCOPE, static_cast<decltype(old)>(static_cast<std::make_unsigned_t<decltype(old)>>(old) + static_cast<std::make_unsigned_t<decltype(old)>>(v))) \
  HONE_ATOMIC_FLOATS(atomicAdd##SCOPE, old + v)                                     \
  HONE_ATOMIC_INTEGERS(atomicSub##SCOPE, static_cast<decltype(old)>(static_cast<std::make_unsigned_t<decltype(old)>>(old) - static_cast<std::make_unsigned_t<decltype(old)>>(v))) \
  HONE_ATOMIC_INTEGERS(atomicMin##SCOPE, v < old ? v : old)                         \
  HONE_ATOMIC_INTEGERS(atomicMax##SCOPE, v > old ? v : old)                         \
  HONE_ATOMIC_INTEGERS(atomicAnd##SCOPE, old & v)                                   \
  HONE_ATOMIC_INTEGERS(atomicOr##SCOPE, old | v)                                    \
  HONE_ATOMIC_INTEGERS(atomicXor##SCOPE, old ^ v)                                   \
  HONE_ATOMIC_INTEGERS(atomicExch##SCOPE, (static_cast<void>(old), v))              \
  HONE_ATOMIC_FLOATS(atomicExch##SCOPE, (static_cast<void>(old), v))                \
  HONE_ATOMIC(atomicInc##SCOPE, unsigned, old >= v ? 0 : old + 1)                   \
  HONE_ATOMIC(atomicDec##SCOPE, unsigned, old == 0 || old > v ? v : old - 1)        \
  template <class T>                                                                \
  inline T atomicCAS##SCOPE(T* p, std::type_identity_t<T> expected, std::type_identity_t<T> v) { \
    return hone::simt::modify<hone::simt::is_for_the_block(#SCOPE)>(p, [=](T old) -> T { return old == expected ? v : old; }); \
  }
HONE_ATOMIC_SCOPES()
HONE_ATOMIC_SCOPES(_block)
HONE_ATOMIC_SCOPES(_system)
#undef HONE_ATOMIC_SCOPES
#undef HONE_ATOMIC_FLOATS
#undef HONE_ATOMIC_INTEGERS
#undef HONE_ATOMIC_ALIAS
#undef HONE_ATOMIC

// Loads and stores that several threads may make at once.
template <class T>
inline T __hone_load(const T* p) {
  hone_simt_atomic(p, sizeof(T), 0, 1);
  return hone::simt::raw_load(p);
}
template <class T>
inline void __hone_store(T* p, std::type_identity_t<T> v) {
  hone_simt_atomic(p, sizeof(T), 1, 0);
  hone::simt::raw_store(p, v);
  hone_simt_atomic_done(1);
}

namespace hone::simt {

/// Scoped accesses: acquire and release are fences around them.
template <class T>
inline T scoped_load(const T* p, int order) {
  const T v = __hone_load(p);
  if (order != __ATOMIC_RELAXED) hone_simt_fence();
  return v;
}
template <class T>
inline void scoped_store(T* p, std::type_identity_t<T> v, int order) {
  if (order != __ATOMIC_RELAXED) hone_simt_fence();
  __hone_store(p, v);
}
template <class T>
inline T scoped_add(T* p, std::type_identity_t<T> v, int order) {
  if (order != __ATOMIC_RELAXED) hone_simt_fence();
  return atomicAdd(p, v);
}

}  // namespace hone::simt

#define __hip_atomic_load(p, order, scope) hone::simt::scoped_load(p, order)
#define __hip_atomic_store(p, v, order, scope) hone::simt::scoped_store(p, v, order)
#define __hip_atomic_fetch_add(p, v, order, scope) hone::simt::scoped_add(p, v, order)
#ifndef __HIP_MEMORY_SCOPE_AGENT
#define __HIP_MEMORY_SCOPE_WAVEFRONT 2
#define __HIP_MEMORY_SCOPE_WORKGROUP 3
#define __HIP_MEMORY_SCOPE_AGENT 4
#define __HIP_MEMORY_SCOPE_SYSTEM 5
#endif
