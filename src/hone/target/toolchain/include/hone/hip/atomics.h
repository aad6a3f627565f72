// Atomic operations on local and global memory, relaxed, as CUDA and HIP name them; 16-bit values by compare and swap
// of the word around them.
#pragma once

namespace hone::simt {

/// Puts change(old) where old was; returns old. For values of two bytes.
template <class T, class Change>
HONE_HIP T modify(T* p, Change change) {
  static_assert(sizeof(T) == 2);
  const uintptr_t address = reinterpret_cast<uintptr_t>(p);
  uint32_t* const word = reinterpret_cast<uint32_t*>(address & ~uintptr_t{3});
  const int shift = address & 2 ? 16 : 0;
  uint32_t seen = __hip_atomic_load(word, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  for (;;) {
    const T old = __builtin_bit_cast(T, static_cast<uint16_t>(seen >> shift));
    const uint32_t now = __builtin_bit_cast(uint16_t, change(old));
    const uint32_t put = (seen & ~(0xffffu << shift)) | now << shift;
    if (__hip_atomic_compare_exchange_weak(word, &seen, put, __ATOMIC_RELAXED, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)) return old;
  }
}

}  // namespace hone::simt

#define HONE_ATOMIC(NAME, BUILTIN, T, SCOPE) \
  HONE_HIP T NAME(T* p, std::type_identity_t<T> v) { return __hip_atomic_##BUILTIN(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_##SCOPE); }
#define HONE_ATOMIC_INTEGERS(NAME, BUILTIN, SCOPE) \
  HONE_ATOMIC(NAME, BUILTIN, int, SCOPE)           \
  HONE_ATOMIC(NAME, BUILTIN, unsigned, SCOPE)      \
  HONE_ATOMIC(NAME, BUILTIN, long, SCOPE)          \
  HONE_ATOMIC(NAME, BUILTIN, long long, SCOPE)     \
  HONE_ATOMIC(NAME, BUILTIN, unsigned long, SCOPE) \
  HONE_ATOMIC(NAME, BUILTIN, unsigned long long, SCOPE)
#define HONE_ATOMIC_FLOATS(NAME, BUILTIN, SCOPE) HONE_ATOMIC(NAME, BUILTIN, float, SCOPE) HONE_ATOMIC(NAME, BUILTIN, double, SCOPE)
#define HONE_ATOMIC_SUB(NAME, T, SCOPE) \
  HONE_HIP T NAME(T* p, std::type_identity_t<T> v) { return __hip_atomic_fetch_add(p, static_cast<T>(0 - v), __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_##SCOPE); }
#define HONE_ATOMIC_LOOP(NAME, EXPRESSION, SCOPE)                                                                                                    \
  HONE_HIP unsigned NAME(unsigned* p, unsigned v) {                                                                                                  \
    unsigned old = __hip_atomic_load(p, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_##SCOPE);                                                               \
    while (!__hip_atomic_compare_exchange_weak(p, &old, EXPRESSION, __ATOMIC_RELAXED, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_##SCOPE)) {}              \
    return old;                                                                                                                                      \
  }
#define HONE_ATOMIC_SCOPES(SUFFIX, SCOPE)                                              \
  HONE_ATOMIC_INTEGERS(atomicAdd##SUFFIX, fetch_add, SCOPE)                            \
  HONE_ATOMIC_FLOATS(atomicAdd##SUFFIX, fetch_add, SCOPE)                              \
  HONE_ATOMIC_SUB(atomicSub##SUFFIX, int, SCOPE)                                       \
  HONE_ATOMIC_SUB(atomicSub##SUFFIX, unsigned, SCOPE)                                  \
  HONE_ATOMIC_SUB(atomicSub##SUFFIX, long, SCOPE)                                      \
  HONE_ATOMIC_SUB(atomicSub##SUFFIX, unsigned long, SCOPE)                             \
  HONE_ATOMIC_SUB(atomicSub##SUFFIX, long long, SCOPE)                                 \
  HONE_ATOMIC_SUB(atomicSub##SUFFIX, unsigned long long, SCOPE)                        \
  HONE_ATOMIC_INTEGERS(atomicMin##SUFFIX, fetch_min, SCOPE)                            \
  HONE_ATOMIC_INTEGERS(atomicMax##SUFFIX, fetch_max, SCOPE)                            \
  HONE_ATOMIC_INTEGERS(atomicAnd##SUFFIX, fetch_and, SCOPE)                            \
  HONE_ATOMIC_INTEGERS(atomicOr##SUFFIX, fetch_or, SCOPE)                              \
  HONE_ATOMIC_INTEGERS(atomicXor##SUFFIX, fetch_xor, SCOPE)                            \
  HONE_ATOMIC_INTEGERS(atomicExch##SUFFIX, exchange, SCOPE)                            \
  HONE_ATOMIC_FLOATS(atomicExch##SUFFIX, exchange, SCOPE)                              \
  HONE_ATOMIC_LOOP(atomicInc##SUFFIX, old >= v ? 0u : old + 1, SCOPE)                  \
  HONE_ATOMIC_LOOP(atomicDec##SUFFIX, old == 0 || old > v ? v : old - 1, SCOPE)        \
  template <class T>                                                                   \
  HONE_HIP T atomicCAS##SUFFIX(T* p, std::type_identity_t<T> expected, std::type_identity_t<T> v) {                                             \
    __hip_atomic_compare_exchange_strong(p, &expected, v, __ATOMIC_RELAXED, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_##SCOPE);                      \
    return expected;                                                                   \
  }
HONE_ATOMIC_SCOPES(, AGENT)
HONE_ATOMIC_SCOPES(_block, WORKGROUP)
HONE_ATOMIC_SCOPES(_system, SYSTEM)
#undef HONE_ATOMIC_SCOPES
#undef HONE_ATOMIC_LOOP
#undef HONE_ATOMIC_SUB
#undef HONE_ATOMIC_FLOATS
#undef HONE_ATOMIC_INTEGERS
#undef HONE_ATOMIC

/// A load that sees what other blocks wrote.
template <class T>
HONE_HIP T __hone_load(const T* p) {
  return __hip_atomic_load(p, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
