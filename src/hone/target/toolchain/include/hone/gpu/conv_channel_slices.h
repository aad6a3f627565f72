// Convolutions whose input lies in *channel slices*: 16 bytes of channels of one position after the other, the zeros around the edges
// among them. There a convolution is a product without any edge, stride or dilation: for a tap, the left factor of a block's run
// of positions is the same piece of memory, some lines further on.
//
//   channel slice of 8 channels, f16, one dimension of space, pad 1      ..|0|x0 x1 x2 … x(W-1)|0|x0 x1 … the next row or image
//   position p under tap k reads line p + k - 1                      one zero serves the end of a row and the beginning of the next
//
// Under a stride s a channel slice holds every s-th element: there is one for each *class* of taps (those that are a multiple of s apart,
// as conv_runs.h has them along the last dimension), in each dimension of space. So whatever the convolution, a stage in shared
// memory is a few bulk copies, which one thread asks for, and what the units read there are core matrices, as they lie. Transposed, the
// phases of the result read the same channel slices under taps of their own.
//
// Positions are numbered as the channel slices' lines are, rows with their zeros: the sums of those between the rows go nowhere (of rows
// of 56 under a window of three 1.8 %).
//
// A block lives as long as the launch: while two groups of warps hand over the sums of a tile, the copies for the next one are on
// their way.
#pragma once
#include "hone/gpu/conv_slice_layout.h"
#include "hone/gpu/conv_words.h"

namespace hone::gpu {

/// one(image, channel, element of the channel's plane, sum), or many(…, kWord sums beside each other) where that is one phase and they
/// are, for all of the result, tiles of Lines positions and Columns output channels of a group at a time. channel slices: of lay_slices;
/// packed: of pack_runs<Math, Columns, Folded, Depths>. `memory`: Stages times 16 Depths / Math::kBeside (Held + Taps Columns) bytes on a
/// boundary of 128, and with words two ChannelPiece<Lines / 2, Columns>. Held: lines of a stage, Lines + (Taps - 1) Step at least.
/// Step: of RunTaps; Each: taps of every class that has any, 0 where they differ. A block has 384 threads and shares a multiprocessor
/// with Blocks - 1 others: __launch_bounds__(384, Blocks).
///
/// Stages that serve Taps taps come first, then those of what classes have left over, Taps - 1 down to 1: so that no product stands in
/// a loop or behind a branch that the compiler would have it wait at.
template <class Math, int Lines, int Held, int Columns, int Taps, int Step, int Each, int Depths, int Stages, int Blocks, int Group, bool OnePhase,
          bool Folded, int S, class One, class Many>
HONE_DEVICE void slice_product(const Convolution<S>& of, const ChannelSlices<S, Folded, Depths>& slices, const char* laid, const char* packed, void* memory, One one,
                                Many many) {
  using Tile = WeightTile<Math, Columns, Depths>;
  constexpr int kWarps = 8, kBlocks = Lines / 128, kSums = Columns / 2, kCores = Depths / Math::kBeside;
  constexpr int kCoreLine = Held * 16, kRunBytes = kCores * kCoreLine, kStage = kRunBytes + Taps * Tile::kBytes;
  static_assert(Math::kParts == 1 && Lines % 128 == 0 && Held >= Lines + (Taps - 1) * Step && Held % 8 == 0 && Stages >= 2);
  using Share = GroupRegisters<2, Blocks, 40>;
  __shared__ prim::PhaseBarrier full[Stages], empty[Stages], met[2];
  if (threadIdx.x == 0) {
    for (int s = 0; s < Stages; ++s) full[s].init(1), empty[s].init(kWarps);
    for (int group = 0; group < 2; ++group) met[group].init(kWarps / 2);
  }
  __syncthreads();

  char* const stages = static_cast<char*>(memory);
  const int warp = static_cast<int>(threadIdx.x) / 32, in_warp = lane();
  const RunTaps<S> runs(of);
  const int64_t phases = of.all_phases(), down = (slices.positions + Lines - 1) / Lines, across = (of.outputs + Columns - 1) / Columns;
  const int64_t tiles = phases * of.groups * down * across;
  int s = 0;
  const auto times_of = [](const TapClass& taps, int served) { return served == Taps ? taps.count / Taps : static_cast<int>(taps.count % Taps == served); };
  /// Phases of one place one after the other: they read the same channel slices, and together fill the lines of the result.
  const auto tile_at = [&](int64_t t) { return block_tile<Group>(quotient(t, phases), down, across); };
  const auto phase_at = [&](int64_t t) { return of.phase(t - quotient(t, phases) * phases); };

  if (warp >= kWarps) {
    if constexpr (Share::kMove) prim::registers_down<Share::kFetching>();
    if (warp > kWarps || in_warp != 0) return;
    int parity = 1;
    const int64_t core_step = slices.lines * 16, stage_step = slices.all_classes * kCores * core_step;
    for (int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
      const BlockTile tile = tile_at(t);
      const Phase<S> phase = phase_at(t);
      const OuterTaps<S> outer(of, phase);
      const int first = static_cast<int>(phase.first[S - 1]), outer_taps = Folded ? 1 : outer.all;
      const int along = static_cast<int>(of.taps_of(S - 1, first, of.window[S - 1]));
      const char* const run = laid + tile.batch * slices.stages * stage_step + (slices.front + tile.down * Lines) * 16;
      const char* const weights = packed + (tile.batch * across + tile.across) * weight_bytes<Math, Columns, Folded, Depths>(of) +
                                  phase.depth.begin / of.channels * slices.stages * Tile::kBytes;
      const int64_t weights_step = int64_t{outer_taps} * along * Tile::kBytes;
      for (int served = Taps; served > 0; --served) {
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
              shift += floor_of_ratio(outer.first[d] + tap * OuterTaps<S>::further(of, d), slices.scale[d]) * slices.step[d];
              klass += tap % slices.classes[d] * beside, beside *= slices.classes[d];
            }
          }
          int before = o * along;
          for (int c = 0; c < runs.classes; ++c) {
            const TapClass taps = runs.of_class(of, c, first);
            const int first_of = served == Taps ? 0 : taps.count / Taps * Taps;
            for (int n = times_of(taps, served), k = first_of; n > 0; --n, k += Taps) {
              const char* from = run + (int64_t{klass * slices.classes[S - 1] + c} * kCores * slices.lines + shift +
                                        floor_of_ratio(taps.base, slices.scale[S - 1]) + k * Step) * 16;
              const char* weights_from = weights + int64_t{before + k} * Tile::kBytes;
              for (int64_t stage = 0; stage < slices.stages; ++stage) {
                char* const to = stages + s * kStage;
                empty[s].wait(parity);
                full[s].arrive_expecting(kRunBytes + served * Tile::kBytes);
                HONE_UNROLL
                for (int core = 0; core < kCores; ++core) full[s].bulk_copy(to + core * kCoreLine, from + core * core_step, kCoreLine);
                full[s].bulk_copy(to + kRunBytes, weights_from, served * Tile::kBytes);
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
  int parity = 0, met_parity = 0;
  float total[kBlocks][kSums];
  for (int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
    const BlockTile tile = tile_at(t);
    const Phase<S> phase = phase_at(t);
    int last = -1;
    const int turns = static_cast<int>(slices.stages) * (Folded ? 1 : OuterTaps<S>(of, phase).all);
    HONE_UNROLL
    for (int b = 0; b < kBlocks; ++b)
      HONE_UNROLL
      for (int i = 0; i < kSums; ++i) total[b][i] = 0;
    const auto take = [&](auto served) {
      full[s].wait(parity);
      const prim::GroupFactor left(stages + s * kStage + group * (Lines / 2) * 16, kCoreLine, 128);
      const prim::GroupFactor right(stages + s * kStage + kRunBytes, Tile::kNextDepth, 128);
      products.fence();
      HONE_UNROLL
      for (int b = 0; b < kBlocks; ++b)
        multiply_taps<Math, Columns, Held, Step, decltype(served)::kValue, Depths>(products, total[b], left.after(b * 1024), right, 0, last >= 0);
      products.commit();
      // The next stage's products are on their way before the last one's stage is handed back.
      products.template wait<1>();
      if (last >= 0 && in_warp == 0) empty[last].arrive();
      last = s;
      if (++s == Stages) s = 0, parity ^= 1;
    };
    const auto take_all = [&](auto served) {
      constexpr int kServed = decltype(served)::kValue;
      if constexpr (Each > 0 && (kServed == Taps ? Each < Taps : Each % Taps != kServed)) return;
      int times = 0;
      for (int c = 0; c < runs.classes; ++c) times += times_of(runs.of_class(of, c, static_cast<int>(phase.first[S - 1])), kServed);
      for (int left = times * turns; left > 0; --left) take(served);
    };
    static_assert(Taps <= 4);
    if constexpr (Taps > 3) take_all(Number<4>());
    if constexpr (Taps > 2) take_all(Number<3>());
    if constexpr (Taps > 1) take_all(Number<2>());
    take_all(Number<1>());
    products.template wait<0>();
    if (last >= 0 && in_warp == 0) empty[last].arrive();

    HONE_UNROLL
    for (int b = 0; b < kBlocks; ++b) products.readable(total[b]);
    const int64_t begin = tile.down * Lines + group * (Lines / 2), channel0 = tile.batch * of.outputs + tile.across * Columns;
    if constexpr (OnePhase) {
      const PositionBand<kBlocks> band(begin, [&](int64_t position, bool& inside) { return slices.element(of, position, inside); });
      float* const piece = reinterpret_cast<float*>(stages + Stages * kStage) + group * ChannelPiece<Lines / 2, Columns>::kFloats;
      const auto meet = [&] {
        __syncwarp();
        if (in_warp == 0) met[group].arrive();
        met[group].wait(met_parity), met_parity ^= 1;
      };
      hand_over_words<Columns, Blocks == 1 ? 4 : 2>(total, band, Convolution<S>::product(of.y), channel0, (tile.batch + 1) * of.outputs, piece, meet, one, many);
    } else {
      HONE_UNROLL
      for (int b = 0; b < kBlocks; ++b) {
        const int64_t position = begin + b * 64 + line_of_lane();
        int64_t place[S];
        const int64_t image = slices.place(position, place);
        bool some = position < slices.positions;
        HONE_UNROLL
        for (int d = 0; d < S; ++d) some = some && place[d] < phase.extent[d];
        const int64_t pixel = of.pixel(phase, place);
        hand_over(total[b], channel0, (tile.batch + 1) * of.outputs, [&](int64_t channel, float sum) {
          if (some) one(image, channel, pixel, sum);
        });
      }
    }
  }
}

}  // namespace hone::gpu
