// Elements beside each other, as words.
#pragma once
#include "hone/gpu/matmul.h"
#include "hone/gpu/prim.h"

namespace hone::gpu {

/// Whether elements stand on a word's boundary: asked at each move, or known.
enum class Boundary { kAsk, kWord };

#if HONE_EMULATED || defined(__HIP__)
/// `from` as words of 16 bytes, or of 8, in global or in shared memory, on their boundary.
template <class Words>
HONE_DEVICE void store_global(void* to, const Words& from) { *static_cast<Words*>(to) = from; }
template <class Words>
HONE_DEVICE void store_shared(void* to, const Words& from) { *static_cast<Words*>(to) = from; }
#else
// Said in PTX: an array of small numbers nvcc stores two at a time, and each such piece of a sector costs the cache as much as all of it.
/// The 32-bit words of `from`.
template <class T, int Many>
HONE_DEVICE void words_of(uint32_t (&words)[sizeof(T) * Many / 4], const T (&from)[Many]) {
  HONE_UNROLL
  for (int w = 0; w < static_cast<int>(sizeof(T)) * Many / 4; ++w) {
    if constexpr (sizeof(T) >= 4) {
      words[w] = reinterpret_cast<const uint32_t*>(from)[w];
    } else if constexpr (sizeof(T) == 2) {
      const uint16_t* const halves = reinterpret_cast<const uint16_t*>(from) + 2 * w;
      asm("mov.b32 %0, {%1, %2};" : "=r"(words[w]) : "h"(halves[0]), "h"(halves[1]));
    } else {
      const uint8_t* const bytes = reinterpret_cast<const uint8_t*>(from) + 4 * w;
      words[w] = bytes[0] | bytes[1] << 8 | bytes[2] << 16 | uint32_t{bytes[3]} << 24;
    }
  }
}
/// `from` as words of 16 bytes, or of 8, in global or in shared memory, on their boundary.
template <class Words>
HONE_DEVICE void store_global(void* to, const Words& from) {
  uint32_t words[sizeof(Words) / 4];
  words_of(words, from.element);
  char* const at = static_cast<char*>(to);
  static_assert(sizeof(Words) == 8 || sizeof(Words) % 16 == 0);
  if constexpr (sizeof(Words) == 8) asm volatile("st.global.v2.b32 [%0], {%1, %2};" ::"l"(__cvta_generic_to_global(at)), "r"(words[0]), "r"(words[1]) : "memory");
  HONE_UNROLL
  for (int w = 0; w + 4 <= static_cast<int>(sizeof(Words)) / 4; w += 4)
    asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(at + 4 * w)), "r"(words[w]), "r"(words[w + 1]), "r"(words[w + 2]), "r"(words[w + 3]) : "memory");
}
template <class Words>
HONE_DEVICE void store_shared(void* to, const Words& from) {
  uint32_t words[2];
  words_of(words, from.element);
  asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(prim::shared_address(to)), "r"(words[0]), "r"(words[1]) : "memory");
}
#endif

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
    if constexpr (At == Boundary::kAsk)
      if (!on_word(from)) {
        Words to;
        HONE_UNROLL
        for (int e = 0; e < Many; ++e) to[e] = from[e];
        return to;
      }
    return *reinterpret_cast<const Words*>(from);
  }
  /// Into global memory.
  template <Boundary At = Boundary::kAsk>
  HONE_DEVICE void store(T* to) const {
    if constexpr (At == Boundary::kAsk)
      if (!on_word(to)) {
        HONE_UNROLL
        for (int e = 0; e < Many; ++e) to[e] = element[e];
        return;
      }
    if constexpr (sizeof(Words) < 8) *reinterpret_cast<Words*>(to) = *this;
    else store_global(to, *this);
  }
};

/// Many elements as a load brings them, in words of 32 bits. They are taken apart where an element is used: an array of small numbers nvcc takes
/// apart at once, and waits for the load there, whatever it was sent for ahead of.
template <class T, int Many>
struct Loaded {
  static constexpr int kEach = 4 / static_cast<int>(sizeof(T)), kBits = kEach > 0 ? 32 / kEach : 32;
  uint32_t word[sizeof(T) * Many / 4];
  HONE_DEVICE T operator[](int e) const {
    if constexpr (sizeof(T) == 8) return __builtin_bit_cast(T, word[2 * e] | uint64_t{word[2 * e + 1]} << 32);
    else if constexpr (sizeof(T) == 4) return __builtin_bit_cast(T, word[e]);
    else if constexpr (sizeof(T) == 2) return __builtin_bit_cast(T, static_cast<uint16_t>(word[e / kEach] >> e % kEach * kBits));
    else return __builtin_bit_cast(T, static_cast<uint8_t>(word[e / kEach] >> e % kEach * kBits));
  }
  HONE_DEVICE static bool on_word(const T* at) { return Words<T, Many>::on_word(at); }
  template <Boundary At = Boundary::kAsk>
  HONE_DEVICE static Loaded load(const T* from) {
    Loaded to;
    static_assert(sizeof to == 8 || sizeof to % 16 == 0);
    if constexpr (At == Boundary::kAsk) {
      const Words<T, Many> words = Words<T, Many>::load(from);
      return __builtin_bit_cast(Loaded, words);
    } else if constexpr (sizeof to % 16 == 0) {
      HONE_UNROLL
      for (int w = 0; w < static_cast<int>(sizeof to) / 16; ++w) {
        const uint4 four = reinterpret_cast<const uint4*>(from)[w];
        to.word[4 * w] = four.x, to.word[4 * w + 1] = four.y, to.word[4 * w + 2] = four.z, to.word[4 * w + 3] = four.w;
      }
    } else {
      const uint2 two = *reinterpret_cast<const uint2*>(from);
      to.word[0] = two.x, to.word[1] = two.y;
    }
    return to;
  }
};

}  // namespace hone::gpu
