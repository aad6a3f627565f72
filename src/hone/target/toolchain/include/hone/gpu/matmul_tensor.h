// Products of factors of 16 or 8 bits as they lie in memory, on Hopper's matrix units (wgmma) fed by its copy engine (TMA); sm_90a.
//
// A block lives as long as the launch and makes tile after tile of the result. One warp asks for tiles of both factors, Stages of
// them ahead; the engine swizzles them into shared memory and fills with zeros what is beyond a factor's edges. Two groups of four
// warps multiply, and there are two ways to share the work:
//
//   together   each group has half of the tile's rows                 the largest tiles, which read the factors least often
//   in turns   each group has every second tile for itself            while one finishes a tile (the rest of the computation, and
//                                                                      writing), the units work for the other
//
//   in turns   group 0   multiply tile 0 | finish tile 0   | multiply tile 2 | …
//              group 1                   | multiply tile 1 | finish tile 1   | …
//
// Blocks may run in clusters of Down x Across, which make as many tiles beside each other: tiles side by side have the left factor's rows in common, tiles
// one below the other the right factor's columns. What blocks have in common each of them asks for a part of, and has it sent to all that need it (multicast):
// of 2 x 1 tiles of 128 x 256 two thirds are read from the second-level cache. A stage is empty when all blocks that a
// block sends to have seen it. Blocks of a cluster stay together, stage by stage; where tiles end at an odd one, a block goes
// along with a tile beyond the edge: it sends its parts, multiplies the zeros that the engine gives it, and writes nothing.
//
// The units multiply bytes twice as fast, and of sums of 8-bit floats keep 14 bits: every 128 of the depth the sums go to others that
// ordinary additions keep, while the units work for the other group. So these take twice the registers, and tiles are half as large.
#pragma once
#include "hone/gpu/finish_turns.h"
#include "hone/gpu/tensor_tile.h"

namespace hone::gpu {

/// What products of T are summed in, and whether the units' own sums are added up apart.
template <class T>
struct TensorSums {
  using Sum = float;
  static constexpr bool kApart = false;
};
template <>
struct TensorSums<int8_t> {
  using Sum = int32_t;
  static constexpr bool kApart = false;
};
template <>
struct TensorSums<f8e4m3> {
  using Sum = float;
  static constexpr bool kApart = true;
};
template <>
struct TensorSums<f8e5m2> : TensorSums<f8e4m3> {};

/// tensor_product, but for the end.
template <class T, int Rows, int Columns, int Stages, bool Turns, int Group, int Ahead, int Down, int Across, bool Split, class L, class R, int Each, class One, class OnWords, class Reads, class ManyBesides>
HONE_DEVICE void tensor_tiles(const L& left, const R (&rights)[Each], int64_t batches, int64_t parts, void* memory, prim::TensorMap* maps, One one, OnWords on_words, Reads reads, ManyBesides many) {
  constexpr int kCluster = Down * Across, kSeenBy = Down + Across - 1;   // kSeenBy: blocks that send to each other, this one among them
  constexpr int kOwn = Columns / Each;   // columns of each right factor
  using TileL = TensorTile<L, Rows>;
  using TileR = TensorTile<R, Columns>;
  using PartR = TensorTile<R, kOwn>;
  using Share = GroupRegisters<2, 1, 40>;
  using Sum = typename TensorSums<T>::Sum;
  constexpr bool kApart = TensorSums<T>::kApart;
  constexpr prim::GroupType kType = type_of(static_cast<const T*>(nullptr));
  const R& right = rights[0];
  constexpr int kPieces = kOwn / kPiece, kTurnsOfPiece = 4 / Ahead;
  constexpr int kWarps = 8, kMine = Turns ? Rows : Rows / 2, kBlocks = kMine / 64, kSums = Columns / 2, kStage = TileL::kBytes + TileR::kBytes;
  constexpr int kTurns = kBlocks * kPieces * kTurnsOfPiece;
  static_assert(L::kAlongDepth && kMine % 64 == 0 && kBlocks * kSums <= (kApart ? 64 : 128) && kOwn % kPiece == 0);
  // A group that waited for a stage from afar would take an earlier tile's arrival for its own's: phases have two names. So it waits
  // until the other group has seen the last stage of the tile before.
  __shared__ prim::PhaseBarrier full[Stages], empty[Stages], my_turn[2];
  __shared__ prim::TensorMap::Scratch scratch[1 + Each];
  if (threadIdx.x == 0) {
    for (int s = 0; s < Stages; ++s) full[s].init(1), empty[s].init(kSeenBy * (Turns ? kWarps / 2 : kWarps));
    for (int group = 0; group < 2; ++group) my_turn[group].init(kWarps / 2);
  }
  if constexpr (kCluster > 1) prim::cluster_sync();
  else __syncthreads();

  char* const stages = static_cast<char*>(memory);
  const auto tile_l = [&](int s) { return TileL{stages + s * kStage}; };
  const auto tile_r = [&](int s) { return TileR{stages + s * kStage + TileL::kBytes}; };
  // In clusters' tiles, each of Down x Across.
  const int64_t down = (left.lines + Rows * Down - 1) / (Rows * Down), across = (right.lines + kOwn * Across - 1) / (kOwn * Across), tiles = down * across * batches * (Split ? parts : 1);
  const int rank = kCluster == 1 ? 0 : prim::cluster_rank(), my_down = rank / Across, my_across = rank % Across;
  const auto tile_of = [&](int64_t t) {
    BlockTile tile = block_tile<(Group > Down ? Group / Down : 1)>(t, down, across);
    if constexpr (kCluster > 1) tile.down = tile.down * Down + my_down, tile.across = tile.across * Across + my_across;
    return tile;
  };
  const int all_steps = static_cast<int>((left.depth + TileL::kDepth - 1) / TileL::kDepth);
  // Of a tile of a part of the depth, its first step; parts are as if each were a batch, those of the first part before those of the second.
  const auto first_step = [&](int64_t part) { return Split ? static_cast<int>(all_steps * part / parts) : 0; };
  const auto steps_of = [&](const BlockTile& tile) {
    return Split ? first_step(tile.batch / batches + 1) - first_step(tile.batch / batches) : all_steps;
  };
  const int warp = static_cast<int>(threadIdx.x) / 32, in_warp = lane();
  if (warp >= kWarps) {
    if constexpr (Share::kMove) prim::registers_down<Share::kFetching>();
    if (warp > kWarps) return;
    maps[0].make(scratch[0], left.tensor(), TileL::kRows / Across);
    HONE_UNROLL
    for (int e = 0; e < Each; ++e) maps[1 + e].make(scratch[1 + e], rights[e].tensor(), PartR::kRows / Down);
    if (in_warp != 0) return;
    int s = 0, phase = 1;
    // Who needs the same lines of the left factor, of the right one.
    uint32_t beside = 0, below = 0;
    HONE_UNROLL
    for (int a = 0; a < Across; ++a) beside |= 1u << (my_down * Across + a);
    HONE_UNROLL
    for (int d = 0; d < Down; ++d) below |= 1u << (d * Across + my_across);
    for (int64_t t = blockIdx.x / kCluster; t < tiles; t += gridDim.x / kCluster) {
      const BlockTile tile = tile_of(t);
      const int64_t batch = Split ? tile.batch % batches : tile.batch, batch_l = left.batches == 1 ? 0 : batch, batch_r = right.batches == 1 ? 0 : batch;
      const int first_of_part = first_step(Split ? tile.batch / batches : 0), steps = steps_of(tile);
      for (int step = 0; step < steps; ++step) {
        empty[s].wait_asleep(phase);
        full[s].arrive_expecting(kStage);
        const int64_t depth = (first_of_part + step) * TileL::kDepth;
        tile_l(s).template copy<Across>(full[s], maps[0], tile.down * Rows, depth, batch_l, my_across, beside);
        HONE_UNROLL
        for (int e = 0; e < Each; ++e)
          PartR{tile_r(s).data + e * PartR::kBytes}.template copy<Down>(full[s], maps[1 + e], tile.across * kOwn, depth, batch_r, my_down, below);
        if (++s == Stages) s = 0, phase ^= 1;
      }
    }
    return;
  }

  if constexpr (Share::kMove) prim::registers_up<Share::kMultiplying>();
  /// This warp has seen stage s, for all who write there.
  const auto release = [&](int s) {
    if constexpr (kCluster == 1) {
      if (in_warp == 0) empty[s].arrive();
    } else if (in_warp < kCluster && (in_warp / Across == my_down || in_warp % Across == my_across)) {
      empty[s].arrive_at(in_warp);
    }
  };
  const int group = warp / 4, first = Turns ? 0 : group * kMine;
  Sum* const piece = reinterpret_cast<Sum*>(stages + Stages * kStage) + warp * (Each * kPieceBytes / 4);
  prim::GroupProducts products;
  Sum total[kBlocks][kSums];
  int64_t before = 0;   // steps of the tiles so far
  int turn = 0, turn_phase = group ^ 1;   // the first turn is the first group's: nobody had one before
  for (int64_t t = blockIdx.x / kCluster; t < tiles; before += Split ? steps_of(tile_of(t)) : all_steps, t += gridDim.x / kCluster, turn ^= 1) {
    if (Turns && turn != group) continue;
    const BlockTile tile = tile_of(t);
    const int steps = steps_of(tile);
    if constexpr (Turns) my_turn[group].wait(turn_phase), turn_phase ^= 1;
    int s = static_cast<int>(before % Stages), phase = static_cast<int>(before / Stages % 2), last = 0;
    const auto row_of = [&](int n) { return tile.down * Rows + first + n / kPieces * 64 + warp % 4 * 16; };
    const auto column_of = [&](int n) { return tile.across * kOwn + n % kPieces * kPiece; };
    const auto rows_from = [&](int64_t row) { return left.lines - row < 16 ? static_cast<int>(left.lines - row) : 16; };
    const auto read_of = [&](int u) {
      const int64_t row = row_of(u / kTurnsOfPiece), column = column_of(u / kTurnsOfPiece);
      return read_turn<Ahead>(rows_from(row), right.lines - column, u % kTurnsOfPiece, [&](int r, int c) { return on_words(tile.batch, row + r, column + c); },
                              [&](auto moved, int r, int c) { return reads(moved, tile.batch, row + r, column + c); });
    };
    decltype(read_of(0)) next;
    const auto multiply = [&](Sum(&sums)[kBlocks][kSums], bool more) {
      products.fence();
      HONE_UNROLL
      for (int b = 0; b < kBlocks; ++b)
        HONE_UNROLL
        for (int k = 0; k < TileL::kDepth; k += TileL::kStep)
          products.template multiply<kType>(sums[b], tile_l(s).factor(first + b * 64, k), tile_r(s).factor(0, k), more || k > 0);
      products.commit();
    };
    if constexpr (kApart) {
      Sum sums[kBlocks][kSums];
      HONE_UNROLL
      for (int b = 0; b < kBlocks; ++b)
        HONE_UNROLL
        for (int i = 0; i < kSums; ++i) total[b][i] = 0;
      for (int step = 0; step < steps; ++step) {
        full[s].wait(phase);
        multiply(sums, false);
        products.template wait<0>();
        release(s);
        HONE_UNROLL
        for (int b = 0; b < kBlocks; ++b) {
          products.readable(sums[b]);
          HONE_UNROLL
          for (int i = 0; i < kSums; ++i) total[b][i] += sums[b][i];
        }
        if (++s == Stages) s = 0, phase ^= 1;
      }
      if (Turns && in_warp == 0) my_turn[group ^ 1].arrive();
      next = read_of(0);
    } else {
      for (int step = 0; step < steps; ++step) {
        full[s].wait(phase);
        multiply(total, step > 0);
        // The products of this step are on their way before the stage of the one before is handed back.
        products.template wait<1>();
        if (step > 0) release(last);
        last = s;
        if (++s == Stages) s = 0, phase ^= 1;
      }
      if (Turns && in_warp == 0) my_turn[group ^ 1].arrive();
      next = read_of(0);
      products.template wait<0>();
      release(last);
    }

    if constexpr (!kApart) {
      HONE_UNROLL
      for (int b = 0; b < kBlocks; ++b) products.readable(total[b]);
    }
    // Each row begins 8 columns further than the one before, so that neither side meets a bank twice.
    const auto at = [&](int part, int r, int c) { return piece + part * (kPieceBytes / 4) + r * kPiece + (c + 8 * r) % kPiece; };
    // A turn at a time, while what the next one reads is on its way; only what moves sums out of the registers is written out for each piece,
    // so that the rest fits the instructions' cache.
    HONE_UNROLL_BY(1)
    for (int u = 0; u < kTurns; ++u) {
      const int n = u / kTurnsOfPiece, in_piece = u % kTurnsOfPiece;
      if (in_piece == 0) {
        __syncwarp();
        HONE_UNROLL
        for (int b = 0; b < kBlocks; ++b)
          HONE_UNROLL
          for (int p = 0; p < kPieces; ++p)
            if (n == b * kPieces + p) {
              HONE_UNROLL
              for (int e = 0; e < Each; ++e)
                HONE_UNROLL
                for (int i = 0; i < kPiece / 2; i += 2) {
                  const int sum = (e * kOwn + p * kPiece) / 2 + i;
                  store_shared(at(e, in_warp / 4 + i / 2 % 2 * 8, i / 4 * 8 + in_warp % 4 * 2), Words<Sum, 2>{{total[b][sum], total[b][sum + 1]}});
                }
            }
        __syncwarp();
      }
      const auto now = next;
      if (u + 1 < kTurns) next = read_of(u + 1);
      const int64_t row = row_of(n), column = column_of(n);
      finish_turn<Sum, Each>(
          rows_from(row), right.lines - column, in_piece, now, at, [&](auto moved, int r, int c) { return reads(moved, tile.batch, row + r, column + c); },
          [&](int r, int c, const Sum(&sum)[Each]) { one(tile.batch, row + r, column + c, sum); },
          [&](auto moved, int r, int c, const Sum(&sums)[Each][kMany], const auto& given) { many(moved, tile.batch, row + r, column + c, sums, given); });
    }
  }
}

/// one(batch, row, column, Each sums) or many(Moved, batch, row, column, Each times kMany sums beside each other, what reads(Moved, batch, row,
/// column) gave of them before; on_words(batch, row, column) as of read_turn) for the elements of the products left x right of all batches, of Each right factors: one, or two that make a pair, whose elements at the same place are finished together
/// (a gate and what it lets through). Of Ahead times four rows what else is read is on its way while those before are finished. A block has 384 threads and a
/// multiprocessor for itself. `memory`: Stages (Rows + Columns) 128 + 8 Each kPieceBytes bytes on a boundary of 1024. `maps`: one for each
/// factor of this block's own, in global memory. The left factor is read along its depth. Of a tile's Columns each right factor has its share.
/// In clusters of Down x Across blocks a launch has a multiple of them. With Split the depth is in `parts`, 1 to as many as there are 128 bytes of it, and what is
/// called `batch` is the part times `batches`, plus the batch; else `parts` does not matter.
template <class T, int Rows, int Columns, int Stages, bool Turns, int Group, int Ahead, int Down, int Across, bool Split, class L, class R, int Each, class One, class OnWords, class Reads, class ManyBesides>
HONE_DEVICE void tensor_product(const L& left, const R (&rights)[Each], int64_t batches, int64_t parts, void* memory, prim::TensorMap* maps, One one, OnWords on_words, Reads reads, ManyBesides many) {
  tensor_tiles<T, Rows, Columns, Stages, Turns, Group, Ahead, Down, Across, Split>(left, rights, batches, parts, memory, maps, one, on_words, reads, many);
  if constexpr (Down * Across > 1) {
    // Nobody ends while others send to it, or arrive at its barriers.
    __syncwarp();
    prim::cluster_sync();
  }
}

}  // namespace hone::gpu
