// Attention on Hopper's matrix units (wgmma) fed by its copy engine (TMA); sm_90a. attention.h says what is computed and of what Graph.
//
// A block lives as long as the launch and makes tile after tile of queries. One warp asks for tiles of keys and values, Stages of either
// ahead. Two groups of four warps have 64 queries each and take turns: while one gives the units its products, the other makes weights
// of scores in ordinary registers. Within a group keys are one tile ahead of values, so that the units have work meanwhile.
//
//   group 0   keys 1, values 0 | weights 1       | keys 2, values 1 | weights 2       | …
//   group 1                    | keys 1, values 0 | weights 1       | keys 2, values 1 | …
#pragma once
#include "hone/gpu/attention_tiles.h"
#include "hone/gpu/attention_wgmma.h"
#include "hone/gpu/matmul_tensor.h"

namespace hone::gpu {

/// A Graph here has besides: key_tensor(batch), value_tensor(batch): TensorFactor of one batch; batches(); on_words, reads and
/// store_words of a line and a column, as finish_turn takes them. Lines: of all batches.
template <class Graph_, int Keys, int Head, int ValueHead, int Stages, int Parts>
struct TensorAttention {
  using Graph = Graph_;
  using T = typename Graph::T;
  using Row = typename Graph::Row;
  static constexpr int kGroupRows = 64, kRows = 2 * kGroupRows, kWarps = 8, kThreads = 384;
  static constexpr int kDeep = (Head + 63) / 64 * 64, kColumns = group_columns(ValueHead), kAcross = (kColumns + 63) / 64 * 64;
  static constexpr prim::GroupType kType = type_of(static_cast<const T*>(nullptr));
  using Rows = AttentionRows<Graph, kColumns>;
  using KeyFactor = decltype(Graph().key_tensor(0));
  using ValueFactor = decltype(Graph().value_tensor(0));
  using KeyTile = TensorTile<KeyFactor, Keys>;        ///< 64 of the depth
  using ValueTile = TensorTile<ValueFactor, kAcross>; ///< 64 keys
  static_assert(Keys % 64 == 0 && KeyTile::kDepth == 64);
  static constexpr int kKeyBytes = kDeep / 64 * KeyTile::kBytes, kValueBytes = Keys / 64 * ValueTile::kBytes;
  /// A group's queries; at the end what its warps write passes there.
  static constexpr int kPieces = 4 * kPieceBytes, kQueryPanel = kGroupRows * 128, kQueryBytes = kDeep / 64 * kQueryPanel > kPieces ? kDeep / 64 * kQueryPanel : kPieces;
  static constexpr int kShared = 2 * kQueryBytes + Stages * (kKeyBytes + kValueBytes);
  static constexpr int kMaps = 4;   ///< of a block: of keys and of values, of two batches

  struct Shared {
    prim::PhaseBarrier full_keys[Stages], full_values[Stages], empty_keys[Stages], empty_values[Stages], my_turn[2], meeting[2];
    prim::TensorMap::Scratch scratch[2];
  };

  /// All tiles of queries that are this block's. `memory`: kShared bytes on a boundary of 1024; `maps`: kMaps of the block's own.
  HONE_DEVICE static void run(const Graph& graph, char* memory, prim::TensorMap* maps, Shared& shared) {
    if (threadIdx.x == 0) {
      for (int s = 0; s < Stages; ++s) {
        shared.full_keys[s].init(1), shared.full_values[s].init(1);
        shared.empty_keys[s].init(kWarps), shared.empty_values[s].init(kWarps);
      }
      for (int group = 0; group < 2; ++group) shared.my_turn[group].init(kWarps / 2), shared.meeting[group].init(kWarps / 2);
    }
    __syncthreads();
    using Share = GroupRegisters<2, 1, 40>;
    // Of a number that all lanes have from one the compiler knows that they agree: it makes the units wait for each product where they might not.
    const int warp = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / 32, 0);
    if (warp >= kWarps) {
      if constexpr (Share::kMove) prim::registers_down<Share::kFetching>();
      if (warp == kWarps) fetch(graph, memory, maps, shared);
    } else {
      if constexpr (Share::kMove) prim::registers_up<Share::kMultiplying>();
      attend(graph, memory, shared, warp);
    }
  }

 private:
  HONE_DEVICE static char* keys_at(char* memory, int stage) { return memory + 2 * kQueryBytes + stage * kKeyBytes; }
  HONE_DEVICE static char* values_at(char* memory, int stage) { return memory + 2 * kQueryBytes + Stages * kKeyBytes + stage * kValueBytes; }
  HONE_DEVICE static int64_t first_key(const Graph& graph, const QueryTile& at) { return graph.first_key(at.batch, at.tile * kRows, kRows) / Keys * Keys; }
  HONE_DEVICE static int64_t last_key(const Graph& graph, const QueryTile& at) { return graph.last_key(at.batch, at.tile * kRows, kRows); }
  HONE_DEVICE static int tiles_between(int64_t first, int64_t last) { return last > first ? static_cast<int>((last - first + Keys - 1) / Keys) : 0; }

  /// The warp that asks for copies.
  HONE_DEVICE static void fetch(const Graph& graph, char* memory, prim::TensorMap* maps, Shared& shared) {
    int64_t batch = -1;
    unsigned count = 0, last_tiles = Stages;
    int set = 1;
    for_query_tiles<kRows>(graph, [&](const QueryTile& at) {
      const int64_t first = first_key(graph, at);
      const unsigned tiles = tiles_between(first, last_key(graph, at));
      if (at.batch != batch) {
        // The maps before the last ones: whatever was copied by them has come, as a stage is free only then, but for what the last
        // tile did not reach.
        set ^= 1;
        if (last_tiles < Stages && count > last_tiles) {
          const RingPlace<Stages> before(count - last_tiles - 1);
          shared.full_values[before.stage].wait(before.phase);
        }
        maps[2 * set].make(shared.scratch[0], graph.key_tensor(at.batch).tensor(), KeyTile::kRows);
        maps[2 * set + 1].make(shared.scratch[1], graph.value_tensor(at.batch).tensor(), ValueTile::kRows);
        batch = at.batch;
        last_tiles = 0;
      }
      last_tiles = tiles < Stages ? last_tiles + tiles : Stages;
      if (lane() == 0) {
        // copies(stage, its barrier, the tile's first key)
        const auto ask = [&](unsigned tile, prim::PhaseBarrier(&empty)[Stages], prim::PhaseBarrier(&full)[Stages], int bytes, auto copies) {
          const RingPlace<Stages> place(count + tile);
          empty[place.stage].wait(place.phase ^ 1);
          full[place.stage].arrive_expecting(bytes);
          copies(place.stage, full[place.stage], first + tile * int64_t{Keys});
        };
        const auto keys = [&](unsigned tile) {
          ask(tile, shared.empty_keys, shared.full_keys, kKeyBytes, [&](int stage, prim::PhaseBarrier& full, int64_t key) {
            HONE_UNROLL
            for (int d = 0; d < kDeep / 64; ++d) KeyTile{keys_at(memory, stage) + d * KeyTile::kBytes}.copy(full, maps[2 * set], key, d * 64, 0);
          });
        };
        const auto values = [&](unsigned tile) {
          ask(tile, shared.empty_values, shared.full_values, kValueBytes, [&](int stage, prim::PhaseBarrier& full, int64_t key) {
            HONE_UNROLL
            for (int n = 0; n < Keys / 64; ++n) ValueTile{values_at(memory, stage) + n * ValueTile::kBytes}.copy(full, maps[2 * set + 1], 0, key + n * 64, 0);
          });
        };
        for (unsigned tile = 0; tile < tiles; ++tile) {
          keys(tile);
          if (tile > 0) values(tile - 1);
        }
        if (tiles > 0) values(tiles - 1);
      }
      count += tiles;
      __syncwarp();
    });
  }

  /// A group of four warps.
  HONE_DEVICE static void attend(const Graph& graph, char* memory, Shared& shared, int warp) {
    const int group = warp / 4, in_warp = lane();
    char* const mine = memory + group * kQueryBytes;
    GroupMeeting meeting(shared.meeting[group]);
    prim::GroupProducts products;
    prim::AsyncCopies copies;
    unsigned count = 0;
    int turn_phase = group ^ 1;   // the first turn is the first group's: nobody had one before
    for_query_tiles<kRows>(graph, [&](const QueryTile& at) {
      const int64_t row0 = at.tile * kRows + group * kGroupRows, first = first_key(graph, at), last = last_key(graph, at);
      const int tiles = tiles_between(first, last);
      copy_tile<T, kGroupRows, kDeep, 128, 4>(copies, graph.query(at.batch), row0, 0, graph.depth(), [&](int line, int depth) {
        return reinterpret_cast<T*>(mine + depth / 64 * kQueryPanel + line * 128 + (depth % 64 / 8 ^ line % 8) * 16 + depth % 8 * 2);
      }, static_cast<int>(threadIdx.x) % 128);
      copies.commit();
      copies.template wait<0>();
      prim::async_fence();
      meeting.meet();

      const int64_t row_at = row0 + warp % 4 * 16 + in_warp / 4;
      const Row row[2] = {graph.row(at.batch, row_at), graph.row(at.batch, row_at + 8)};
      Rows sums;
      float score[Keys / 8][4], shrink[2];
      uint32_t weights[Keys / 16][Parts][4];
      const auto my_turn = [&] { shared.my_turn[group].wait(turn_phase), turn_phase ^= 1; };
      const auto your_turn = [&] {
        if (in_warp == 0) shared.my_turn[group ^ 1].arrive();
      };
      const auto wait_for = [&](prim::PhaseBarrier(&full)[Stages], int tile) {
        const RingPlace<Stages> place(count + tile);
        full[place.stage].wait(place.phase);
      };
      const auto multiply_keys = [&](int tile) {
        const RingPlace<Stages> place(count + tile);
        HONE_UNROLL
        for (int d = 0; d < Head / 16; ++d) {
          const KeyTile keys{keys_at(memory, place.stage) + d / 4 * KeyTile::kBytes};
          products.template multiply<kType>(flat(score), prim::GroupFactor::swizzled(mine + d / 4 * kQueryPanel).after(d % 4 * 32), keys.factor(0, d % 4 * 16), d > 0);
        }
        products.commit();
      };
      const auto multiply_values = [&](int tile) {
        const RingPlace<Stages> place(count + tile);
        HONE_UNROLL
        for (int n = 0; n < Keys / 16; ++n) {
          const ValueTile values{values_at(memory, place.stage) + n / 4 * ValueTile::kBytes};
          HONE_UNROLL
          for (int part = 0; part < Parts; ++part)
            products.template multiply_from<kType>(flat(sums.out), weights[n][part], values.factor(0, n % 4 * 16), true);
        }
        products.commit();
      };
      const auto done = [&](prim::PhaseBarrier(&empty)[Stages], int tile) {
        if (in_warp == 0) empty[RingPlace<Stages>(count + tile).stage].arrive();
      };
      const auto weigh = [&](int tile) {
        const int64_t key = first + tile * int64_t{Keys};
        const bool plain = key + Keys <= last && graph.all_count(at.batch, at.tile * kRows, kRows, key, Keys);
        sums.weigh(graph, row, score, key + in_warp % 4 * 2, last, plain, shrink);
      };
      const auto round = [&] {
        HONE_UNROLL
        for (int n = 0; n < Keys / 16; ++n) Rows::parts_of(score[2 * n], score[2 * n + 1], weights[n]);
      };

      if (tiles > 0) {
        wait_for(shared.full_keys, 0);
        my_turn();
        products.fence();
        multiply_keys(0);
        your_turn();
        products.template wait<0>(flat(score));
        done(shared.empty_keys, 0);
        weigh(0);
        round();
        for (int tile = 1; tile < tiles; ++tile) {
          // All waiting is before the products: the compiler has them wait for each other where a loop lies between them.
          wait_for(shared.full_keys, tile);
          wait_for(shared.full_values, tile - 1);
          my_turn();
          products.fence();
          multiply_keys(tile);
          multiply_values(tile - 1);
          your_turn();
          products.template wait<1>(flat(score));
          done(shared.empty_keys, tile);
          weigh(tile);
          products.template wait<0>(flat(sums.out));
          done(shared.empty_values, tile - 1);
          sums.scale(shrink);
          round();
        }
        wait_for(shared.full_values, tiles - 1);
        products.fence();
        multiply_values(tiles - 1);
        products.template wait<0>(flat(sums.out));
        done(shared.empty_values, tiles - 1);
        count += tiles;
      }
      sums.close_sums();
      meeting.meet();   // nobody reads the queries any more
      store(graph, at.batch, row0 + warp % 4 * 16, sums, reinterpret_cast<float*>(mine + warp % 4 * kPieceBytes));
      meeting.meet();
    });
  }

  /// A warp's 16 rows, kPiece columns at a time by way of `piece`, so that neighbours in a row are written together.
  HONE_DEVICE static void store(const Graph& graph, int64_t batch, int64_t row0, const Rows& sums, float* piece) {
    const int in_warp = lane(), rows = graph.rows() - row0 < 16 ? static_cast<int>(graph.rows() - row0) : 16;
    if (rows <= 0) return;
    const int64_t line0 = batch * graph.rows() + row0;
    const float whole[2] = {1.0f / sums.rows[0].sum, 1.0f / sums.rows[1].sum};
    // Each row begins 8 columns further than the one before, so that neither side meets a bank twice.
    const auto at = [&](int, int r, int c) { return piece + r * kPiece + (c + 8 * r) % kPiece; };
    // Only what moves sums out of the registers is written out for each piece.
    HONE_UNROLL_BY(1)
    for (int begin = 0; begin < kColumns; begin += kPiece) {
      __syncwarp();
      HONE_UNROLL
      for (int j = 0; j < kColumns / 8; ++j)
        if (j * 8 / kPiece * kPiece == begin) {
          HONE_UNROLL
          for (int r = 0; r < 2; ++r)
            store_shared(at(0, in_warp / 4 + 8 * r, j * 8 % kPiece + in_warp % 4 * 2), Words<float, 2>{{sums.out[j][2 * r] * whole[r], sums.out[j][2 * r + 1] * whole[r]}});
        }
      __syncwarp();
      const auto reads = [&](auto moved, int r, int c) { return graph.reads(moved, line0 + r, begin + c); };
      HONE_UNROLL_BY(1)
      for (int turn = 0; turn < 2; ++turn)
        finish_turn<float, 1>(
            rows, graph.columns() - begin, turn, read_turn<2>(rows, graph.columns() - begin, turn, [&](int r, int c) { return graph.on_words(line0 + r, begin + c); }, reads),
            at, reads, [&](int r, int c, const float(&x)[1]) { graph.store(graph.row(batch, row0 + r), batch, row0 + r, begin + c, x[0]); },
            [&](auto moved, int r, int c, const float(&x)[1][kMany], const auto& given) { graph.store_words(moved, line0 + r, begin + c, x[0], given); });
    }
  }

  /// Sums in the order in which the units know them.
  template <int Tiles>
  HONE_DEVICE static float (&flat(float (&sums)[Tiles][4]))[4 * Tiles] { return reinterpret_cast<float(&)[4 * Tiles]>(sums); }
};

}  // namespace hone::gpu
