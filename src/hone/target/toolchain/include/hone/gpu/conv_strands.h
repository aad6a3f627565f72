// Convolutions whose input lies in *strands*: 16 bytes of channels of one position after the other, the zeros around the edges
// among them. There a convolution is a product without any edge, stride or dilation: for a tap, the left factor of a block's run
// of positions is the same piece of memory, some lines further on.
//
//   strand of 8 channels, f16, one dimension of space, pad 1      ..|0|x0 x1 x2 … x(W-1)|0|x0 x1 … the next row or image
//   position p under tap k reads line p + k - 1                      one zero serves the end of a row and the beginning of the next
//
// Under a stride s a strand holds every s-th element: there is one for each *class* of taps (those that are a multiple of s apart,
// as conv_runs.h has them along the last dimension), in each dimension of space. So whatever the convolution, a stage in shared
// memory is a few bulk copies, which one thread asks for, and what the units read there are bricks, as they lie. Transposed, the
// phases of the result read the same strands under taps of their own.
//
// Positions are numbered as the strands' lines are, rows with their zeros: the sums of those between the rows go nowhere (of rows
// of 56 under a window of three 1.8 %).
//
// A block lives as long as the launch: while two groups of warps hand over the sums of a tile, the copies for the next one are on
// their way.
#pragma once
#include "hone/gpu/conv_wgmma.h"

namespace hone::gpu {

/// a / b rounded down, b > 0.
HONE_DEVICE constexpr int64_t floor_quotient(int64_t a, int64_t b) { return a / b - (a % b < 0); }

/// How strands lie: those of a group, a stage of Depths depths, a class (of all dimensions) are neighbours, `lines` lines apart. Folded:
/// the outer dimensions' taps are depths too (conv_runs.h), their dimensions have the result's extents and one class.
template <int S, bool Folded, int Depths>
struct Strands {
  int64_t pitch[S], step[S];   ///< positions of a row, a plane, …, zeros included; and lines from one to the next
  int scale[S], classes[S], all_classes;
  int64_t stages, front, positions, lines;   ///< stages of depths; zeros before the first position; positions of all images; all lines

  /// Of tiles of Lines positions, of which Held lines are read.
  HONE_DEVICE Strands(const Convolution<S>& of, int tile_lines, int held) : all_classes(1), stages(RunWeights<Folded, S, Depths>(of).stages), front(0) {
    int64_t all = 1, back = held - tile_lines;
    HONE_UNROLL
    for (int s = S - 1; s >= 0; --s) {
      const bool folded = Folded && s < S - 1;
      const int64_t last = (of.window[s] - 1) * of.dilation[s];
      // Lines that a tap is at most before its position, and behind it.
      int64_t before = of.transposed ? last - of.padding[s] : of.padding[s], behind = of.transposed ? of.stride[s] - 1 + of.padding[s] : last - of.padding[s];
      before = folded ? 0 : -floor_quotient(-before, of.stride[s]), behind = folded ? 0 : floor_quotient(behind, of.stride[s]);
      before = before < 0 ? 0 : before, behind = behind < 0 ? 0 : behind;
      const int apart = RunTaps<S>::apart(of, s);
      scale[s] = of.transposed || folded ? 1 : of.stride[s];
      classes[s] = of.transposed || folded ? 1 : of.window[s] < apart ? static_cast<int>(of.window[s]) : apart;
      const int64_t extent = (of.y[s] + of.phases(s) - 1) / of.phases(s) + behind, data = folded ? of.y[s] : (of.x[s] + scale[s] - 1) / scale[s] + before;
      pitch[s] = extent < data ? data : extent;
      step[s] = all;
      front += before * all, back += behind * all;
      all *= pitch[s];
      all_classes *= classes[s];
    }
    positions = all * of.images;
    lines = front + (positions + tile_lines - 1) / tile_lines * tile_lines + back;
  }
  /// A class's first element of x in a row: the rest of its taps' shift by the stride.
  HONE_DEVICE int rest(const Convolution<S>& of, int s, int klass) const {
    const int64_t shift = int64_t{klass} * of.dilation[s] - of.padding[s];
    return of.transposed ? 0 : static_cast<int>(shift - floor_quotient(shift, of.stride[s]) * of.stride[s]);
  }
  /// Where `position` is: its image, and at[] along each dimension.
  HONE_DEVICE int64_t place(int64_t position, int64_t (&at)[S]) const {
    HONE_UNROLL
    for (int s = S - 1; s >= 0; --s) {
      const int64_t row = quotient(position, pitch[s]);
      at[s] = position - row * pitch[s];
      position = row;
    }
    return position;
  }
};

constexpr int kLayThreads = 256;   ///< of a block that lays out

/// Blocks that lay x out.
template <class Math, int S, bool Folded, int Depths>
HONE_DEVICE int64_t strand_blocks(const Convolution<S>& of, const Strands<S, Folded, Depths>& strands) {
  return of.groups * strands.stages * (Depths / Math::kBeside) * (strands.all_classes / strands.classes[S - 1]) * ((strands.lines + kLayThreads - 1) / kLayThreads);
}

/// Block `block` of strand_blocks: a line of a thread, of all classes along the last dimension, which read the same of x. Neighbours
/// read neighbours of x, channel after channel, and write words of 16 bytes side by side.
template <class Math, int S, bool Folded, int Depths, class T>
HONE_DEVICE void lay_strands(const Convolution<S>& of, const Strands<S, Folded, Depths>& strands, const T* x, char* to, int64_t block) {
  constexpr int kEach = Math::kBeside, kBricks = Depths / kEach;
  const int64_t across = (strands.lines + kLayThreads - 1) / kLayThreads;
  int64_t strand = quotient(block, across);
  const int64_t line = (block - strand * across) * kLayThreads + threadIdx.x;
  if (line >= strands.lines) return;
  const int last_classes = strands.classes[S - 1], outer_classes = strands.all_classes / last_classes;
  const int brick = static_cast<int>(strand % kBricks), klass = static_cast<int>(strand / kBricks % outer_classes);
  strand /= kBricks * outer_classes;   // now group and stage
  const int64_t group = quotient(strand, strands.stages), depth0 = (strand - group * strands.stages) * Depths + brick * kEach;

  const int64_t position = line - strands.front, plane = Convolution<S>::product(of.x), depths = of.channels * RunWeights<Folded, S, Depths>(of).outer;
  int64_t place[S], from[S];
  const int64_t image = strands.place(position < 0 ? 0 : position, place);
  bool inside = position >= 0 && position < strands.positions;
  int rest = klass;
  HONE_UNROLL
  for (int s = S - 2; s >= 0; --s) {
    from[s] = place[s] * (Folded ? of.stride[s] : strands.scale[s]) + (Folded ? -of.padding[s] : strands.rest(of, s, rest % strands.classes[s]));
    rest /= strands.classes[s];
    if constexpr (!Folded) inside = inside && from[s] < of.x[s];
  }
  const T* const channels = x + (image * of.groups + group) * of.plane();
  for (int c = 0; c < last_classes; ++c) {
    from[S - 1] = place[S - 1] * strands.scale[S - 1] + strands.rest(of, S - 1, c);
    const bool along = inside && from[S - 1] < of.x[S - 1];
    T numbers[kEach];
    HONE_UNROLL
    for (int i = 0; i < kEach; ++i) {
      const int64_t depth = depth0 + i;
      bool some = along && depth < depths;
      int64_t tap = Folded ? quotient(depth, of.channels) : 0, at = 0, extent = 1;
      const int64_t channel = depth - tap * of.channels;
      HONE_UNROLL
      for (int s = S - 1; s >= 0; --s) {
        int64_t here = from[s];
        if (Folded && s < S - 1) {
          here += tap % of.window[s] * of.dilation[s], tap /= of.window[s];
          some = some && here >= 0 && here < of.x[s];
        }
        at += here * extent, extent *= of.x[s];
      }
      numbers[i] = some ? channels[channel * plane + at] : T(0.0f);
    }
    uint4 parts[1];
    Math::split(numbers, parts);
    const int64_t number = (strand * strands.all_classes + klass * last_classes + c) * kBricks + brick;
    *reinterpret_cast<uint4*>(to + (number * strands.lines + line) * 16) = parts[0];
  }
}

/// sink(output channel, image, element of the channel's plane, sum) for all of the result, tiles of Lines positions and Columns output
/// channels of a group at a time. strands: of lay_strands; packed: of pack_runs<Math, Columns, Folded, Depths>. `memory`: Stages times
/// 16 Depths / Math::kBeside (Held + Taps Columns) bytes on a boundary of 128. Held: lines of a stage, Lines + (Taps - 1) Step at least.
/// Step: of RunTaps; Each: taps of every class that has any, 0 where they differ. A block has 384 threads and shares a multiprocessor
/// with Blocks - 1 others: __launch_bounds__(384, Blocks).
template <class Math, int Lines, int Held, int Columns, int Taps, int Step, int Each, int Depths, int Stages, int Blocks, int Group, bool Folded, int S, class Sink>
HONE_DEVICE void strand_product(const Convolution<S>& of, const Strands<S, Folded, Depths>& strands, const char* laid, const char* packed, void* memory, Sink sink) {
  using Tile = WeightTile<Math, Columns, Depths>;
  constexpr int kWarps = 8, kBlocks = Lines / 128, kSums = Columns / 2, kBricks = Depths / Math::kBeside;
  constexpr int kBrickLine = Held * 16, kRunBytes = kBricks * kBrickLine, kStage = kRunBytes + Taps * Tile::kBytes;
  static_assert(Math::kParts == 1 && Lines % 128 == 0 && Held >= Lines + (Taps - 1) * Step && Held % 8 == 0 && Stages >= 2);
  using Share = GroupRegisters<2, Blocks, 40>;
  __shared__ prim::PhaseBarrier full[Stages], empty[Stages];
  __shared__ int taps_of[Stages];
  if (threadIdx.x == 0)
    for (int s = 0; s < Stages; ++s) full[s].init(1), empty[s].init(kWarps);
  __syncthreads();

  char* const stages = static_cast<char*>(memory);
  const int warp = static_cast<int>(threadIdx.x) / 32, in_warp = lane();
  const RunTaps<S> runs(of);
  const int64_t phases = of.all_phases(), down = (strands.positions + Lines - 1) / Lines, across = (of.outputs + Columns - 1) / Columns;
  const int64_t tiles = phases * of.groups * down * across;
  int s = 0;
  /// Phases of one place one after the other: they read the same strands, and together fill the lines of the result.
  const auto tile_at = [&](int64_t t) { return block_tile<Group>(quotient(t, phases), down, across); };
  const auto phase_at = [&](int64_t t) { return of.phase(t - quotient(t, phases) * phases); };

  if (warp >= kWarps) {
    if constexpr (Share::kMove) prim::registers_down<Share::kFetching>();
    if (warp > kWarps || in_warp != 0) return;
    int parity = 1;
    const int64_t brick_step = strands.lines * 16, stage_step = strands.all_classes * kBricks * brick_step;
    for (int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
      const BlockTile tile = tile_at(t);
      const Phase<S> phase = phase_at(t);
      const OuterTaps<S> outer(of, phase);
      const int first = static_cast<int>(phase.first[S - 1]), outer_taps = Folded ? 1 : outer.all;
      const int along = static_cast<int>(of.taps_of(S - 1, first, of.window[S - 1]));
      const char* const run = laid + tile.batch * strands.stages * stage_step + (strands.front + tile.down * Lines) * 16;
      const char* const weights = packed + (tile.batch * across + tile.across) * weight_bytes<Math, Columns, Folded, Depths>(of) +
                                  phase.depth.begin / of.channels * strands.stages * Tile::kBytes;
      const int64_t weights_step = int64_t{outer_taps} * along * Tile::kBytes;
      for (int parted = 0; parted < 2; ++parted) {
        for (int o = 0; o < outer_taps; ++o) {
          // The outer dimensions' tap: its lines before or behind a position, and its class.
          int64_t shift = 0;
          int klass = 0, beside = 1;
          if constexpr (!Folded) {
            int rest = o;
            HONE_UNROLL
            for (int d = S - 2; d >= 0; --d) {
              const int tap = rest % outer.count[d];
              rest /= outer.count[d];
              shift += floor_quotient(outer.first[d] + tap * OuterTaps<S>::further(of, d), strands.scale[d]) * strands.step[d];
              klass += tap % strands.classes[d] * beside, beside *= strands.classes[d];
            }
          }
          int before = o * along;
          for (int c = 0; c < runs.classes; ++c) {
            const TapClass taps = runs.of_class(of, c, first);
            const int whole = taps.count / Taps * Taps;
            for (int k = parted ? whole : 0; k < (parted ? taps.count : whole); k += Taps) {
              const int count = parted ? taps.count - whole : Taps;
              const char* from = run + (int64_t{klass * strands.classes[S - 1] + c} * kBricks * strands.lines + shift +
                                        floor_quotient(taps.base, strands.scale[S - 1]) + k * Step) * 16;
              const char* weights_from = weights + int64_t{before + k} * Tile::kBytes;
              for (int64_t stage = 0; stage < strands.stages; ++stage) {
                char* const to = stages + s * kStage;
                empty[s].wait(parity);
                taps_of[s] = count;
                full[s].arrive_expecting(kRunBytes + count * Tile::kBytes);
                HONE_UNROLL
                for (int brick = 0; brick < kBricks; ++brick) full[s].bulk_copy(to + brick * kBrickLine, from + brick * brick_step, kBrickLine);
                full[s].bulk_copy(to + kRunBytes, weights_from, count * Tile::kBytes);
                from += stage_step, weights_from += weights_step;
                if (++s == Stages) s = 0, parity ^= 1;
              }
            }
            before += taps.count;
          }
        }
      }
    }
    return;
  }

  if constexpr (Share::kMove) prim::registers_up<Share::kMultiplying>();
  const int group = warp / 4;
  prim::GroupProducts products;
  int parity = 0;
  float total[kBlocks][kSums];
  for (int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
    const BlockTile tile = tile_at(t);
    const Phase<S> phase = phase_at(t);
    int last = -1, whole = 0, parted = 0;
    for (int c = 0; c < runs.classes; ++c) {
      const int taps = runs.of_class(of, c, static_cast<int>(phase.first[S - 1])).count;
      whole += taps / Taps, parted += taps % Taps != 0;
    }
    const int turns = static_cast<int>(strands.stages) * (Folded ? 1 : OuterTaps<S>(of, phase).all);
    HONE_UNROLL
    for (int b = 0; b < kBlocks; ++b)
      HONE_UNROLL
      for (int i = 0; i < kSums; ++i) total[b][i] = 0;
    const auto take = [&](auto fixed) {
      constexpr int kFixed = decltype(fixed)::kValue;
      full[s].wait(parity);
      const prim::GroupFactor left(stages + s * kStage + group * (Lines / 2) * 16, kBrickLine, 128);
      const prim::GroupFactor right(stages + s * kStage + kRunBytes, Tile::kNextDepth, 128);
      const int taps = taps_of[s];
      products.fence();
      HONE_UNROLL
      for (int b = 0; b < kBlocks; ++b)
        multiply_taps<Math, Columns, Held, Step, kFixed, Depths>(products, total[b], left.after(b * 1024), right, taps, last >= 0);
      products.commit();
      // The next stage's products are on their way before the last one's stage is handed back.
      products.template wait<1>();
      if (last >= 0 && in_warp == 0) empty[last].arrive();
      last = s;
      if (++s == Stages) s = 0, parity ^= 1;
    };
    for (int left = whole * turns; left > 0; --left) take(Number<Taps>());
    if constexpr (Each == 0 || Each % Taps != 0) {
      for (int left = parted * turns; left > 0; --left) take(Number<Each % Taps>());
    }
    products.template wait<0>();
    if (last >= 0 && in_warp == 0) empty[last].arrive();

    HONE_UNROLL
    for (int b = 0; b < kBlocks; ++b) {
      products.readable(total[b]);
      const int64_t position = tile.down * Lines + group * (Lines / 2) + b * 64 + line_of_lane();
      int64_t place[S];
      const int64_t image = strands.place(position, place);
      bool some = position < strands.positions;
      HONE_UNROLL
      for (int d = 0; d < S; ++d) some = some && place[d] < phase.extent[d];
      const int64_t pixel = of.pixel(phase, place);
      hand_over(total[b], tile.across * Columns, of.outputs, [&](int64_t channel, float sum) {
        if (some) sink(tile.batch * of.outputs + channel, image, pixel, sum);
      });
    }
  }
}

}  // namespace hone::gpu
