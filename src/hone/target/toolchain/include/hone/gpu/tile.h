// Tiles: how the threads of a block share out a segment of contiguous elements. A tile has Vec * Unroll elements for
// each thread, all loaded before the first is used, so that a thread has Unroll words of up to 16 bytes in flight.
#pragma once
#include "hone/gpu/math.h"

namespace hone::gpu {

/// Vec elements that move as one word (as words of 16 bytes where they are more).
template <class T, int Vec>
struct alignas(sizeof(T) * Vec < 16 ? sizeof(T) * Vec : 16) Pack {
  T v[Vec];
  HONE_DEVICE T& operator[](int e) { return v[e]; }
  HONE_DEVICE const T& operator[](int e) const { return v[e]; }
};

/// What a thread holds of one tensor's tile.
template <class T, int Vec, int Unroll>
struct Packs {
  Pack<T, Vec> p[Unroll];
  HONE_DEVICE Pack<T, Vec>& operator[](int u) { return p[u]; }
  HONE_DEVICE const Pack<T, Vec>& operator[](int u) const { return p[u]; }
  /// Holding `x` throughout.
  HONE_DEVICE static Packs full(T x) {
    Packs all;
    HONE_UNROLL
    for (int u = 0; u < Unroll; ++u) {
      HONE_UNROLL
      for (int e = 0; e < Vec; ++e) all[u][e] = x;
    }
    return all;
  }
};

enum class Fit {
  kWhole,    ///< words, all of them inside
  kPacks,    ///< words, each inside or outside
  kEdges,    ///< words; where the segment begins or ends within one, element by element
  kLoose,    ///< where words would be, but element by element: for who needs a thread's elements in order
  kSingles,  ///< element by element, neighbouring threads side by side: any boundary, any length
};

/// Elements of a line of memory: a wave that begins on its boundary moves whole sectors. A multiple of every Vec.
constexpr int kLine = 32;

/// How the rows of a kernel's tensors stand on boundaries of words and lines.
struct Alignment {
  bool even;    ///< every row of every tensor begins on a word's boundary, and ends on one
  bool alike;   ///< the rows of all tensors stand alike: words of one are words of the others
  int lead;     ///< elements between the boundary of a line before this row, and its beginning: less than kLine; 0 if even
                ///< or not alike

  /// `row`: this row of one of the tensors, `tensor`, which begin on boundaries of lines. even and alike are the same for
  /// all rows.
  template <class T>
  HONE_DEVICE static Alignment of(bool even, bool alike, const T* row, const T* tensor) {
    return {even, alike, alike && !even ? static_cast<int>((row - tensor) % kLine) : 0};
  }
};

/// A tile of Threads * Vec * Unroll elements from `start` of a segment, those from `skip` to `left` of them inside.
template <int Threads, int Vec, int Unroll, Fit Shape>
struct Tile {
  static constexpr int kSize = Threads * Vec * Unroll;
  int64_t start;
  int left;
  int thread;
  int skip = 0;   ///< kEdges

  /// Where element e of word u stands in the tile.
  HONE_DEVICE int at(int u, int e) const {
    return Shape == Fit::kSingles ? (u * Vec + e) * Threads + thread : (u * Threads + thread) * Vec + e;
  }
  HONE_DEVICE bool has(int u, int e) const {
    if constexpr (Shape == Fit::kEdges) return at(u, e) >= skip && at(u, e) < left;
    return Shape == Fit::kWhole || at(u, Shape == Fit::kPacks ? 0 : e) < left;
  }
  /// Whether word u moves as one. kEdges: else element by element, as far as it is inside.
  HONE_DEVICE bool moves(int u) const {
    if constexpr (Shape == Fit::kEdges) return at(u, 0) >= skip && at(u, Vec - 1) < left;
    return (Shape == Fit::kWhole || Shape == Fit::kPacks) && has(u, 0);
  }

  /// Word u of a segment; what lies outside stays as it was.
  template <class T>
  HONE_DEVICE void load_word(Pack<T, Vec>& to, const T* segment, int u) const {
    const T* const from = segment + start;
    if (moves(u)) {
      to = *reinterpret_cast<const Pack<T, Vec>*>(from + at(u, 0));
    } else if constexpr (Shape != Fit::kWhole && Shape != Fit::kPacks) {
      HONE_UNROLL
      for (int e = 0; e < Vec; ++e)
        if (has(u, e)) to[e] = from[at(u, e)];
    }
  }
  /// Its address is counted in words: at one counted in elements, behind a product of 64 bits (a row of a matrix), NVCC 13 stores a
  /// word element by element. It loads one as a word either way, and with fewer registers by elements.
  template <class T>
  HONE_DEVICE void store_word(T* segment, int u, const Pack<T, Vec>& from) const {
    T* const to = segment + start;
    if (moves(u)) {
      reinterpret_cast<Pack<T, Vec>*>(to)[u * Threads + thread] = from;
    } else if constexpr (Shape != Fit::kWhole && Shape != Fit::kPacks) {
      HONE_UNROLL
      for (int e = 0; e < Vec; ++e)
        if (has(u, e)) to[at(u, e)] = from[e];
    }
  }
  template <class T>
  HONE_DEVICE Packs<T, Vec, Unroll> load(const T* segment) const {
    Packs<T, Vec, Unroll> to;
    HONE_UNROLL
    for (int u = 0; u < Unroll; ++u) load_word(to[u], segment, u);
    return to;
  }
  template <class T>
  HONE_DEVICE void store(T* segment, const Packs<T, Vec, Unroll>& from) const {
    HONE_UNROLL
    for (int u = 0; u < Unroll; ++u) store_word(segment, u, from[u]);
  }
  /// Word by word: body(u), and within it elements_of(u, body) with body(e, j).
  template <class Body>
  HONE_DEVICE void words(Body body) const {
    HONE_UNROLL
    for (int u = 0; u < Unroll; ++u) body(u);
  }
  template <class Body>
  HONE_DEVICE void elements_of(int u, Body body) const {
    HONE_UNROLL
    for (int e = 0; e < Vec; ++e)
      if (has(u, e)) body(e, start + at(u, e));
  }
  template <class T>
  HONE_DEVICE Packs<T, Vec, Unroll> room() const {
    return {};
  }
  /// Room that holds `x` throughout.
  template <class T>
  HONE_DEVICE Packs<T, Vec, Unroll> full(T x) const { return Packs<T, Vec, Unroll>::full(x); }
  /// Elements that all its threads have.
  HONE_DEVICE int inside() const { return left > skip ? left - skip : 0; }
  /// Elements that this thread has.
  HONE_DEVICE int count() const {
    if constexpr (Shape == Fit::kWhole) return Vec * Unroll;
    int n = 0;
    each([&](int, int, int64_t) { ++n; });
    return n;
  }
  /// body(u, e, j) for each element of this thread; j is its place in the segment.
  template <class Body>
  HONE_DEVICE void each(Body body) const {
    words([&](int u) { elements_of(u, [&](int e, int64_t j) { body(u, e, j); }); });
  }
};

/// One tile that holds all `length` elements, `length` being the same in all threads of the block but for 0.
template <int Threads, int Vec, int Unroll, class Body>
HONE_DEVICE void one_tile(const Alignment& alignment, int64_t length, int64_t room, int thread, Body body) {
  const int all = static_cast<int>(length);
  if (alignment.even)
    body(Tile<Threads, Vec, Unroll, Fit::kPacks>{0, all, thread});
  else if (alignment.alike && room + kLine - 1 <= Threads * Vec * Unroll)
    body(Tile<Threads, Vec, Unroll, Fit::kEdges>{-alignment.lead, all > 0 ? all + alignment.lead : 0, thread, alignment.lead});
  else
    body(Tile<Threads, Vec, Unroll, Fit::kSingles>{0, all, thread});
}

/// Tile number `t` of `length` elements. `aligned`: each word of the segment begins on its boundary; the same in all
/// threads of the block. The whole tile is the last case, as NVCC jumps to the first and goes on with the last: a block which finds
/// the caches cold waits for one piece of code and not for two (a microsecond).
template <int Threads, int Vec, int Unroll, class Body>
HONE_DEVICE void tile_at(bool aligned, int64_t length, int64_t t, int thread, Body body) {
  constexpr int kSize = Threads * Vec * Unroll;
  const int64_t start = t * kSize, left = length - start;
  if (!aligned || left < kSize)
    body(Tile<Threads, Vec, Unroll, Fit::kSingles>{start, left < kSize ? static_cast<int>(left) : kSize, thread});
  else
    body(Tile<Threads, Vec, Unroll, Fit::kWhole>{start, kSize, thread});
}
/// Likewise; tiles are counted from the boundary before the row.
template <int Threads, int Vec, int Unroll, class Body>
HONE_DEVICE void tile_at(const Alignment& alignment, int64_t length, int64_t t, int thread, Body body) {
  constexpr int kSize = Threads * Vec * Unroll;
  const int64_t start = t * kSize - alignment.lead, left = length - start;
  const int there = left < kSize ? static_cast<int>(left) : kSize;
  if (!alignment.alike)
    body(Tile<Threads, Vec, Unroll, Fit::kSingles>{start, there, thread});
  else if (start < 0 || there < kSize)
    body(Tile<Threads, Vec, Unroll, Fit::kEdges>{start, there, thread, start < 0 ? alignment.lead : 0});
  else
    body(Tile<Threads, Vec, Unroll, Fit::kWhole>{start, kSize, thread});
}

HONE_DEVICE int64_t lead_of(bool) { return 0; }
HONE_DEVICE int64_t lead_of(const Alignment& alignment) { return alignment.lead; }

/// Tile `t` of the segments `piece`, `piece + step`, … of `pieces`: body(tile, piece). For a grid of tiles by segments, which
/// asks for no division before the first load (a grid has 65535 blocks along y at most). `alignment`: a Alignment, or whether each
/// word begins on its boundary.
template <int Threads, int Vec, int Unroll, class Stands, class Body>
HONE_DEVICE void tile_of_pieces(const Stands& alignment, int64_t pieces, int64_t length, int64_t t, int64_t piece, int64_t step, int thread, Body body) {
  for (; piece < pieces; piece += step)
    tile_at<Threads, Vec, Unroll>(alignment, length, t, thread, [&](const auto tile) { body(tile, piece); });
}

/// The other way round, for a grid of segments by tiles: of segment `piece` tiles `t`, `t + step`, ….
template <int Threads, int Vec, int Unroll, class Stands, class Body>
HONE_DEVICE void tiles_of_piece(const Stands& alignment, int64_t piece, int64_t length, int64_t t, int64_t step, int thread, Body body) {
  constexpr int kSize = Threads * Vec * Unroll;
  for (; t * kSize < length + lead_of(alignment); t += step)
    tile_at<Threads, Vec, Unroll>(alignment, length, t, thread, [&](const auto tile) { body(tile, piece); });
}

/// Every `step`th tile of `pieces` segments, from tile `first`: body(tile, piece). A negative step counts tiles from the
/// last one on, backwards. Divides twice in all, and steps from tile to tile after that.
template <int Threads, int Vec, int Unroll, class Stands, class Body>
HONE_DEVICE void tiles(const Stands& alignment, int64_t pieces, int64_t length, int64_t first, int64_t step, int thread, Body body) {
  constexpr int kSize = Threads * Vec * Unroll;
  const int64_t each = (length + lead_of(alignment) + kSize - 1) / kSize, all = pieces * each, stride = step < 0 ? -step : step;
  if (first >= all) return;
  const bool one = pieces == 1;
  const int64_t begin = step < 0 ? all - 1 - first : first, across = one ? 0 : stride / each, along = stride - across * each;
  int64_t piece = one ? 0 : begin / each, t = begin - piece * each;
  for (int64_t turn = first; turn < all; turn += stride) {
    tile_at<Threads, Vec, Unroll>(alignment, length, t, thread, [&](const auto tile) { body(tile, piece); });
    if (step < 0) {
      piece -= across, t -= along;
      if (!one && t < 0) t += each, piece -= 1;
    } else {
      piece += across, t += along;
      if (!one && t >= each) t -= each, piece += 1;
    }
  }
}

/// All tiles shared out in `step` parts, of which this is number `first`: those at one place of all segments one after the
/// other. What the segments share there (a vector beside the rows of a matrix) then stays in registers or in the first-level
/// cache, where in the other order it comes from the second as often as the matrix comes from memory. A negative step counts
/// tiles from the last one on, backwards.
template <int Threads, int Vec, int Unroll, class Stands, class Body>
HONE_DEVICE void tiles_down(const Stands& alignment, int64_t pieces, int64_t length, int64_t first, int64_t step, int thread, Body body) {
  constexpr int kSize = Threads * Vec * Unroll;
  const int64_t each = (length + lead_of(alignment) + kSize - 1) / kSize, all = pieces * each, parts = step < 0 ? -step : step;
  const int64_t share = all / parts, more = all % parts, part = step < 0 ? parts - 1 - first : first;
  int64_t begin = part * share + (part < more ? part : more), end = begin + share + (part < more ? 1 : 0);
  while (begin < end) {
    const int64_t place = (step < 0 ? end - 1 : begin) / pieces, before = place * pieces;
    const int64_t from = begin > before ? begin - before : 0, to = end - before < pieces ? end - before : pieces;
    tile_at<Threads, Vec, Unroll>(alignment, length, place, thread, [&](const auto tile) {
      const int64_t one = step < 0 ? -1 : 1;
      int64_t piece = step < 0 ? to - 1 : from;
      for (int64_t left = to - from; left > 0; --left, piece += one) body(tile, piece);
    });
    if (step < 0) end = before + from;
    else begin = before + to;
  }
}

}  // namespace hone::gpu
