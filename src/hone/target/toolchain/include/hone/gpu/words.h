// Elements beside each other, as words.
#pragma once
#include "hone/gpu/matmul.h"

namespace hone::gpu {

/// Whether elements stand on a word's boundary: asked at each move, or known.
enum class Boundary { kAsk, kWord };

/// Many elements, moved as words of up to 16 bytes where they stand on a word's boundary. Who asks waits for what he reads: where it is
/// known, many reads are on their way at a time.
template <class T, int Many>
struct alignas(sizeof(T) * Many < 16 ? sizeof(T) * Many : 16) Words {
  static constexpr int kWord = sizeof(T) * Many < 16 ? sizeof(T) * Many : 16;
  T element[Many];
  HONE_DEVICE T& operator[](int e) { return element[e]; }
  HONE_DEVICE const T& operator[](int e) const { return element[e]; }
  HONE_DEVICE static bool on_word(const T* at) { return reinterpret_cast<uintptr_t>(at) % kWord == 0; }
  template <Boundary At = Boundary::kAsk>
  HONE_DEVICE static Words load(const T* from) {
    if (At == Boundary::kWord || on_word(from)) return *reinterpret_cast<const Words*>(from);
    Words to;
    HONE_UNROLL
    for (int e = 0; e < Many; ++e) to[e] = from[e];
    return to;
  }
  template <Boundary At = Boundary::kAsk>
  HONE_DEVICE void store(T* to) const {
    if (At == Boundary::kWord || on_word(to)) *reinterpret_cast<Words*>(to) = *this;
    else
      HONE_UNROLL
      for (int e = 0; e < Many; ++e) to[e] = element[e];
  }
};

}  // namespace hone::gpu
