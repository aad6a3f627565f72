// Matrix products with a factor that is computed on its way to NVIDIA's matrix units (mma.sync, sm_80 and later): weights of a few bits,
// say, that a kernel before this one would otherwise write out in 16.
//
// Whatever the factor is computed from, it lies in memory as its writer packed it, and a lane should read words of 16 bytes there. So a
// lane has a patch of the factor: Lines lines x Run of the depth, computed in its registers and nowhere else.
//
//              depth   Run         Run         Run         Run
//            lines   +-----------+-----------+-----------+-----------+
//            Lines   | lane 0    | lane 1    | lane 2    | lane 3    |      a warp: 8 Lines lines,
//            Lines   | lane 4    | lane 5    | lane 6    | lane 7    |      4 Run of the depth
//            ...     | ...       |           |           |           |
//
// That is no order in which the units want fragments, and need not be: a sum may be taken in any order, as long as both factors agree on
// it, and lines may be any as long as the result knows which. A step of the units takes four of a lane's depths and two of its lines.
// The other factor, which is small, is brought into shared memory by asynchronous copies, each Run of its depth a little further on than
// in memory, so that lanes that read 16 bytes meet no bank twice.
//
// Where both factors have scales that are the same for a segment of the depth (f8 with a scale for each block of 128, say), the units multiply
// what is scaled, which they hold exactly, and each segment's sums are scaled as they are added up (SegmentScales).
//
// Warps share a block's work in two ways: Across of them have lines of their own, Deep of them segments of the depth, whose sums are added
// up in order at the end. Few lines of the other factor: many Deep, since all there is to do is to have memory busy. Many: Across, since
// then each element is computed once for all of them.
#pragma once
#include "hone/gpu/matmul_mma.h"
#include "hone/gpu/words.h"

namespace hone::gpu {

/// Where a patch begins, for factors of which nothing is read ahead.
struct PatchPlace {
  int64_t line, depth;
};

/// Two floats as the units take them, the first in the low half.
template <class T>
HONE_DEVICE uint32_t pair_of(float first, float second) {
  if constexpr (sizeof(T) == 2 && requires(T x) { __bfloat16_as_ushort(x); }) {
    return bf16_pair(first, second);
  } else {
#if defined(HONE_SIMT_WAVE)
    return __half_as_ushort(__float2half_rn(first)) | static_cast<uint32_t>(__half_as_ushort(__float2half_rn(second))) << 16;
#else
    const __half2 pair = __floats2half2_rn(first, second);
    return *reinterpret_cast<const uint32_t*>(&pair);
#endif
  }
}

/// Eight neighbours in the depth as the units take them, in pairs. Of one byte they become f16, which holds them exactly.
template <class T, class Stored>
HONE_DEVICE void eight_of(uint32_t (&pairs)[4], const Words<Stored, 8>& from) {
  HONE_UNROLL
  for (int n = 0; n < 4; ++n) {
    if constexpr (sizeof(Stored) == sizeof(T)) pairs[n] = reinterpret_cast<const uint32_t*>(&from)[n];
    else if constexpr (requires { typename Stored::Format; }) pairs[n] = prim::f16_pair(from[2 * n], from[2 * n + 1]);
    else pairs[n] = pair_of<T>(prim::as_float(from[2 * n]), prim::as_float(from[2 * n + 1]));
  }
}

/// Sums that are added up as they are.
struct NoScales {
  static constexpr bool kScale = false;
};
/// of_line(line, depth), of_other(line, depth): what the factors' elements there are multiplied by. The same for a warp's depths of a step.
template <class OfLine, class OfOther>
struct SegmentScales {
  static constexpr bool kScale = true;
  OfLine of_line;
  OfOther of_other;
};
template <class OfLine, class OfOther>
SegmentScales(OfLine, OfOther) -> SegmentScales<OfLine, OfOther>;

/// Lines x Depth of a factor in shared memory, Run after Run of the depth.
template <class T, int Lines, int Depth, int Run>
struct PatchTile {
  static constexpr int kSize = sizeof(T), kPad = Run * kSize > 16 ? 16 / kSize : 0, kUsed = Depth / Run * (Run + kPad);
  static constexpr int kPitch = kUsed + (192 - kUsed * kSize % 128) % 128 / kSize;   // an odd number of half lines of banks
  static constexpr int kElements = Lines * kPitch;
  T* data;
  HONE_DEVICE T* at(int line, int depth) const { return data + line * kPitch + depth + depth / Run * kPad; }
};

/// epilogue(line, other, sum) for the lines of the computed factor from `line0` on, as many as a block has, and Few lines of the other factor
/// from `other0` on. load(line, depth): what a lane holds of the patch that begins there, a multiple of Run inside the factor's depth;
/// element(held, l, d): its element, as a float that T holds. `lines`: of the computed factor; lines behind them may be loaded as any others.
/// `scales`: NoScales or SegmentScales. A block has 32 Across Deep threads. `memory`: Stages PatchTiles of the other factor, or Deep Few (8 Lines
/// Across + 4) floats where that is more, on a boundary of 16.
template <class T, int Run, int Lines, int Few, int Across, int Deep, int Stages, class Load, class Element, class Other, class Scales, class Epilogue>
HONE_DEVICE void patch_product(Load load, Element element, int64_t lines, const Other& other, const Scales& scales, int64_t line0, int64_t other0,
                               Segment depth, void* memory, Epilogue epilogue) {
  using Math = Stored16<T>;
  using Stored = typename Other::T;
  constexpr int kWord = 16 / sizeof(Stored);
  constexpr int kThreads = 32 * Across * Deep, kChunk = 4 * Run, kStep = Deep * kChunk, kBlocks = Lines / 2, kTiles = Few / 8;
  using Tile = PatchTile<Stored, Few, kStep, Run>;
  static_assert(Run % 8 == 0 && (Run % kWord == 0 || Tile::kPad == 0) && Lines % 2 == 0 && Few % 8 == 0 && Stages > 1);
  const int warp = static_cast<int>(threadIdx.x) / 32, in_warp = lane(), across = warp % Across, deep = warp / Across;
  const int r = in_warp / 4, t = in_warp % 4, in_step = deep * kChunk + t * Run;
  const int64_t line = line0 + (across * 8 + r) * Lines;

  const auto tile_of = [&](int stage) { return Tile{static_cast<Stored*>(memory) + stage * Tile::kElements}; };
  const int steps = depth.end > depth.begin ? static_cast<int>((depth.end - depth.begin + kStep - 1) / kStep) : 0;
  prim::AsyncCopies copies;
  const auto fetch = [&](int step) {
    if (step < steps)
      copy_tile<Stored, Few, kStep, kThreads, 4>(copies, other, other0, depth.begin + step * int64_t{kStep}, depth.end,
                                            [&](int l, int d) { return tile_of(step % Stages).at(l, d); });
    copies.commit();
  };
  // In place of a patch that would begin behind the depth the first one is held, of which nothing is taken.
  const auto begin_of = [&](int step) { return depth.begin + step * int64_t{kStep} + in_step; };
  const auto hold = [&](int step) { return load(line, begin_of(step) < depth.end ? begin_of(step) : 0); };

  float total[kBlocks][kTiles][4] = {};
  auto next = hold(0);
  HONE_UNROLL
  for (int step = 0; step < Stages - 1; ++step) fetch(step);
  for (int step = 0; step < steps; ++step) {
    copies.template wait<Stages - 2>();
    __syncthreads();  // the tile is there, and nobody reads any more where the next one goes
    fetch(step + Stages - 1);
    const auto held = next;
    if (step + 1 < steps) next = hold(step + 1);
    const bool inside = begin_of(step) < depth.end;
    const Tile tile = tile_of(step % Stages);
    float sums[kBlocks][kTiles][4];
    auto& sum = [&]() -> auto& {
      if constexpr (Scales::kScale) return sums;
      else return total;
    }();
    float by_line[Lines], by_other[kTiles][2];
    if constexpr (Scales::kScale) {
      const int64_t at = inside ? begin_of(step) : 0;
      HONE_UNROLL
      for (int l = 0; l < Lines; ++l) by_line[l] = scales.of_line(line + l, at);
      HONE_UNROLL
      for (int j = 0; j < 2 * kTiles; ++j) by_other[j / 2][j % 2] = scales.of_other(other0 + 8 * (j / 2) + 2 * t + j % 2, at);
      HONE_UNROLL
      for (int n = 0; n < kBlocks * kTiles * 4; ++n) sums[n / 4 / kTiles][n / 4 % kTiles][n % 4] = 0;
    }
    HONE_UNROLL
    for (int d = 0; d < Run; d += 8) {
      // For two steps of the units: both lines at the first pair of depths, then at the second one.
      const auto left_of = [&](uint32_t (&left)[2][4], int i) {
        HONE_UNROLL
        for (int n = 0; n < 8; ++n) {
          const int l = 2 * i + n % 2, at = d + n / 2 * 2;
          const uint32_t pair = pair_of<T>(element(held, l, at), element(held, l, at + 1));
          left[n / 4][n % 4] = inside ? pair : 0;
        }
      };
      const auto right_of = [&](uint32_t (&right)[4], int j) { eight_of<T>(right, *reinterpret_cast<const Words<Stored, 8>*>(tile.at(8 * j + r, in_step + d))); };
      const auto multiply = [&](int i, int j, const uint32_t (&left)[2][4], const uint32_t (&right)[4]) {
        Math::mma(sum[i][j], left[0], right[0], right[1]);
        Math::mma(sum[i][j], left[1], right[2], right[3]);
      };
      // The factor of which there is less is the one that is held.
      if constexpr (2 * kBlocks < kTiles) {
        uint32_t left[kBlocks][2][4];
        HONE_UNROLL
        for (int i = 0; i < kBlocks; ++i) left_of(left[i], i);
        HONE_UNROLL
        for (int j = 0; j < kTiles; ++j) {
          uint32_t right[4];
          right_of(right, j);
          HONE_UNROLL
          for (int i = 0; i < kBlocks; ++i) multiply(i, j, left[i], right);
        }
      } else {
        uint32_t right[kTiles][4];
        HONE_UNROLL
        for (int j = 0; j < kTiles; ++j) right_of(right[j], j);
        HONE_UNROLL
        for (int i = 0; i < kBlocks; ++i) {
          uint32_t left[2][4];
          left_of(left, i);
          HONE_UNROLL
          for (int j = 0; j < kTiles; ++j) multiply(i, j, left, right[j]);
        }
      }
    }
    if constexpr (Scales::kScale) {
      HONE_UNROLL
      for (int i = 0; i < kBlocks; ++i)
        HONE_UNROLL
        for (int j = 0; j < kTiles; ++j)
          HONE_UNROLL
          for (int e = 0; e < 4; ++e)
            if (inside) total[i][j][e] += sums[i][j][e] * (by_line[2 * i + e / 2] * by_other[j][e % 2]);
    }
  }
  copies.template wait<0>();
  __syncthreads();

  // Through shared memory: what warps have of the depth is added up, and neighbouring threads hand over neighbouring lines.
  constexpr int kLines = 8 * Lines * Across, kPitch = kLines + 4;
  float* const parts = static_cast<float*>(memory);
  HONE_UNROLL
  for (int i = 0; i < kBlocks; ++i)
    HONE_UNROLL
    for (int j = 0; j < kTiles; ++j)
      HONE_UNROLL
      for (int e = 0; e < 4; ++e)
        parts[(deep * Few + 8 * j + 2 * t + e % 2) * kPitch + (across * 8 + r) * Lines + 2 * i + e / 2] = total[i][j][e];
  __syncthreads();
  for (int n = static_cast<int>(threadIdx.x); n < Few * kLines; n += kThreads) {
    const int l = n % kLines, o = n / kLines;
    if (line0 + l >= lines || other0 + o >= other.lines) continue;
    float sum = 0;
    HONE_UNROLL
    for (int part = 0; part < Deep; ++part) sum += parts[(part * Few + o) * kPitch + l];
    epilogue(line0 + l, other0 + o, sum);
  }
}

}  // namespace hone::gpu
