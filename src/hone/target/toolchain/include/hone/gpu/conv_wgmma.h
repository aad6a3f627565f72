// Convolutions on Hopper's matrix units (wgmma, sm_90a) that read each element of x once for several taps.
//
// Rows of the product are positions of the result, columns are output channels, the depth is taps times channels. In shared
// memory x lies as the units read a factor without swizzle: 16 bytes of channels a position, one position after the other. So
// the same segment of positions, read from one position further on, is the factor of the next tap along the last dimension:
// a stage holds 16 channels of a *run* of positions and serves up to Taps taps of them. Of few channels (an image's three) the
// taps of the other dimensions are depths beside them: 16 pairs of a channel and such a tap.
//
// Positions of all images are numbered in rows that are longer than the result's by what a run's taps reach beyond them, so
// that a position and its taps are neighbours in the run; the sums of the positions between the rows go nowhere, nor do the
// last ones of a block's run, which lack neighbours.
//
// Two groups of warps multiply; one or two more fetch: they read x with the edges that it lacks, turn it into the units'
// numbers (hone/gpu/matmul_wgmma.h: how the accuracy is kept) and write it into shared memory, while the weights, which a
// launch before has laid out, come by bulk copies.
#pragma once
#include "hone/gpu/conv_runs.h"

namespace hone::gpu {

/// A number that a lambda gets as a type.
template <int Value>
struct Number {
  static constexpr int kValue = Value;
};

/// Onto `sums`, or onto what they were where `more`: the products of 64 positions with the weights of `taps` taps, Fixed of them
/// where that is not 0: then no branch comes between products on their way, which would wait for each other there. A core matrix of the
/// positions has Lines of them, a stage Depths.
template <class Math, int Columns, int Lines, int Step, int Fixed, int Depths = kRunDepths, int Sums>
HONE_DEVICE void multiply_taps(prim::GroupProducts& products, float (&sums)[Sums], const prim::GroupFactor& left,
                               const prim::GroupFactor& right, int taps, bool more) {
  using Tile = WeightTile<Math, Columns, Depths>;
  using Pairs = Products<Math::kParts>;
  constexpr int kCoreLine = Lines * 16, kPart = Depths / Math::kBeside * kCoreLine;
  const auto multiply = [&](int p, int tap) {
    HONE_UNROLL
    for (int step = 0; step < Tile::kSteps; ++step)
      products.template multiply<Math::kType>(
          sums, left.after(Pairs::left(p) * kPart + 2 * step * kCoreLine + tap * Step * 16),
          right.after(tap * Tile::kBytes + Pairs::right(p) * Tile::kPart + 2 * step * Tile::kNextDepth), more || p + tap + step > 0);
  };
  HONE_UNROLL
  for (int p = 0; p < Pairs::kCount; ++p) {
    if constexpr (Fixed > 0) {
      HONE_UNROLL
      for (int tap = 0; tap < Fixed; ++tap) multiply(p, tap);
    } else {
      HONE_UNROLL_BY(1)
      for (int tap = 0; tap < taps; ++tap) multiply(p, tap);
    }
  }
}

/// Of the 64 positions that a group of warps sums, the one whose sums this thread hands over.
HONE_DEVICE int line_of_lane() { return static_cast<int>(threadIdx.x) / 32 % 4 * 16 + lane() / 4 + lane() % 2 * 8; }
/// epilogue(output channel, sum) for a quarter of the channels from `first` on that are below `outputs`, of the position line_of_lane().
template <int Sums, class Epilogue>
HONE_DEVICE void hand_over(const float (&sums)[Sums], int64_t first, int64_t outputs, Epilogue epilogue) {
  // Lanes 2 k and 2 k + 1 exchange, so that each has four channels of one position, and a warp stores 16 positions side by side.
  const bool odd = lane() % 2 != 0;
  HONE_UNROLL
  for (int j = 0; j < Sums; j += 4) {
    const float one = __shfl_xor_sync(0xffffffffu, odd ? sums[j] : sums[j + 2], 1);
    const float other = __shfl_xor_sync(0xffffffffu, odd ? sums[j + 1] : sums[j + 3], 1);
    const float mine[4] = {odd ? one : sums[j], odd ? other : sums[j + 1], odd ? sums[j + 2] : one, odd ? sums[j + 3] : other};
    const int64_t channel = afresh(first + j / 4 * 8 + lane() % 4 / 2 * 4);
    HONE_UNROLL
    for (int c = 0; c < 4; ++c)
      if (channel + c < outputs) epilogue(channel + c, mine[c]);
  }
}

/// Registers of a thread, of `Blocks` blocks that share a multiprocessor: what a launch gives each, whoever it is, and what is made
/// of that for those who multiply, with Sums sums, and for those who fetch. All are multiples of eight.
template <int Sums, int Fetchers, int Blocks>
struct RunRegisters {
  static constexpr int kLaunched = 65536 / (Blocks * 128 * (2 + Fetchers)) / 8 * 8, kAll = kLaunched * (2 + Fetchers);
  static constexpr int kLeast = Fetchers == 1 ? 48 : 40;
  static constexpr int kMost = (kAll - Fetchers * kLeast) / 16 * 8 < 216 ? (kAll - Fetchers * kLeast) / 16 * 8 : 216;
  static constexpr int kWanted = Sums > 96 ? 216 : (Sums + 64) / 8 * 8;
  static constexpr int kMultiplying = kWanted < kLaunched ? kLaunched : kWanted < kMost ? kWanted : kMost;
  static constexpr int kRest = (kAll - 2 * kMultiplying) / Fetchers / 8 * 8, kFetching = kRest < kLaunched ? kRest : kLaunched;
  static_assert(kFetching >= 24 && 2 * kMultiplying + Fetchers * kFetching <= kAll);
};

/// epilogue(output channel, image, element of the channel's plane, sum) for tile `n` of the result: Lines positions and Columns output
/// channels, of groups' channels counted on. packed: of pack_runs<Math, Columns>.
/// `memory`: Stages times 16 * kRunDepths / Math::kBeside * Math::kParts * (Lines + Taps * Columns) bytes, on a boundary of 128.
/// Step: of RunTaps; Each: taps of every class that has any, 0 where they differ. A block has 256 + 128 Fetchers threads and shares a
/// multiprocessor with Blocks - 1 others: __launch_bounds__(256 + 128 * Fetchers, Blocks). Folded: FoldedDepth::kMost depths at most.
template <class Math, int Lines, int Columns, int Taps, int Step, int Each, bool Folded, int Stages, int Fetchers, int Blocks, int Group, int S, class T,
          class Epilogue>
HONE_DEVICE void run_product(const Convolution<S>& of, int64_t n, const T* x, const char* packed, void* memory, Epilogue epilogue) {
  using Tile = WeightTile<Math, Columns>;
  using ThisRun = Run<S, Lines, Taps, Step>;
  constexpr int kWarps = 8, kBlocks = Lines / 128, kSums = Columns / 2, kEach = Math::kBeside, kCores = kRunDepths / kEach;
  constexpr int kCoreLine = Lines * 16, kPart = kCores * kCoreLine, kRunBytes = Math::kParts * kPart, kStage = kRunBytes + Taps * Tile::kBytes;
  static_assert(Lines % (128 * Fetchers) == 0 && Stages >= 2 && (Fetchers == 1 || Fetchers == 2));
  static_assert((Taps - 1) * Step * 16 <= Tile::kBytes, "the last lines' taps read what follows the run, and nobody their sums");
  using Share = RunRegisters<kBlocks * kSums + (Math::kParts > 1 ? kSums : 0), Fetchers, Blocks>;
  __shared__ prim::PhaseBarrier full[Stages], empty[Stages];
  __shared__ int taps_of[Stages];
  const RunTile<S, ThisRun> tile = run_tile<ThisRun, Columns, Group>(of, n);
  if (tile.run.empty()) return;
  const RunWeights<Folded, S> depths(of);
  __shared__ FoldedDepth<S> folded[Folded ? FoldedDepth<S>::kMost : 1];
  if constexpr (Folded) {
    const OuterTaps<S> outer(of, tile.phase);
    for (int d = static_cast<int>(threadIdx.x); d < depths.stages * kRunDepths; d += 256 + 128 * Fetchers) folded[d] = FoldedDepth<S>::of_number(of, outer, d);
  }
  // Each warp has written its lines; a thread says that the weights are on their way.
  if (threadIdx.x == 0)
    for (int s = 0; s < Stages; ++s) full[s].init(4 * Fetchers + 1), empty[s].init(kWarps);
  __syncthreads();

  char* const stages = static_cast<char*>(memory);
  const int warp = static_cast<int>(threadIdx.x) / 32, in_warp = lane();
  const RunTaps<S> runs(of);
  // How often runs of all classes are fetched.
  const int turns = static_cast<int>(depths.stages) * (Folded ? 1 : OuterTaps<S>(of, tile.phase).all);

  if (warp >= kWarps) {
    prim::registers_down<Share::kFetching>();
    constexpr int kThreads = 128 * Fetchers;
    using Reader = RunReader<T, S, Lines, kThreads>;
    const int thread = static_cast<int>(threadIdx.x) - kWarps * 32;
    const int64_t plane = Convolution<S>::product(of.x);
    int s = 0, parity = 1;
    const OuterTaps<S> outer(of, tile.phase);
    const Reader lines(of, tile.phase, runs, tile.run, x + tile.group * of.plane(), thread);
    const int64_t across = (of.outputs + Columns - 1) / Columns;
    const int64_t all_depths = of.channels * depths.outer;
    const int first = static_cast<int>(tile.phase.first[S - 1]);
    const char* weights = packed + (tile.group * across + tile.across) * weight_bytes<Math, Columns, Folded>(of) +
                          tile.phase.depth.begin / of.channels * depths.stages * Tile::kBytes;
    /// Stage s: depths from depth0 on, for `count` taps, of all taps from `number` on, of which the first sees `shift` and `base`.
    const auto fetch = [&](int depth0, const RunShift<S>& shift, int base, int number, int count) {
      const int64_t offset = Folded ? base : shift.offset + base + depth0 * plane;
      const int here = all_depths - depth0 < kRunDepths ? static_cast<int>(all_depths - depth0) : kRunDepths;
      constexpr int kAtOnce = Fetchers == 2 || Reader::kMine < 2 ? 1 : 2;  // as there are registers
      HONE_UNROLL
      for (int i0 = 0; i0 < Reader::kMine; i0 += kAtOnce) {
        T numbers[kAtOnce][kCores][kEach];
        HONE_UNROLL
        for (int i = 0; i < kAtOnce; ++i) {
          // No branch comes between the reads, so that all are on their way at a time; what lies outside is x's first element.
          uint32_t real = 0;
          const bool along = lines.inside_last(i0 + i, of, base);
          if constexpr (Folded) {
            HONE_UNROLL
            for (int c = 0; c < kRunDepths; ++c) {
              const FoldedDepth<S>& depth = folded[depth0 + c];
              const bool inside = along && lines.inside(i0 + i, of, depth.shift);
              numbers[i][c / kEach][c % kEach] = *(inside ? lines.origin[i0 + i] + (offset + depth.offset) : x);
              real |= static_cast<uint32_t>(inside && c < here) << c;
            }
          } else {
            const bool inside = along && lines.inside(i0 + i, of, shift.shift);
            const T* from = inside ? lines.origin[i0 + i] + offset : x;
            const int64_t next = inside ? plane : 0;
            HONE_UNROLL
            for (int c = 0; c < kRunDepths; ++c) {
              numbers[i][c / kEach][c % kEach] = *from;
              if (c + 1 < here) from += next;
            }
            real = inside ? (1u << here) - 1 : 0;
          }
          HONE_UNROLL
          for (int c = 0; c < kRunDepths; ++c)
            if ((real >> c & 1) == 0) numbers[i][c / kEach][c % kEach] = T(0.0f);
        }
        if (i0 == 0) empty[s].wait(parity);
        HONE_UNROLL
        for (int i = 0; i < kAtOnce; ++i) {
          HONE_UNROLL
          for (int core = 0; core < kCores; ++core) {
            uint4 parts[Math::kParts];
            Math::split(numbers[i][core], parts);
            char* const to = stages + s * kStage + core * kCoreLine + (thread + (i0 + i) * kThreads) * 16;
            HONE_UNROLL
            for (int part = 0; part < Math::kParts; ++part) *reinterpret_cast<uint4*>(to + part * kPart) = parts[part];
          }
        }
      }
      prim::async_fence();
      __syncwarp();
      if (in_warp == 0) full[s].arrive();
      if (thread == 0) {
        taps_of[s] = count;
        full[s].arrive_expecting(count * Tile::kBytes);
        full[s].bulk_copy(stages + s * kStage + kRunBytes, weights + number * int64_t{Tile::kBytes}, count * Tile::kBytes);
      }
    };
    const int along = static_cast<int>(of.taps_of(S - 1, first, of.window[S - 1]));
    for (int rest = 0; rest < 2; ++rest) {
      for (int turn = 0; turn < turns; ++turn) {
        const int stage = Folded ? turn : turn / outer.all;
        const RunShift<S> shift(of, outer, Folded ? 0 : turn - stage * outer.all);
        int before = turn * along;
        for (int c = 0; c < runs.classes; ++c) {
          const TapClass taps = runs.of_class(of, c, first);
          const int whole = taps.count / Taps * Taps;
          for (int k = rest ? whole : 0; k < (rest ? taps.count : whole); k += Taps) {
            fetch(stage * kRunDepths, shift, taps.base + k * runs.scale * Step, before + k, rest ? taps.count - whole : Taps);
            if (++s == Stages) s = 0, parity ^= 1;
          }
          before += taps.count;
        }
      }
    }
    return;
  }

  prim::registers_up<Share::kMultiplying>();
  const int group = warp / 4;
  prim::GroupProducts products;
  int s = 0, parity = 0, last = -1, whole = 0, parted = 0;
  for (int c = 0; c < runs.classes; ++c) {
    const int taps = runs.of_class(of, c, static_cast<int>(tile.phase.first[S - 1])).count;
    whole += taps / Taps, parted += taps % Taps != 0;
  }
  float total[kBlocks][kSums] = {};
  const auto take = [&](auto fixed) {
    constexpr int kFixed = decltype(fixed)::kValue;
    full[s].wait(parity);
    const prim::GroupFactor left(stages + s * kStage + group * (Lines / 2) * 16, kCoreLine, 128);
    const prim::GroupFactor right(stages + s * kStage + kRunBytes, Tile::kNextDepth, 128);
    const int taps = taps_of[s];
    int done = s;
    if constexpr (Math::kParts == 1) {
      products.fence();
      HONE_UNROLL
      for (int b = 0; b < kBlocks; ++b)
        multiply_taps<Math, Columns, Lines, Step, kFixed>(products, total[b], left.after(b * 1024), right, taps, last >= 0);
      products.commit();
      // The next stage's products are on their way before the last one's stage is handed back.
      products.template wait<1>();
      done = last, last = s;
    } else {
      // While one group adds up, the units work for the other.
      HONE_UNROLL
      for (int b = 0; b < kBlocks; ++b) {
        float sums[kSums];
        products.fence();
        multiply_taps<Math, Columns, Lines, Step, kFixed>(products, sums, left.after(b * 1024), right, taps, false);
        products.commit();
        products.template wait<0>(sums);
        HONE_UNROLL
        for (int i = 0; i < kSums; ++i) total[b][i] += sums[i];
      }
    }
    if (done >= 0 && in_warp == 0) empty[done].arrive();
    if (++s == Stages) s = 0, parity ^= 1;
  };
  for (int left = whole * turns; left > 0; --left) take(Number<Taps>());
  if constexpr (Each == 0 || Each % Taps != 0) {
    for (int left = parted * turns; left > 0; --left) take(Number<Each % Taps>());
  }
  if constexpr (Math::kParts == 1) products.template wait<0>();
  HONE_UNROLL
  for (int b = 0; b < kBlocks; ++b) {
    if constexpr (Math::kParts == 1) products.readable(total[b]);
    int64_t image = 0, pixel = 0;
    const bool some = tile.run.find(of, tile.phase, group * (Lines / 2) + b * 64 + line_of_lane(), image, pixel);
    hand_over(total[b], tile.across * Columns, of.outputs, [&](int64_t channel, float sum) {
      if (some) epilogue(tile.group * of.outputs + channel, image, pixel, sum);
    });
  }
}

}  // namespace hone::gpu
