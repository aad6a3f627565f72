// A block's tile of a product on Hopper's matrix units (wgmma, sm_90a), with the accuracy of fp32 where the factors are split.
//
// A launch before writes each factor in the numbers that the units take, as parts whose sum is the factor or as the nearest
// number, and lays them out as the units want them in shared memory, so that what a block needs of a segment of the depth is
// one piece of memory, fetched by one bulk copy. Strides, transposes, odd sizes and edges end there: the product knows none.
// One warp fetches; groups of four warps multiply, 64 rows each.
//
//   GroupBf16<3>  three bf16 parts of a float, high + middle + low = all 24 bits
//   GroupTf32, GroupBf16<1>, Group16<T>  one product: 2^-11, 2^-8, or exact factors of 16 bits; the units sum all of the depth
//
// Of three parts six of the nine products matter. Those that are small are summed first; after each tile the sums go from the
// units, which cut where additions round, to sums kept by ordinary additions. In units of 2^-24 of the products' magnitudes:
// what is left out costs at most 2, the cuts Depth / 8, and the additions what depth / Depth of them in a row cost, or with two
// levels 16 and depth / Depth / 16. That is what matters where the products have one sign: at 4096 of the depth in tiles of 32 it
// was 2.7 in the mean (rms) on an H200, 0.08 on factors of both signs.
// Elements beyond 3.38e38 (half a unit of bf16 below the largest float) come out as NaN.
#pragma once
#include "hone/gpu/matmul_mma.h"
#include "hone/gpu/prim.h"
#include "hone/gpu/prim_float8.h"
#include "hone/gpu/words.h"

namespace hone::gpu {

// How numbers reach the units. T: in memory; kBeside: numbers of the units in 16 bytes; split() gives them, part after part.

/// Floats as sums of Parts bf16 numbers.
template <int Parts>
struct GroupBf16 {
  using T = float;
  static constexpr prim::GroupType kType = prim::GroupType::kBf16;
  static constexpr int kParts = Parts, kBeside = 8;
  HONE_DEVICE static void split(float (&x)[8], uint4 (&parts)[Parts]) {
    HONE_UNROLL
    for (int part = 0; part < Parts; ++part) {
      uint32_t pairs[4];
      HONE_UNROLL
      for (int i = 0; i < 4; ++i) {
        pairs[i] = bf16_pair(x[2 * i], x[2 * i + 1]);
        x[2 * i] -= __uint_as_float(pairs[i] << 16);
        x[2 * i + 1] -= __uint_as_float(pairs[i] & 0xffff0000u);
      }
      parts[part] = make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
    }
  }
};
/// Floats rounded to TF32.
struct GroupTf32 {
  using T = float;
  static constexpr prim::GroupType kType = prim::GroupType::kTf32;
  static constexpr int kParts = 1, kBeside = 4;
  HONE_DEVICE static void split(float (&x)[4], uint4 (&parts)[1]) {
    parts[0] = make_uint4(prim::to_tf32(x[0]), prim::to_tf32(x[1]), prim::to_tf32(x[2]), prim::to_tf32(x[3]));
  }
};
/// Numbers of 16 bits, as they are or as they hold floats of one byte and i8.
HONE_DEVICE constexpr prim::GroupType type_of(const bf16*) { return prim::GroupType::kBf16; }
HONE_DEVICE constexpr prim::GroupType type_of(const f16*) { return prim::GroupType::kF16; }
HONE_DEVICE constexpr prim::GroupType type_of(const f8e4m3*) { return prim::GroupType::kE4M3; }
HONE_DEVICE constexpr prim::GroupType type_of(const f8e5m2*) { return prim::GroupType::kE5M2; }
HONE_DEVICE constexpr prim::GroupType type_of(const int8_t*) { return prim::GroupType::kI8; }
template <class T_>
struct Group16 {
  using T = T_;
  static constexpr prim::GroupType kType = type_of(static_cast<const T*>(nullptr));
  static constexpr int kParts = 1, kBeside = 8;
  HONE_DEVICE static void split(T (&x)[8], uint4 (&parts)[1]) { __builtin_memcpy(&parts[0], x, 16); }
};

/// How the parts of a factor lie for tiles of Lines x Depth: tile after tile along the depth, then the next lines; in a tile
/// part after part, in a part [16 bytes of depth][line], which is core matrices (prim::GroupFactor).
template <class Math, int Lines, int Depth>
struct PartsTile {
  static constexpr int kNumber = 16 / Math::kBeside, kNextDepth = Lines * 16, kNextLines = 128, kPart = Lines * Depth * kNumber;
  static constexpr int kBytes = Math::kParts * kPart, kSteps = Depth / (2 * Math::kBeside);
  static_assert(Lines % 8 == 0 && Depth % (2 * Math::kBeside) == 0);
};

/// Bytes of the parts of `lines` x `depth`, padded to whole tiles.
template <class Math, int Lines, int Depth>
HONE_DEVICE int64_t parts_bytes(int64_t lines, int64_t depth) {
  return (lines + Lines - 1) / Lines * ((depth + Depth - 1) / Depth) * PartsTile<Math, Lines, Depth>::kBytes;
}

/// Lines and depth that a block of split_factor takes, and its threads.
constexpr int kSplitLines = 64, kSplitDepth = 32, kSplitThreads = 256;
template <int Lines, int Depth>
HONE_DEVICE int64_t split_blocks(int64_t lines, int64_t depth) {
  const int64_t deep = (depth + Depth - 1) / Depth * Depth;
  return (lines + Lines - 1) / Lines * (Lines / kSplitLines) * ((deep + kSplitDepth - 1) / kSplitDepth);
}

template <class A, class B>
inline constexpr bool kSame = false;
template <class A>
inline constexpr bool kSame<A, A> = true;
/// A number as it is kept in memory, as T, which holds it exactly.
template <class T, class From>
HONE_DEVICE T number(From x) {
  if constexpr (kSame<T, From>) return x;
  else return static_cast<T>(prim::as_float(x));
}

/// Block `block` of split_blocks: its piece of the factor in parts, zeros beyond the factor's edges. `parts`: parts_bytes.
/// SideBySide: neighbours in depth are neighbours in memory.
template <class Math, int Lines, int Depth, bool SideBySide, class F>
HONE_DEVICE void split_factor(const F& factor, int64_t depth, int64_t block, void* parts) {
  using Tile = PartsTile<Math, Lines, Depth>;
  using T = typename Math::T;
  using From = typename F::T;
  constexpr int kEach = Math::kBeside;
  static_assert(Lines % kSplitLines == 0);
  const int64_t tiles = (depth + Depth - 1) / Depth, across = (tiles * Depth + kSplitDepth - 1) / kSplitDepth;
  // A warp writes 128 bytes side by side or more, and reads what is likely to lie side by side: eight of the depth a thread.
  const int thread = static_cast<int>(threadIdx.x), in_warp = thread % 32;
  const int64_t line = block / across * kSplitLines + (F::kAlongDepth ? thread / 32 * 8 + in_warp % 8 : thread % kSplitLines);
  const int64_t first = block % across * kSplitDepth + (F::kAlongDepth ? in_warp / 8 : thread / kSplitLines) * 8;
  HONE_UNROLL
  for (int64_t begin = first; begin < first + 8; begin += kEach) {
    if (begin >= tiles * Depth) return;
    Words<From, kEach> given = {};
    if (line < factor.lines && begin < depth) {
      const From* const from = factor.base + factor.line_at(line);
      const From* const first_of = from + factor.depth_at(begin);
      if (SideBySide && begin + kEach <= depth && reinterpret_cast<uintptr_t>(first_of) % given.kWord == 0) {
        given = Words<From, kEach>::load(first_of);
      } else {
        HONE_UNROLL
        for (int i = 0; i < kEach; ++i)
          if (begin + i < depth) given[i] = from[factor.depth_at(begin + i)];
      }
    }
    T x[kEach];
    HONE_UNROLL
    for (int i = 0; i < kEach; ++i) x[i] = number<T>(given[i]);
    uint4 split[Math::kParts];
    Math::split(x, split);
    char* const tile = static_cast<char*>(parts) + (line / Lines * tiles + begin / Depth) * Tile::kBytes;
    char* const to = tile + begin % Depth / kEach * Tile::kNextDepth + line % Lines * 16;
    HONE_UNROLL
    for (int part = 0; part < Math::kParts; ++part) *reinterpret_cast<uint4*>(to + part * Tile::kPart) = split[part];
  }
}

/// Threads of a block that makes tiles of so many rows: a group for every 64, and one of which a thread fetches (the driver allots
/// registers to whole groups).
constexpr int group_threads(int rows) { return (rows / 64 + 1) * 128; }

/// Registers of a thread where `Groups` groups multiply and `Blocks` blocks share a multiprocessor, as launched and as those who
/// multiply have in the end: of what a block is launched with, whoever fetches keeps little.
template <int Groups, int Blocks, int Fetching = 24>
struct GroupRegisters {
  static constexpr int kLaunched = 65536 / (Blocks * 128 * (Groups + 1)) / 8 * 8, kFetching = Fetching;
  static constexpr int kRest = (kLaunched * (Groups + 1) - kFetching) / Groups / 8 * 8, kMultiplying = kRest < 240 ? kRest : 240;
  static constexpr bool kMove = kLaunched < kMultiplying;
};

/// Where factors have several parts: what the units sum over a tile of the depth, added up by ordinary additions, Sums a thread for each of Across
/// instructions. Levels 2: segments of kTilesAtOnce tiles first, and those then, which is more accurate where the depth is long and takes as
/// many registers more as there are sums.
template <int Levels, int Across, int Sums>
struct TileSums {
  static_assert(Levels == 1 || Levels == 2);
  static constexpr int kTilesAtOnce = 16;
  float (&total)[Across][Sums];
  float segment[Across][Sums] = {};
  HONE_DEVICE explicit TileSums(float (&total_)[Across][Sums]) : total(total_) {}

  HONE_DEVICE void add(int j, const float (&sums)[Sums]) {
    HONE_UNROLL
    for (int i = 0; i < Sums; ++i) (Levels == 2 ? segment : total)[j][i] += sums[i];
  }
  HONE_DEVICE void end_tile(int tile) { if (tile % kTilesAtOnce == kTilesAtOnce - 1) close(); }
  /// After the last tile.
  HONE_DEVICE void close() {
    if constexpr (Levels == 1) return;
    HONE_UNROLL
    for (int j = 0; j < Across; ++j)
      HONE_UNROLL
      for (int i = 0; i < Sums; ++i) total[j][i] += segment[j][i], segment[j][i] = 0;
  }
};

/// epilogue(row, column, sum) for each element of the tile of Rows x Columns at (row0, column0) that the result of rows x columns
/// has. `a` and `b`: the parts of the tile's rows and columns from split_factor, of which the tiles of `depth` are multiplied;
/// it begins on a multiple of Depth. Levels, with several parts: of TileSums. `memory`: Stages tiles of both factors, or
/// Rows (Columns + 8) floats where that is more, on a boundary of 128 bytes. A block has group_threads(Rows) threads and shares
/// a multiprocessor with Blocks - 1 others: __launch_bounds__(group_threads(Rows), Blocks).
template <class Math, int Rows, int Columns, int Depth, int Stages, int Levels, int Blocks, class Epilogue>
HONE_DEVICE void group_product(const char* a, const char* b, Segment depth, int64_t row0, int64_t column0, int64_t rows, int64_t columns,
                               void* memory, Epilogue epilogue) {
  using TileA = PartsTile<Math, Rows, Depth>;
  using TileB = PartsTile<Math, Columns, Depth>;
  using Pairs = Products<Math::kParts>;
  // Columns of one instruction: all of them would take the registers of the sums twice.
  constexpr int kPart = Columns < 128 ? Columns : 128, kAcross = Columns / kPart, kSums = kPart / 2;
  constexpr int kGroups = Rows / 64, kWarps = kGroups * 4, kStage = TileA::kBytes + TileB::kBytes;
  using Share = GroupRegisters<kGroups, Blocks>;
  static_assert(Rows % 64 == 0 && Rows <= 128 && Columns % kPart == 0 && Stages >= 2);
  __shared__ prim::PhaseBarrier full[Stages], empty[Stages], over;
  if (threadIdx.x == 0) {
    for (int s = 0; s < Stages; ++s) full[s].init(1), empty[s].init(kWarps);
    over.init(kWarps);
  }
  __syncthreads();

  char* const stages = static_cast<char*>(memory);
  const int64_t first = depth.begin / Depth;
  const int tiles = depth.end > depth.begin ? static_cast<int>((depth.end - depth.begin + Depth - 1) / Depth) : 0;
  const int warp = static_cast<int>(threadIdx.x) / 32, in_warp = lane();
  if (warp >= kWarps) {
    if constexpr (Share::kMove) prim::registers_down<Share::kFetching>();
    if (warp > kWarps || in_warp != 0) return;
    const char* from_a = a + first * TileA::kBytes;
    const char* from_b = b + first * TileB::kBytes;
    for (int tile = 0, s = 0, phase = 1; tile < tiles; ++tile) {
      empty[s].wait(phase);
      full[s].arrive_expecting(kStage);
      full[s].bulk_copy(stages + s * kStage, from_a, TileA::kBytes);
      full[s].bulk_copy(stages + s * kStage + TileA::kBytes, from_b, TileB::kBytes);
      from_a += TileA::kBytes, from_b += TileB::kBytes;
      if (++s == Stages) s = 0, phase ^= 1;
    }
    return;
  }

  if constexpr (Share::kMove) prim::registers_up<Share::kMultiplying>();
  const int group = warp / 4;
  prim::GroupProducts products;
  float total[kAcross][kSums] = {};
  /// Onto `sums`: columns from j kPart on of the tile in stage s, those before them kept where `more`.
  const auto multiply = [&](float(&sums)[kSums], int s, int j, bool more) {
    const prim::GroupFactor left(stages + s * kStage + group * 64 * 16, TileA::kNextDepth, TileA::kNextLines);
    const prim::GroupFactor right(stages + s * kStage + TileA::kBytes, TileB::kNextDepth, TileB::kNextLines);
    HONE_UNROLL
    for (int p = 0; p < Pairs::kCount; ++p)
      HONE_UNROLL
      for (int k = 0; k < TileA::kSteps; ++k)
        products.template multiply<Math::kType>(sums, left.after(Pairs::left(p) * TileA::kPart + 2 * k * TileA::kNextDepth),
                                                right.after(Pairs::right(p) * TileB::kPart + 2 * k * TileB::kNextDepth + j * kPart * 16),
                                                more || p + k > 0);
  };
  if constexpr (Math::kParts == 1) {
    // The next tile's products are on their way before the last one's stage is handed back.
    for (int tile = 0, s = 0, phase = 0, last = 0; tile < tiles; ++tile) {
      full[s].wait(phase);
      products.fence();
      HONE_UNROLL
      for (int j = 0; j < kAcross; ++j) multiply(total[j], s, j, tile > 0);
      products.commit();
      products.template wait<1>();
      if (tile > 0 && in_warp == 0) empty[last].arrive();
      last = s;
      if (++s == Stages) s = 0, phase ^= 1;
    }
    products.template wait<0>();
    HONE_UNROLL
    for (int j = 0; j < kAcross; ++j) products.readable(total[j]);
  } else {
    TileSums<Levels, kAcross, kSums> added(total);
    float sums[kSums] = {};
    // While one group adds up, the units work for the other.
    for (int tile = 0, s = 0, phase = 0; tile < tiles; ++tile) {
      full[s].wait(phase);
      HONE_UNROLL
      for (int j = 0; j < kAcross; ++j) {
        products.fence();
        multiply(sums, s, j, false);
        products.commit();
        products.template wait<0>(sums);
        added.add(j, sums);
      }
      if (in_warp == 0) empty[s].arrive();
      if (++s == Stages) s = 0, phase ^= 1;
      added.end_tile(tile);
    }
    added.close();
  }
  // Through shared memory, where nothing is read any more, so that neighbouring lanes hand over neighbouring columns.
  if (in_warp == 0) over.arrive();
  over.wait(0);
  constexpr int kPitch = Columns + 8;
  float* const out = static_cast<float*>(memory) + warp * 16 * kPitch;
  HONE_UNROLL
  for (int j = 0; j < kAcross; ++j)
    HONE_UNROLL
    for (int i = 0; i < kSums; i += 2)
      *reinterpret_cast<float2*>(out + (in_warp / 4 + i / 2 % 2 * 8) * kPitch + j * kPart + i / 4 * 8 + in_warp % 4 * 2) =
          make_float2(total[j][i], total[j][i + 1]);
  __syncwarp();
  const int64_t row = row0 + warp * 16;
  const int last = rows - row < 16 ? static_cast<int>(rows - row) : 16;
  for (int c = in_warp; c < Columns && column0 + c < columns; c += 32) {
    HONE_UNROLL_BY(4)
    for (int r = 0; r < last; ++r) epilogue(row + r, column0 + c, out[r * kPitch + c]);
  }
}

}  // namespace hone::gpu
