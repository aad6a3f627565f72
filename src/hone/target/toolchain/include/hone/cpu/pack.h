// Packing for matrix products. A panel holds R rows (of A) or columns (of B) side by side for each depth k: [k][R], or
// [k / G][R][G] where one instruction takes a group of G neighbours in depth (hone/cpu/products.h); a register tile then
// reads both factors in the order in which it needs them, a cache line after the other, whatever their layout in memory
// was. Panels at the edge, and the last group, are filled up with zeros.
#pragma once
#include "hone/cpu/arithmetic.h"
#include "hone/cpu/integer.h"
#include "hone/cpu/loops.h"
#include "hone/cpu/memory.h"
#include "hone/cpu/transpose.h"

namespace hone {

namespace detail {
/// What the sign bits of a factor that is stored shifted are turned by: of bytes, in a word.
template <bool SHIFTED>
inline constexpr uint32_t kTurned = SHIFTED ? 0x80808080u : 0u;

template <bool SHIFTED, class E>
HONE_INLINE E shifted(E x) {
  if constexpr (SHIFTED) return static_cast<E>(x ^ E(-128));
  else return x;
}
}  // namespace detail

/// One panel of any layout: row(i) points to value (i, 0), the next k is `step` elements further; rows from `count` on
/// are zeros.
template <class P, int R, bool LEFT, class Row>
HONE_INLINE void pack_rows(typename P::Element* HONE_RESTRICT to, int64_t count, int64_t depth, int64_t step, Row row) {
  using E = typename P::Element;
  constexpr int G = P::kGroup;
  constexpr int64_t kSegment = 16;  // a cache line of each row, scattered over lines that stay in the first level
  for (int64_t k = 0; k < depth; k += kSegment) {
    const int64_t end = min(k + kSegment, depth);
    for (int i = 0; i < R; ++i) {
      int64_t at = k;
      if (i < count) {
        const auto* from = row(i);
        for (; at < end; ++at)
          to[(at / G * R + i) * G + at % G] = detail::shifted<P::kShifted && LEFT>(static_cast<E>(from[at * step]));
      }
      for (; at < align(end, G); ++at) to[(at / G * R + i) * G + at % G] = E{};
    }
  }
}

namespace detail {

/// USED lines' width of a panel of words or numbers that lie side by side along the depth: squares are read and turned.
/// WHOLE: all rows and all of the square's depth are there.
template <class V, int R, int USED, uint32_t TURNED, bool WHOLE, class Row>
HONE_INLINE void pack_square(Lane<V>* HONE_RESTRICT to, int64_t count, int64_t lines, Row row) {
  constexpr int kWidth = width<V>;
  V square[kWidth];
  HONE_UNROLL(16)
  for (int i = 0; i < kWidth; ++i) {
    square[i] = V{};
    if (i >= USED) continue;
    if constexpr (WHOLE) square[i] = load<V>(row(i));
    else if (i < count) square[i] = load_n<V>(row(i), lines);
    if constexpr (TURNED != 0) square[i] ^= TURNED;
  }
  transpose(square);
  HONE_UNROLL(16)
  for (int line = 0; line < kWidth; ++line) {
    if (!WHOLE && line >= lines) break;
    if constexpr (USED == kWidth) store(to + line * R, square[line]);
    else store_n(to + line * R, square[line], USED);
  }
}

template <class V, int R, int USED, uint32_t TURNED, class Row>
HONE_INLINE void pack_squares(Lane<V>* HONE_RESTRICT to, int64_t count, int64_t depth, Row row) {
  constexpr int kWidth = width<V>;
  int64_t k = 0;
  if (count >= USED)
    for (; k + kWidth <= depth; k += kWidth)
      pack_square<V, R, USED, TURNED, true>(to + k * R, USED, kWidth, [&](int64_t i) HONE_BODY { return row(i) + k; });
  for (; k < depth; k += kWidth)
    pack_square<V, R, USED, TURNED, false>(to + k * R, count, min<int64_t>(depth - k, kWidth), [&](int64_t i) HONE_BODY { return row(i) + k; });
}

template <class V, int R, uint32_t TURNED, class Row>
HONE_INLINE void pack_turned(Lane<V>* HONE_RESTRICT to, int64_t count, int64_t depth, Row row) {
  constexpr int kWidth = width<V>, kWhole = R / kWidth * kWidth;
  for (int first = 0; first < kWhole; first += kWidth)
    pack_squares<V, R, kWidth, TURNED>(to + first, count - first, depth, [&](int64_t i) HONE_BODY { return row(first + i); });
  if constexpr (kWhole < R)
    pack_squares<V, R, R - kWhole, TURNED>(to + kWhole, count - kWhole, depth, [&](int64_t i) HONE_BODY { return row(kWhole + i); });
}

}  // namespace detail

/// One panel whose rows lie along the depth: row(i) points to value (i, 0), the next k beside it.
template <class P, int R, bool LEFT, class Row>
HONE_INLINE void pack_along(typename P::Element* HONE_RESTRICT to, int64_t count, int64_t depth, Row row) {
  if constexpr (P::kGroup == 1) {
    detail::pack_turned<typename P::Line, R, 0>(to, count, depth, row);
  } else {
    constexpr int G = P::kGroup;
    const int64_t whole = depth / G;
    detail::pack_turned<u32v, R, detail::kTurned<P::kShifted && LEFT>>(
        static_cast<uint32_t*>(static_cast<void*>(to)), count, whole,
        [&](int64_t i) HONE_BODY { return static_cast<const uint32_t*>(static_cast<const void*>(row(i))); });
    if (whole * G < depth)
      pack_rows<P, R, LEFT>(to + whole * G * R, count, depth - whole * G, 1, [&](int64_t i) HONE_BODY { return row(i) + whole * G; });
  }
}

/// The same where the values of a line lie side by side in memory, and lines `step` elements apart.
template <class P, int R, bool LEFT, class T>
HONE_INLINE void pack_lines(typename P::Element* HONE_RESTRICT to, const T* from, int64_t count, int64_t depth, int64_t step) {
  using V = typename P::Line;
  constexpr int kWidth = width<V>, G = P::kGroup;
  if constexpr (G == 1) {
    constexpr int kWhole = R / kWidth * kWidth;
    if (count == R) {
      for (int64_t k = 0; k < depth; ++k, from += step, to += R) {
        HONE_UNROLL(8)
        for (int i = 0; i < kWhole; i += kWidth) store(to + i, load<V>(from + i));
        if constexpr (kWhole < R) store_n(to + kWhole, load_n<V>(from + kWhole, R - kWhole), R - kWhole);
      }
    } else {
      for (int64_t k = 0; k < depth; ++k, from += step, to += R)
        for (int i = 0; i < R; i += kWidth)
          store_n(to + i, load_n<V>(from + i, clamp<int64_t>(count - i, 0, kWidth)), min(kWidth, R - i));
    }
  } else {
    // A word of each line: G lines widened to 32 bits and put beside each other.
    using Bits = detail::Of<uint32_t, sizeof(V)>;
    using Part = typename detail::StorageOf<T>::Type;
    using Small = decltype([] { if constexpr (sizeof(Part) == 1) return uint8_t{}; else return uint16_t{}; }());
    auto* words = static_cast<uint32_t*>(static_cast<void*>(to));
    for (int64_t k = 0; k < depth; k += G, words += R)
      for (int i = 0; i < R; i += kWidth) {
        const int64_t there = clamp<int64_t>(count - i, 0, kWidth);
        Bits word{};
        for (int g = 0; g < G && k + g < depth; ++g) {
          const auto* line = static_cast<const Small*>(static_cast<const void*>(from + (k + g) * step + i));
          word |= load_n<u32v>(line, there) << (32 / G * g);
        }
        if constexpr (P::kShifted && LEFT) word ^= detail::kTurned<true>;
        store_n(words + i, word, min(kWidth, R - i));
      }
  }
}

}  // namespace hone
