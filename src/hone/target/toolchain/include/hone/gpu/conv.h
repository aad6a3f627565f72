// Convolutions as matrix products that are never written down: rows are output channels, columns are positions of the
// result in all images, the depth is input channels times taps. What would be the right factor, x spread out once for
// every tap, is gathered from x as it is needed: its element (depth, column) is
//   x[origin of the column + offset of the depth], or zero where the tap hangs over the edge.
// The origin takes divisions, once for each column that a thread loads. Offset and shift of a depth are the same for all
// columns and come from a table that a small launch makes, so that an element costs a few additions and comparisons.
//
// A transposed convolution adds x[q] w[t] to y[q * stride - padding + t * dilation]. Seen from y, the taps that meet
// position p are those of one *phase*, p modulo the stride: each phase of the result is a convolution of its own, with
// stride 1 and a part of the taps, and no product with a zero between the elements of x is ever made.
#pragma once
#include "hone/gpu/matmul_simt.h"

namespace hone::gpu {

/// a / b for a >= 0, b > 0: in 32 bits where both fit, as 64 bits take a hundred instructions.
HONE_DEVICE int64_t quotient(int64_t a, int64_t b) {
  if ((static_cast<uint64_t>(a | b) >> 32) == 0) return static_cast<uint32_t>(a) / static_cast<uint32_t>(b);
  return a / b;
}

/// Positions of the result whose taps are the same ones, `first`, first + step, … along each dimension, and the segment
/// of the depth that they sum.
template <int S>
struct Phase {
  int64_t first[S], extent[S];
  int64_t columns;              ///< in all images
  Segment depth;
};

/// A tap of the window and where it stands among all: a phase's taps are neighbours, behind those of earlier phases.
template <int S>
struct TapPlace {
  int64_t at[S];
  int phase[S];
  int64_t before, together, rank;   ///< taps of earlier phases, of its own, and of its own before it
  int64_t last;                     ///< taps of its own phase along the last dimension, which counts fastest
};

/// The convolution as its caller wrote it, over S dimensions of space:
///   x [images, groups * channels, x...], y [images, groups * outputs, y...],
///   w [groups * outputs, channels, window...], transposed: [groups * channels, outputs, window...], all dense.
template <int S>
struct Convolution {
  bool transposed;
  int64_t images, groups, channels, outputs;
  int64_t x[S], y[S], window[S];
  int stride[S], dilation[S], padding[S];

  HONE_DEVICE static int64_t product(const int64_t (&extents)[S], int from = 0) {
    int64_t all = 1;
    HONE_UNROLL
    for (int s = from; s < S; ++s) all *= extents[s];
    return all;
  }
  /// Elements of a group's channels in one image.
  HONE_DEVICE int64_t plane() const { return channels * product(x); }
  HONE_DEVICE int phases(int s) const { return transposed ? stride[s] : 1; }
  HONE_DEVICE int64_t all_phases() const {
    int64_t all = 1;
    HONE_UNROLL
    for (int s = 0; s < S; ++s) all *= phases(s);
    return all;
  }
  HONE_DEVICE int64_t depth() const { return channels * product(window); }
  /// Rows are padded so that four of the weights are one read.
  HONE_DEVICE int64_t padded() const { return (outputs + 3) / 4 * 4; }

  HONE_DEVICE int phase_of(int s, int64_t tap) const {
    if (!transposed) return 0;
    const int64_t rest = (tap * dilation[s] - padding[s]) % stride[s];
    return static_cast<int>(rest < 0 ? rest + stride[s] : rest);
  }
  /// Taps along s, before tap `end`, of that phase; and of those before it.
  HONE_DEVICE int64_t taps_of(int s, int phase, int64_t end) const {
    int64_t count = 0;
    for (int64_t tap = 0; tap < end; ++tap) count += phase_of(s, tap) == phase;
    return count;
  }
  HONE_DEVICE int64_t taps_before(int s, int phase) const {
    int64_t count = 0;
    for (int64_t tap = 0; tap < window[s]; ++tap) count += phase_of(s, tap) < phase;
    return count;
  }

  HONE_DEVICE TapPlace<S> tap(int64_t flat) const {
    TapPlace<S> found;
    HONE_UNROLL
    for (int s = S - 1; s >= 0; --s) {
      found.at[s] = flat % window[s];
      flat /= window[s];
    }
    found.before = 0, found.together = 1, found.rank = 0;
    HONE_UNROLL
    for (int s = 0; s < S; ++s) {
      const int here = found.phase[s] = phase_of(s, found.at[s]);
      found.last = taps_of(s, here, window[s]);
      found.before += found.together * taps_before(s, here) * product(window, s + 1);
      found.together *= found.last;
      found.rank = found.rank * found.last + taps_of(s, here, found.at[s]);
    }
    return found;
  }
  /// The first tap's weight between a group's channel and output, counted in windows.
  HONE_DEVICE int64_t weights(int64_t group, int64_t output, int64_t channel) const {
    return transposed ? (group * channels + channel) * outputs + output : (group * outputs + output) * channels + channel;
  }

  /// The depth is ordered by phase, then by channel, then by tap: what a segment of it reads lies close together.
  HONE_DEVICE Phase<S> phase(int64_t index) const {
    Phase<S> found;
    HONE_UNROLL
    for (int s = S - 1; s >= 0; --s) {
      found.first[s] = index % phases(s);
      index /= phases(s);
    }
    int64_t before = 0, taps = 1;
    found.columns = images;
    HONE_UNROLL
    for (int s = 0; s < S; ++s) {
      const int here = static_cast<int>(found.first[s]);
      before += taps * taps_before(s, here) * product(window, s + 1);
      taps *= taps_of(s, here, window[s]);
      found.extent[s] = here < y[s] ? (y[s] - here + phases(s) - 1) / phases(s) : 0;
      found.columns *= found.extent[s];
    }
    found.depth = {channels * before, channels * (before + taps)};
    return found;
  }

  /// Columns of the largest phase.
  HONE_DEVICE int64_t most_columns() const {
    int64_t all = images;
    HONE_UNROLL
    for (int s = 0; s < S; ++s) all *= (y[s] + phases(s) - 1) / phases(s);
    return all;
  }
  /// Where column `column` of a phase is: at[s] counts the phase's positions; gives the image.
  HONE_DEVICE int64_t place(const Phase<S>& phase, int64_t column, int64_t (&at)[S]) const {
    HONE_UNROLL
    for (int s = S - 1; s >= 0; --s) {
      const int64_t rest = quotient(column, phase.extent[s]);
      at[s] = column - rest * phase.extent[s];
      column = rest;
    }
    return column;
  }
  /// Element of the result's plane at at[] of a phase.
  HONE_DEVICE int64_t pixel(const Phase<S>& phase, const int64_t (&at)[S]) const {
    int64_t all = 0;
    HONE_UNROLL
    for (int s = 0; s < S; ++s) all = all * y[s] + at[s] * phases(s) + phase.first[s];
    return all;
  }
};

/// What a depth means for every column: x's element is `offset` behind that at the column's origin, and inside where
/// origin + shift is, along each dimension. Along one dimension places have 64 bits, else extents are below 2^30.
template <int S>
struct alignas(16) DepthEntry {
  using Place = int32_t;
  using Distance = uint32_t;
  int64_t offset;
  int32_t shift[S];
};
template <>
struct alignas(16) DepthEntry<1> {
  using Place = int64_t;
  using Distance = uint64_t;
  int64_t offset;
  int64_t shift[1];
};

/// Thread `n` of groups * depth * padded: the weights as the product's left factor, packed[group][depth][row], and the
/// table of the depth. The taps of a phase become neighbours.
template <int S, class W, class P>
HONE_DEVICE void pack_weights(const Convolution<S>& of, const W* w, P* packed, void* table, int64_t n) {
  const int64_t taps = Convolution<S>::product(of.window), rows = of.padded();
  const int64_t row = n % rows, flat = n / rows % taps, channel = n / (rows * taps) % of.channels, group = n / (rows * taps * of.channels);
  if (group >= of.groups) return;
  const TapPlace<S> tap = of.tap(flat);
  DepthEntry<S> entry;
  HONE_UNROLL
  for (int s = 0; s < S; ++s) {
    const int64_t reach = tap.at[s] * of.dilation[s] - of.padding[s];
    entry.shift[s] = static_cast<typename DepthEntry<S>::Place>(of.transposed ? (tap.phase[s] - reach) / of.stride[s] : reach);
  }
  const int64_t depth = of.channels * tap.before + channel * tap.together + tap.rank;
  const float weight = row < of.outputs ? static_cast<float>(w[of.weights(group, row, channel) * taps + flat]) : 0.0f;
  packed[(group * of.depth() + depth) * rows + row] = static_cast<P>(weight);
  if (row != 0 || group != 0) return;
  int64_t plane = 1;
  entry.offset = 0;
  HONE_UNROLL
  for (int s = S - 1; s >= 0; --s) {
    entry.offset += entry.shift[s] * plane;
    plane *= of.x[s];
  }
  entry.offset += channel * plane;
  auto* to = static_cast<DepthEntry<S>*>(table) + depth;
  to->offset = entry.offset;
  HONE_UNROLL
  for (int s = 0; s < S; ++s) to->shift[s] = entry.shift[s];
}

/// The right factor of a block's product, of its Lines columns from `column0` on; a thread knows those that it loads.
/// Checked: taps may hang over the edge of x.
template <class T_, int S, int Lines, int Threads, bool Checked>
struct Gathered {
  using T = T_;
  using Place = typename DepthEntry<S>::Place;
  static constexpr bool kAlongDepth = false;
  static constexpr int V = 1, kColumns = Threads < Lines ? Lines / Threads : 1;  ///< that a thread loads
  static constexpr int kStep = Threads < Lines ? 1 : Threads / Lines;            ///< from its depth to its next one
  static_assert(Threads % Lines == 0 || Lines % Threads == 0);
  int64_t lines;                      ///< columns that there are
  const T* origin[kColumns];
  Place at[kColumns][S], extent[S];
  const DepthEntry<S>* table;

  /// `x`: the group's first channel in the first image.
  HONE_DEVICE Gathered(const Convolution<S>& of, const Phase<S>& phase, const T* x, const void* entries, int64_t column0)
      : lines(phase.columns), table(static_cast<const DepthEntry<S>*>(entries)) {
    HONE_UNROLL
    for (int s = 0; s < S; ++s) extent[s] = static_cast<Place>(of.x[s]);
    HONE_UNROLL
    for (int i = 0; i < kColumns; ++i) {
      // Beyond the last column the last one again: its sums go nowhere.
      const int64_t column = column0 + line(i), last = phase.columns - 1;
      int64_t place[S], offset = 0;
      const int64_t image = of.place(phase, column < last ? column : last, place);
      HONE_UNROLL
      for (int s = 0; s < S; ++s) {
        at[i][s] = static_cast<Place>(of.transposed ? place[s] : place[s] * of.stride[s]);
        offset = offset * of.x[s] + at[i][s];
      }
      origin[i] = x + (image * of.groups * of.plane() + offset);
    }
  }
  HONE_DEVICE static int line(int i) { return static_cast<int>(threadIdx.x) % Lines + i * Threads; }
  HONE_DEVICE static int depth(int k) { return static_cast<int>(threadIdx.x) / Lines + k * kStep; }
  HONE_DEVICE bool inside(int i, const DepthEntry<S>& entry) const {
    bool all = true;
    if constexpr (Checked) {
      using Distance = typename DepthEntry<S>::Distance;
      HONE_UNROLL
      for (int s = 0; s < S; ++s) all &= static_cast<Distance>(at[i][s] + entry.shift[s]) < static_cast<Distance>(extent[s]);
    }
    return all;
  }

  /// A segment of Tile's depth into shared memory, asynchronously where elements are words.
  template <int Depth, class Copies, class Tile>
  HONE_DEVICE void fill(Copies& copies, const Tile& tile, int64_t depth0, int64_t end) const {
    HONE_UNROLL_BY(4)
    for (int k = 0; k < Depth / kStep; ++k) {
      const bool real = depth0 + depth(k) < end;
      const DepthEntry<S>& entry = table[real ? depth0 + depth(k) : depth0];
      HONE_UNROLL
      for (int i = 0; i < kColumns; ++i) {
        const bool some = real && inside(i, entry);
        const T* from = some ? origin[i] + entry.offset : origin[i];
        if constexpr (sizeof(T) >= 4) copies.template copy<sizeof(T)>(tile.at(line(i), depth(k)), from, some);
        else *tile.at(line(i), depth(k)) = some ? *from : T(0.0f);
      }
    }
  }
};

/// A segment of a gathered factor on its way through registers (matmul_simt.h).
template <class T, int S, bool Checked, int Lines, int Depth, int Threads>
struct StagedTile<Gathered<T, S, Lines, Threads, Checked>, Lines, Depth, Threads> {
  using F = Gathered<T, S, Lines, Threads, Checked>;
  static constexpr int kPitch = Lines + 4, kDepths = Depth / F::kStep;
  static_assert(Depth % F::kStep == 0);
  T held[kDepths][F::kColumns];

  HONE_DEVICE void load(const F& factor, int64_t /*line0*/, int64_t depth0, int64_t end) {
    HONE_UNROLL
    for (int k = 0; k < kDepths; ++k) {
      const bool real = depth0 + F::depth(k) < end;
      const DepthEntry<S>& entry = factor.table[real ? depth0 + F::depth(k) : depth0];
      HONE_UNROLL
      for (int i = 0; i < F::kColumns; ++i) held[k][i] = real && factor.inside(i, entry) ? factor.origin[i][entry.offset] : T(0.0f);
    }
  }
  HONE_DEVICE void store(float* tile) const {
    HONE_UNROLL
    for (int k = 0; k < kDepths; ++k)
      HONE_UNROLL
      for (int i = 0; i < F::kColumns; ++i) tile[F::depth(k) * kPitch + F::line(i)] = static_cast<float>(held[k][i]);
  }
};

}  // namespace hone::gpu
