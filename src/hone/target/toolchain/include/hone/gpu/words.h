// Elements beside each other, as words.
#pragma once
#include "hone/gpu/matmul.h"

namespace hone::gpu {

/// Many elements, moved as words of up to 16 bytes where they stand on a word's boundary.
template <class T, int Many>
struct alignas(sizeof(T) * Many < 16 ? sizeof(T) * Many : 16) Words {
  static constexpr int kWord = sizeof(T) * Many < 16 ? sizeof(T) * Many : 16;
  T element[Many];
  HONE_DEVICE T& operator[](int e) { return element[e]; }
  HONE_DEVICE const T& operator[](int e) const { return element[e]; }
  HONE_DEVICE static Words load(const T* from) {
    if (reinterpret_cast<uintptr_t>(from) % kWord == 0) return *reinterpret_cast<const Words*>(from);
    Words to;
    HONE_UNROLL
    for (int e = 0; e < Many; ++e) to[e] = from[e];
    return to;
  }
  HONE_DEVICE void store(T* to) const {
    if (reinterpret_cast<uintptr_t>(to) % kWord == 0) *reinterpret_cast<Words*>(to) = *this;
    else
      HONE_UNROLL
      for (int e = 0; e < Many; ++e) to[e] = element[e];
  }
};

}  // namespace hone::gpu
