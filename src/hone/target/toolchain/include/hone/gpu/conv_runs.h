// What a convolution on groups of warps (conv_wgmma.h) multiplies: runs of positions, the taps that they serve, and how its
// weights lie for that.
#pragma once
#include "hone/gpu/conv.h"
#include "hone/gpu/matmul_wgmma.h"

namespace hone::gpu {

/// Depths of a stage: channels under one of the outer dimensions' taps; or folded, where there are few channels: those taps and
/// channels counted together, channels fastest.
constexpr int kRunDepths = 16;

HONE_DEVICE constexpr int greatest_divisor(int a, int b) { return b == 0 ? a : greatest_divisor(b, a % b); }

/// A convolution's taps along the last dimension, as runs of positions see them. In class c they are tap 0 + k `next`, for k =
/// 0 … count - 1, and tap k of position x reads x's element scale (x + k step) + base, where step is the dilation over its common
/// divisor with the stride. Transposed, a phase has one class.
struct TapClass {
  int first, next, count, base;
};
template <int S>
struct RunTaps {
  int scale, classes;
  HONE_DEVICE explicit RunTaps(const Convolution<S>& of)
      : scale(of.transposed ? 1 : of.stride[S - 1]), classes(of.transposed ? 1 : apart(of)) {}
  /// From a tap of a class to its next one.
  HONE_DEVICE static int apart(const Convolution<S>& of, int s = S - 1) { return of.stride[s] / greatest_divisor(of.dilation[s], of.stride[s]); }
  /// Class `c` of a phase whose first position along the last dimension is `place`.
  HONE_DEVICE TapClass of_class(const Convolution<S>& of, int c, int place) const {
    const int window = static_cast<int>(of.window[S - 1]);
    if (!of.transposed) {
      return {c, classes, c < window ? (window - c + classes - 1) / classes : 0, c * of.dilation[S - 1] - of.padding[S - 1]};
    }
    // Taps further on read x further back: the last one first.
    int last = window - 1;
    while (last >= 0 && of.phase_of(S - 1, last) != place) --last;
    if (last < 0) return {0, 0, 0, 0};
    return {last, -apart(of), last / apart(of) + 1, (place - (last * of.dilation[S - 1] - of.padding[S - 1])) / of.stride[S - 1]};
  }
};

/// How the weights of one tap and Depths depths lie for tiles of Columns output channels: part after part, in a part
/// [16 bytes of channels][output channel].
template <class Math, int Columns, int Depths = kRunDepths>
using WeightTile = PartsTile<Math, Columns, Depths>;

/// Where a convolution's weights lie. Folded needs one phase: nothing transposed.
template <bool Folded, int S, int Depths = kRunDepths>
struct RunWeights {
  int64_t outer;    ///< taps that depths count
  int64_t stages;   ///< of depths
  int64_t taps;     ///< that each stage has weights for
  HONE_DEVICE explicit RunWeights(const Convolution<S>& of) {
    const int64_t last = of.window[S - 1], all = Convolution<S>::product(of.window);
    outer = Folded ? all / last : 1;
    stages = (of.channels * outer + Depths - 1) / Depths;
    taps = all / outer;
  }
};
/// Bytes of the weights of a group and a tile of output channels.
template <class Math, int Columns, bool Folded, int Depths = kRunDepths, int S>
HONE_DEVICE int64_t weight_bytes(const Convolution<S>& of) {
  const RunWeights<Folded, S, Depths> all(of);
  return all.stages * all.taps * WeightTile<Math, Columns, Depths>::kBytes;
}

/// Thread `n` of groups * (output channels, in whole tiles) * RunWeights::taps * (stages * Depths / Math::kBeside): the weights
/// as the product's right factor. They are ordered by group, tile of output channels, phase, stage of depths, tap; a phase's taps
/// by those of the outer dimensions, then as runs have them.
template <class Math, int Columns, bool Folded, int Depths = kRunDepths, int S, class W>
HONE_DEVICE void pack_runs(const Convolution<S>& of, const W* w, char* packed, int64_t n) {
  using Tile = WeightTile<Math, Columns, Depths>;
  constexpr int kEach = Math::kBeside, kCores = Depths / kEach;
  const RunWeights<Folded, S, Depths> all(of);
  const int64_t windows = Convolution<S>::product(of.window), tiles = (of.outputs + Columns - 1) / Columns;
  const int64_t line = n % Columns, tile = n / Columns % tiles, core = n / (Columns * tiles) % (all.stages * kCores);
  const int64_t number = n / (Columns * tiles * all.stages * kCores) % all.taps, group = n / (Columns * tiles * all.stages * kCores * all.taps);
  if (group >= of.groups) return;
  // Along the last dimension the phase's taps are ordered by class.
  const TapPlace<S> tap = of.tap(number);
  const RunTaps<S> runs(of);
  const int own = of.transposed ? 0 : static_cast<int>(tap.at[S - 1] % runs.classes);
  const TapClass taps_of_own = runs.of_class(of, own, tap.phase[S - 1]);
  int64_t rank = tap.rank - tap.rank % tap.last + (tap.at[S - 1] - taps_of_own.first) / taps_of_own.next;
  for (int c = 0; c < own; ++c) rank += runs.of_class(of, c, tap.phase[S - 1]).count;
  const int64_t output = tile * Columns + line;
  typename Math::T x[kEach];
  HONE_UNROLL
  for (int i = 0; i < kEach; ++i) {
    x[i] = typename Math::T(0.0f);
    const int64_t depth = core * kEach + i, outer = Folded ? quotient(depth, of.channels) : 0;
    if (output >= of.outputs || (Folded ? outer >= all.outer : depth >= of.channels)) continue;
    x[i] = static_cast<typename Math::T>(w[of.weights(group, output, depth - outer * of.channels) * windows + outer * all.taps + number]);
  }
  uint4 parts[Math::kParts];
  Math::split(x, parts);
  const int64_t slot = tap.before * all.stages + core / kCores * (Folded ? all.taps : tap.together) + rank;
  char* const to = packed + (group * tiles + tile) * weight_bytes<Math, Columns, Folded, Depths>(of) + slot * Tile::kBytes + core % kCores * Tile::kNextDepth +
                   line * 16;
  HONE_UNROLL
  for (int part = 0; part < Math::kParts; ++part) *reinterpret_cast<uint4*>(to + part * Tile::kPart) = parts[part];
}

/// A block's run of positions: Lines of them in shared memory, of which the last (Taps - 1) Step are for the others' taps.
template <int S, int Lines, int Taps, int Step>
struct Run {
  static constexpr int kReach = (Taps - 1) * Step, kUseful = Lines - kReach;
  static_assert(kUseful > 0);
  int64_t row, rows, begin;    ///< positions of a row with what its taps reach; of all rows; of the run's first one
  HONE_DEVICE Run(const Phase<S>& phase, int64_t run)
      : row(phase.extent[S - 1] + kReach), rows(phase.extent[S - 1] > 0 ? phase.columns / phase.extent[S - 1] : 0), begin(run * kUseful) {}
  /// Runs of the largest phase.
  HONE_DEVICE static int64_t most(const Convolution<S>& of) {
    const int64_t extent = (of.y[S - 1] + of.phases(S - 1) - 1) / of.phases(S - 1);
    return (of.most_columns() / extent * (extent + kReach) + kUseful - 1) / kUseful;
  }
  HONE_DEVICE bool empty() const { return begin >= rows * row; }
  /// Where the result has line `line`'s position: its image and its element of a channel's plane there. False: nowhere.
  HONE_DEVICE bool find(const Convolution<S>& of, const Phase<S>& phase, int line, int64_t& image, int64_t& pixel) const {
    const int64_t of_row = quotient(begin + line, row), at = begin + line - of_row * row, extent = row - kReach;
    if (line >= kUseful || of_row >= rows || at >= extent) return false;
    int64_t place[S];
    image = of.place(phase, of_row * extent + at, place);
    pixel = of.pixel(phase, place);
    return true;
  }
};

/// The same number, of which the compiler knows nothing from before: what it works out from that it does where it is wanted,
/// instead of keeping it in registers that sums need.
HONE_DEVICE int64_t afresh(int64_t n) {
#if !HONE_EMULATED
  asm volatile("" : "+l"(n));
#endif
  return n;
}
/// What a block makes at a time: a run of a phase for the `across`th Columns output channels of a group.
template <int S, class R>
struct RunTile {
  Phase<S> phase;
  R run;
  int64_t group, across;
};
/// Tile number `n`: phases of one place one after the other, which read the same of x and together fill the lines of the result,
/// then Group runs, then the next output channels.
template <class R, int Columns, int Group, int S>
HONE_DEVICE RunTile<S, R> run_tile(const Convolution<S>& of, int64_t n) {
  const int64_t phases = of.all_phases(), place = quotient(n, phases);
  const BlockTile at = block_tile<Group>(place, R::most(of), (of.outputs + Columns - 1) / Columns);
  const Phase<S> phase = of.phase(n - place * phases);
  return {phase, R(phase, at.down), at.batch, at.across};
}

/// A phase's taps in the outer dimensions: tap j of dimension d reads x's element at its position + first[d] + j further(d).
template <int S>
struct OuterTaps {
  using Place = typename DepthEntry<S>::Place;
  int count[S], all;
  Place first[S];
  HONE_DEVICE OuterTaps(const Convolution<S>& of, const Phase<S>& phase) : all(1) {
    HONE_UNROLL
    for (int d = 0; d + 1 < S; ++d) {
      const int here = static_cast<int>(phase.first[d]);
      int tap = 0;
      if (of.transposed) {
        while (tap < of.window[d] && of.phase_of(d, tap) != here) ++tap;
      }
      const int reach = tap * of.dilation[d] - of.padding[d];
      first[d] = of.transposed ? (here - reach) / of.stride[d] : reach;
      count[d] = static_cast<int>(of.taps_of(d, here, of.window[d]));
      all *= count[d];
    }
  }
  HONE_DEVICE static int further(const Convolution<S>& of, int d) {
    return of.transposed ? -(of.dilation[d] / greatest_divisor(of.dilation[d], of.stride[d])) : of.dilation[d];
  }
};

/// What taps see of x: its element `offset` behind that at a line's origin, which is `shift` further along each dimension.
template <int S>
struct RunShift {
  using Place = typename DepthEntry<S>::Place;
  Place shift[S];               ///< of the outer dimensions
  int64_t offset;
  /// Number `o` of the outer taps.
  HONE_DEVICE RunShift(const Convolution<S>& of, const OuterTaps<S>& outer, int o) : offset(0) {
    int64_t plane = of.x[S - 1];
    HONE_UNROLL
    for (int d = S - 2; d >= 0; --d) {
      const int rest = o / outer.count[d];
      shift[d] = outer.first[d] + (o - rest * outer.count[d]) * OuterTaps<S>::further(of, d);
      offset += shift[d] * plane;
      plane *= of.x[d];
      o = rest;
    }
  }
};

/// A folded depth, of which a block keeps a table: what RunShift knows of its tap, and its channel in the offset.
template <int S>
struct alignas(16) FoldedDepth {
  static constexpr int kOuter = S > 1 ? S - 1 : 1, kMost = 256;
  int64_t offset;
  typename DepthEntry<S>::Place shift[kOuter];
  /// Depth `n`; behind the last one that again.
  HONE_DEVICE static FoldedDepth of_number(const Convolution<S>& of, const OuterTaps<S>& outer, int n) {
    const int channels = static_cast<int>(of.channels), depths = channels * outer.all, real = n < depths ? n : depths - 1;
    const RunShift<S> tap(of, outer, real / channels);
    FoldedDepth found;
    found.offset = tap.offset + real % channels * Convolution<S>::product(of.x);
    HONE_UNROLL
    for (int d = 0; d + 1 < S; ++d) found.shift[d] = tap.shift[d];
    return found;
  }
};

/// What one of Threads threads that fetch knows of its lines, every Threads-th.
template <class T, int S, int Lines, int Threads>
struct RunReader {
  using Place = typename DepthEntry<S>::Place;
  using Distance = typename DepthEntry<S>::Distance;
  static constexpr int kMine = Lines / Threads;
  const T* origin[kMine];
  Place at[kMine][S];

  /// `x`: the group's first channel in the first image.
  template <class R>
  HONE_DEVICE RunReader(const Convolution<S>& of, const Phase<S>& phase, const RunTaps<S>& runs, const R& run, const T* x, int thread) {
    HONE_UNROLL
    for (int i = 0; i < kMine; ++i) {
      const int64_t position = run.begin + thread + i * Threads, of_row = quotient(position, run.row);
      const bool real = of_row < run.rows;
      int64_t rest = real ? of_row : 0, plane = of.x[S - 1], offset = real ? (position - of_row * run.row) * runs.scale : 0;
      at[i][S - 1] = real ? static_cast<Place>(offset) : kNowhere;
      HONE_UNROLL
      for (int s = S - 2; s >= 0; --s) {
        const int64_t further = quotient(rest, phase.extent[s]), place = (rest - further * phase.extent[s]) * (of.transposed ? 1 : of.stride[s]);
        at[i][s] = static_cast<Place>(place);
        offset += place * plane;
        plane *= of.x[s];
        rest = further;
      }
      origin[i] = x + (rest * of.groups * of.channels * plane + offset);
    }
  }
  /// Whether line `i` is inside of x along the outer dimensions, shifted by `shift`; and along the last one.
  HONE_DEVICE bool inside(int i, const Convolution<S>& of, const Place* shift) const {
    bool all = true;
    HONE_UNROLL
    for (int s = 0; s + 1 < S; ++s) all &= static_cast<Distance>(at[i][s] + shift[s]) < static_cast<Distance>(of.x[s]);
    return all;
  }
  HONE_DEVICE bool inside_last(int i, const Convolution<S>& of, int shift) const {
    return static_cast<Distance>(at[i][S - 1] + shift) < static_cast<Distance>(of.x[S - 1]);
  }

 private:
  /// Outside of every x, whatever the shift.
  static constexpr Place kNowhere = -(Place{1} << (8 * sizeof(Place) - 2));
};

}  // namespace hone::gpu
