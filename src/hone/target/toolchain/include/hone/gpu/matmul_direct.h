// A block's tile of a product in TF32, or of floats as three products of TF32, on Hopper's matrix units (wgmma, sm_90a), of factors as they
// lie in memory.
//
// The units take TF32 from shared memory only where neighbours in depth lie side by side; from registers they take it as one
// likes. So the factor that is read along the depth is copied into shared memory line by line, where the units read it (the right
// one); the other, of any layout, is copied as it lies and goes through registers (the left one). No launch writes a factor
// once more (hone/gpu/matmul_wgmma.h), which for one product of TF32 is a fifth of the time at 4096 x 4096 x 4096 on an H200.
// One group of four warps copies; the others multiply, 64 lines of the left factor each.
//
// One product: the left factor is rounded to TF32, the right one cut by the units: 2^-11 and 2^-10 of an element at most. Three: each
// element is the sum of two numbers of TF32. The left factor's are made in registers, by whoever multiplies; the right one's by the
// threads that copied them, which know without a barrier that they have arrived, and have little else to do. mma.sync
// has every warp split all that it reads, of both factors.
#pragma once
#include "hone/gpu/matmul_wgmma.h"

namespace hone::gpu {

constexpr int kCopiers = 128;  ///< threads, the last ones of a block

/// One thread's share of a factor's tiles: Passes, Each vectors in each, as far from each other in memory as in the tile, Step
/// lines or (else) Step of the depth; from pass to pass Beyond of the depth. Whoever copies for others has no time to work
/// out addresses: lines and depth are linear.
template <class F, bool AlongLines, int Step, int Each, int Gap, int Passes, int Beyond>
class Copier {
 public:
  HONE_DEVICE Copier(const F& factor, int64_t line, int64_t depth, int64_t depth_of_tile)
      : from_(factor.base + factor.line_at(line) + factor.depth_at(depth)),
        step_(AlongLines ? factor.line_at(Step) - factor.line_at(0) : factor.depth_at(Step) - factor.depth_at(0)),
        beyond_(factor.depth_at(Beyond) - factor.depth_at(0)), tile_(factor.depth_at(depth_of_tile) - factor.depth_at(0)),
        depth_(depth), depth_of_tile_(depth_of_tile), lines_(AlongLines ? steps(factor.lines - line) : line < factor.lines) {}

  /// To to(pass) and on, Gap apart, of the next tile along the depth, zeros where the factor has nothing or the depth is over.
  template <class To>
  HONE_DEVICE void copy(prim::AsyncCopies& copies, To to, int64_t end) {
    HONE_UNROLL
    for (int pass = 0; pass < Passes; ++pass) {
      const int64_t depth = depth_ + pass * Beyond;
      const int inside = AlongLines ? (depth < end ? lines_ : 0) : (lines_ ? steps(end - depth) : 0);
      const float* from = from_ + pass * beyond_;
      float* const at = to(pass);
      HONE_UNROLL
      for (int i = 0; i < Each; ++i, from += step_) copies.copy<F::V * 4>(at + i * Gap, from, i < inside);
    }
    from_ += tile_, depth_ += depth_of_tile_;
  }

  /// Splits what copy() brought to `to`, once it is there: the high parts in its place, the low ones Apart elements behind.
  template <int Apart, class To>
  HONE_DEVICE void split(To to) const {
    HONE_UNROLL
    for (int pass = 0; pass < Passes; ++pass) {
      float* const at = to(pass);
      HONE_UNROLL
      for (int i = 0; i < Each; ++i) {
        Vector v = *reinterpret_cast<const Vector*>(at + i * Gap), low;
        HONE_UNROLL
        for (int e = 0; e < F::V; ++e) {
          const uint32_t bits = __float_as_uint(v.at[e]), high = Tf32<2>::high(bits);
          low.at[e] = v.at[e] - __uint_as_float(high), v.at[e] = __uint_as_float(high);
        }
        *reinterpret_cast<Vector*>(at + i * Gap) = v;
        *reinterpret_cast<Vector*>(at + i * Gap + Apart) = low;
      }
    }
  }

 private:
  struct alignas(4 * F::V) Vector { float at[F::V]; };
  /// Of vectors Step apart, how many are among the next `many`.
  HONE_DEVICE static int steps(int64_t many) {
    return many <= 0 ? 0 : many >= Each * Step ? Each : static_cast<int>(many + Step - 1) / Step;
  }
  const float* from_;
  int64_t step_, beyond_, tile_, depth_, depth_of_tile_;
  int lines_;
};

/// A tile of the right factor, which begins on a boundary of 1024 bytes: for each 32 of the depth lines of 128 bytes
/// (prim::GroupFactor::swizzled). Eight threads copy a line, which is one piece of memory; of single elements sixteen a half.
template <class F, int Lines, int Depth>
struct RightTile {
  static constexpr int kElements = Lines * Depth, kBeside = F::V == 4 ? 8 : 16, kStep = kCopiers / kBeside, kBeyond = kBeside * F::V;
  // Lines that a thread copies have one swizzle.
  static_assert((F::V == 1 || F::V == 4) && kStep % 8 == 0 && Lines % kStep == 0 && Depth % 32 == 0);
  using Share = Copier<F, true, kStep, Lines / kStep, kStep * 32, Depth / kBeyond, kBeyond>;
  int line, depth;  ///< of a thread's first vector
  HONE_DEVICE explicit RightTile(int thread) : line(thread / kBeside), depth(thread % kBeside * F::V) {}
  HONE_DEVICE int at(int pass) const {
    const int deep = depth + pass * kBeyond;
    return deep / 32 * Lines * 32 + line * 32 + (deep % 32 / 4 ^ line % 8) * 4 + deep % 4;
  }
  /// Bytes to columns `first` on, 8 of the depth, step `k`.
  HONE_DEVICE static constexpr int step(int k, int first) { return (k / 4 * Lines + first) * 128 + k % 4 * 32; }
};

/// A tile of the left factor, as it lies in memory: SharedTile.
template <class F, int Lines, int Depth>
struct LeftTile {
  static constexpr bool kDeep = F::kAlongDepth;
  using Tile = SharedTile<float, Lines, Depth, kDeep, 1>;
  static constexpr int kElements = Tile::kElements, kBeside = (kDeep ? Depth : Lines) / F::V, kEach = Lines * Depth / F::V / kCopiers;
  static constexpr int kStep = kCopiers / kBeside;
  static_assert(kCopiers % kBeside == 0 && Lines * Depth % (F::V * kCopiers) == 0);
  using Share = Copier<F, kDeep, kStep, kEach, kStep * Tile::kPitch, 1, 0>;
  int line, depth;
  HONE_DEVICE explicit LeftTile(int thread)
      : line(kDeep ? thread / kBeside : thread % kBeside * F::V), depth(kDeep ? thread % kBeside * F::V : thread / kBeside) {}
  HONE_DEVICE int at() const { return (kDeep ? line : depth) * Tile::kPitch + (kDeep ? depth : line); }
};

/// epilogue(line of the left factor, line of the right one, sum) for each element of the tile of Left x Right at (left0, right0) that
/// the result has; neighbouring threads hand over neighbours along the left factor where AlongLeft, else along the right one.
/// Numbers: Tf32<1>, or Tf32<2> for three products, whose sums over a tile of the depth are added up apart (Levels: of TileSums). `memory`: Stages tiles of the left
/// factor and of each part of the right one, or (Left + 8) (Right + 8) floats where that is more, on a boundary of 1024 bytes. A
/// block has group_threads(Left) threads and shares a multiprocessor with Blocks - 1 others.
template <class Numbers, int Levels, int Left, int Right, int Depth, int Stages, int Blocks, bool AlongLeft, class L, class R, class Epilogue>
HONE_DEVICE void direct_product(const L& left, const R& right, int64_t left0, int64_t right0, Segment depth, void* memory, Epilogue epilogue) {
  using TileL = LeftTile<L, Left, Depth>;
  using TileR = RightTile<R, Right, Depth>;
  using Share = GroupRegisters<Left / 64, Blocks, 56>;  // who copies keeps addresses
  constexpr int kParts = Numbers::kParts;
  constexpr int kPart = Right <= 128 ? Right : Right / 2, kAcross = Right / kPart, kSums = kPart / 2, kSteps = Depth / 8;
  constexpr int kWarps = Left / 64 * 4, kRights = kParts * TileR::kElements, kStage = TileL::kElements + kRights;
  // Tiles that are on their way while one is there for the units and one is being multiplied.
  constexpr int kComing = Stages - 2;
  static_assert(Left % 64 == 0 && Right % kPart == 0 && Stages >= 3 && kStage % 256 == 0, "right tiles on boundaries of 1024 bytes");
  __shared__ prim::PhaseBarrier full[Stages], empty[Stages], over;
  if (threadIdx.x == 0) {
    for (int s = 0; s < Stages; ++s) full[s].init(kCopiers / 32), empty[s].init(kWarps);
    over.init(kWarps);
  }
  __syncthreads();

  const auto stage = [&](int s) { return static_cast<float*>(memory) + s * kStage; };
  const int tiles = depth.end > depth.begin ? static_cast<int>((depth.end - depth.begin + Depth - 1) / Depth) : 0;
  const int warp = static_cast<int>(threadIdx.x) / 32, in_warp = lane();
  if (warp >= kWarps) {
    if constexpr (Share::kMove) prim::registers_down<Share::kFetching>();
    prim::AsyncCopies copies;
    const int thread = static_cast<int>(threadIdx.x) - kWarps * 32;
    const TileL of_left(thread);
    const TileR of_right(thread);
    typename TileL::Share share_left(left, left0 + of_left.line, depth.begin + of_left.depth, Depth);
    typename TileR::Share share_right(right, right0 + of_right.line, depth.begin + of_right.depth, Depth);
    int arrived = 0;
    for (int tile = 0, s = 0, phase = 1; tile < tiles + kComing; ++tile) {
      if (tile < tiles) {
        empty[s].wait(phase);
        float* const tile_right = stage(s);
        share_left.copy(copies, [&](int) { return tile_right + kRights + of_left.at(); }, depth.end);
        share_right.copy(copies, [&](int pass) { return tile_right + of_right.at(pass); }, depth.end);
        if (++s == Stages) s = 0, phase ^= 1;
      }
      copies.commit();
      if (tile < kComing) continue;
      copies.template wait<kComing>();
      if constexpr (kParts == 2) share_right.template split<TileR::kElements>([&](int pass) { return stage(arrived) + of_right.at(pass); });
      prim::async_fence();
      __syncwarp();
      if (in_warp == 0) full[arrived].arrive();
      if (++arrived == Stages) arrived = 0;
    }
    return;
  }

  if constexpr (Share::kMove) prim::registers_up<Share::kMultiplying>();
  prim::GroupProducts products;
  float total[kAcross][kSums] = {};
  int s = 0, phase = 0;
  const auto left_tile = [&] { return typename TileL::Tile{stage(s) + kRights}; };
  if constexpr (kParts == 1) {
    uint32_t even[kSteps][1][4], odd[kSteps][1][4];
    int last = 0;
    /// The products of one tile are on their way before the stage of the one before is handed back. `numbers`: free again after
    /// the next tile.
    const auto multiply = [&](uint32_t(&numbers)[kSteps][1][4], bool first) {
      full[s].wait(phase);
      HONE_UNROLL
      for (int k = 0; k < kSteps; ++k) Numbers::load(left_tile(), warp * 16, 8 * k, numbers[k]);
      const prim::GroupFactor of_right = prim::GroupFactor::swizzled(stage(s));
      products.fence();
      HONE_UNROLL
      for (int j = 0; j < kAcross; ++j)
        HONE_UNROLL
        for (int k = 0; k < kSteps; ++k)
          products.multiply_from(total[j], numbers[k][0], of_right.after(TileR::step(k, j * kPart)), !first || k > 0);
      products.commit();
      products.template wait<1>();
      if (!first && in_warp == 0) empty[last].arrive();
      last = s;
      if (++s == Stages) s = 0, phase ^= 1;
    };
    for (int tile = 0; tile < tiles; tile += 2) {
      multiply(even, tile == 0);
      if (tile + 1 < tiles) multiply(odd, false);
    }
    products.template wait<0>();
    HONE_UNROLL
    for (int j = 0; j < kAcross; ++j) products.readable(total[j]);
  } else {
    using Pairs = Products<kParts>;
    TileSums<Levels, kAcross, kSums> added(total);
    float sums[kSums] = {};
    uint32_t numbers[kSteps][kParts][4];
    // While one group splits and adds up, the units work for the other.
    for (int tile = 0; tile < tiles; ++tile) {
      full[s].wait(phase);
      HONE_UNROLL
      for (int k = 0; k < kSteps; ++k) Numbers::load(left_tile(), warp * 16, 8 * k, numbers[k]);
      const prim::GroupFactor of_right = prim::GroupFactor::swizzled(stage(s));
      HONE_UNROLL
      for (int j = 0; j < kAcross; ++j) {
        products.fence();
        HONE_UNROLL
        for (int p = 0; p < Pairs::kCount; ++p)
          HONE_UNROLL
          for (int k = 0; k < kSteps; ++k)
            products.multiply_from(sums, numbers[k][Pairs::left(p)], of_right.after(Pairs::right(p) * TileR::kElements * 4 + TileR::step(k, j * kPart)), p + k > 0);
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

  // Through shared memory, where nothing is read any more.
  if (in_warp == 0) over.arrive();
  over.wait(0);
  // Neighbours in `out` are neighbours for the epilogue; either pitch has a warp's sums meet no bank more often than they must.
  constexpr int kPitch = AlongLeft ? Left + 4 : Right + 8;
  float* const out = static_cast<float*>(memory);
  HONE_UNROLL
  for (int j = 0; j < kAcross; ++j)
    HONE_UNROLL
    for (int i = 0; i < kSums; i += 2) {
      const int l = warp * 16 + in_warp / 4 + i / 2 % 2 * 8, r = j * kPart + i / 4 * 8 + in_warp % 4 * 2;
      if constexpr (AlongLeft) out[r * kPitch + l] = total[j][i], out[(r + 1) * kPitch + l] = total[j][i + 1];
      else *reinterpret_cast<float2*>(out + l * kPitch + r) = make_float2(total[j][i], total[j][i + 1]);
    }
  __syncwarp();
  if (in_warp == 0) over.arrive();
  over.wait(1);
  if constexpr (AlongLeft)
    hand_over<Right, Left, kPitch, kWarps * 32>(out, right0, left0, right.lines, left.lines, [&](int64_t r, int64_t l, float sum) { epilogue(l, r, sum); });
  else
    hand_over<Left, Right, kPitch, kWarps * 32>(out, left0, right0, left.lines, right.lines, epilogue);
}

}  // namespace hone::gpu
