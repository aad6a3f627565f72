// Attention on Hopper's matrix units (wgmma, sm_90a): attention.h says what it computes and of what Graph.
//
// A block has 64 rows for each of its groups of four warps. Queries lie in shared memory as core matrices; tiles of keys and values come by
// cp.async, two of either, swizzled, so that neither the copies nor the units meet a bank twice. Keys are one tile ahead of values:
// while the units multiply the weights of one tile with its values, the threads make weights of the next tile's products.
//
//   step t        units                         threads                          copies on their way
//                 keys t + 1 (products)         wait for them                    keys t + 2, values t + 1
//                 weights t with values t       weights t + 1, in f32
//                                               sums so far shrink, weights rounded
#pragma once
#include "hone/gpu/attention.h"
#include "hone/gpu/matmul_wgmma.h"

namespace hone::gpu {

/// A tile of a factor of 16-bit numbers as it lies in memory, for the units: panels of 128 bytes of that, swizzled (prim_wgmma.h).
template <class T_, int Lines, int Depth, bool AlongDepth>
struct SwizzledTile {
  using T = T_;
  static constexpr int kAcross = AlongDepth ? Lines : Depth, kPanel = 128 * kAcross, kBytes = ((AlongDepth ? Depth : Lines) + 63) / 64 * kPanel;
  static_assert(kAcross % 8 == 0);
  char* data;   ///< on a boundary of 1024 bytes

  HONE_DEVICE T* at(int line, int depth) const {
    const int along = AlongDepth ? depth : line, across = AlongDepth ? line : depth;
    return reinterpret_cast<T*>(data + along / 64 * kPanel + across * 128 + (along % 64 / 8 ^ across % 8) * 16 + along % 8 * 2);
  }
  /// What the units multiply at `depth`, a multiple of 16.
  HONE_DEVICE auto factor(int depth) const {
    if constexpr (AlongDepth) return prim::GroupFactor::swizzled(data + depth / 64 * kPanel).after(depth % 64 * 2);
    else return prim::GroupFactorAcross(data, kPanel).after(depth);
  }
  template <int Threads, class F>
  HONE_DEVICE void fill(prim::AsyncCopies& copies, const F& factor, int64_t line0, int64_t depth0, int64_t end) const {
    copy_tile<T, Lines, Depth, Threads, 4>(copies, factor, line0, depth0, end, [this](int line, int depth) { return at(line, depth); });
  }
};

/// As many columns as the units take at a time, `columns` or more.
constexpr int group_columns(int columns) {
  return columns <= 16 ? 16 : columns <= 32 ? 32 : columns <= 48 ? 48 : columns <= 64 ? 64 : columns <= 96 ? 96 : columns <= 128 ? 128 : 256;
}

template <class Graph_, int Groups, int Keys, int Head, int ValueHead, int Parts>
struct GroupAttention : AttentionRows<Graph_, group_columns(ValueHead)> {
  static constexpr int kRows = 64 * Groups, kThreads = 128 * Groups, kKeys = Keys, kValueHead = ValueHead, kColumns = group_columns(ValueHead);
  using Base = AttentionRows<Graph_, kColumns>;
  using typename Base::Graph, typename Base::T, typename Base::Row;
  static constexpr prim::GroupType kType = type_of(static_cast<const T*>(nullptr));
  using KeyTile = SwizzledTile<T, Keys, Head, decltype(Graph().key(0))::kAlongDepth>;
  using ValueTile = SwizzledTile<T, kColumns, Keys, decltype(Graph().value(0))::kAlongDepth>;
  static constexpr int kQueries = 2 * kRows * Head, kShared = kQueries + 2 * (KeyTile::kBytes + ValueTile::kBytes);
  static_assert(Head % 16 == 0 && Keys % 16 == 0 && kQueries % 1024 == 0);

  /// Everything that rows [row0, row0 + kRows) see of keys [begin, end). `memory`: kShared bytes on a boundary of 1024.
  HONE_DEVICE void run(const Graph& graph, int64_t batch, int64_t row0, int64_t begin, int64_t end, void* memory) {
    const int tiles = end > begin ? static_cast<int>((end - begin + Keys - 1) / Keys) : 0;
    if (tiles == 0) return;
    char* const base = static_cast<char*>(memory);
    const auto key = graph.key(batch);
    const auto value = graph.value(batch);
    const auto keys_of = [&](int tile) { return KeyTile{base + kQueries + tile % 2 * KeyTile::kBytes}; };
    const auto values_of = [&](int tile) { return ValueTile{base + kQueries + 2 * KeyTile::kBytes + tile % 2 * ValueTile::kBytes}; };
    const auto key_at = [&](int tile) { return begin + tile * static_cast<int64_t>(Keys); };
    prim::AsyncCopies copies;
    const auto fetch = [&](int of_keys, int of_values) {
      if (of_keys < tiles) keys_of(of_keys).template fill<kThreads>(copies, key, key_at(of_keys), 0, graph.depth());
      if (of_values >= 0 && of_values < tiles) values_of(of_values).template fill<kThreads>(copies, value, 0, key_at(of_values), graph.keys());
      copies.commit();
    };
    copy_tile<T, kRows, Head, kThreads, 4>(copies, graph.query(batch), row0, 0, graph.depth(), [&](int line, int depth) {
      return reinterpret_cast<T*>(base + depth / 8 * (16 * kRows) + line * 16 + depth % 8 * 2);
    });
    fetch(0, -1);
    fetch(1, 0);

    const int group = static_cast<int>(threadIdx.x) / 128, row_at = static_cast<int>(threadIdx.x) / 32 * 16 + lane() / 4;
    const Row row[2] = {graph.row(batch, row0 + row_at), graph.row(batch, row0 + row_at + 8)};
    const prim::GroupFactor queries(base + group * (64 * 16), 16 * kRows, 128);
    prim::GroupProducts products;
    float score[Keys / 8][4], shrink[2];
    uint32_t weights[Keys / 16][Parts][4];
    const auto multiply_keys = [&](int tile) {
      const KeyTile keys = keys_of(tile);
      HONE_UNROLL
      for (int d = 0; d < Head / 16; ++d)
        products.template multiply<kType>(flat(score), queries.after(d * 2 * 16 * kRows), keys.factor(16 * d), d > 0);
      products.commit();
    };
    const auto multiply_values = [&](int tile) {
      const ValueTile values = values_of(tile);
      HONE_UNROLL
      for (int n = 0; n < Keys / 16; ++n)
        HONE_UNROLL
        for (int part = 0; part < Parts; ++part)
          products.template multiply_from<kType>(flat(this->out), weights[n][part], values.factor(16 * n), true);
      products.commit();
    };
    const auto weigh = [&](int tile) {
      const bool plain = key_at(tile) + Keys <= end && graph.all_count(batch, row0, kRows, key_at(tile), Keys);
      Base::weigh(graph, row, score, key_at(tile) + lane() % 4 * 2, end, plain, shrink);
    };
    const auto round = [&] {
      HONE_UNROLL
      for (int n = 0; n < Keys / 16; ++n) this->parts_of(score[2 * n], score[2 * n + 1], weights[n]);
    };
    const auto arrived = [&] {
      prim::async_fence();
      __syncthreads();
    };

    copies.template wait<1>();
    arrived();
    products.fence();
    multiply_keys(0);
    products.template wait<0>(flat(score));
    weigh(0);
    round();
    for (int tile = 0; tile + 1 < tiles; ++tile) {
      copies.template wait<0>();
      arrived();  // keys tile + 1 and values tile are there; nobody reads what was before them any more
      products.fence();
      multiply_keys(tile + 1);
      multiply_values(tile);
      fetch(tile + 2, tile + 1);
      products.template wait<1>(flat(score));
      weigh(tile + 1);
      products.template wait<0>(flat(this->out));
      this->scale(shrink);
      round();
    }
    copies.template wait<0>();
    arrived();
    products.fence();
    multiply_values(tiles - 1);
    products.template wait<0>(flat(this->out));
  }

  /// After run(), before for_each().
  HONE_DEVICE void close() { this->close_sums(); }
  /// body(row of the tile, OnlineSum, column, two elements beside each other), of what this warp holds of the result.
  template <class Body>
  HONE_DEVICE void for_each(Body body) const {
    const int row_at = static_cast<int>(threadIdx.x) / 32 * 16;
    this->for_rows([&](int row, const OnlineSum& sum, int column, float a, float b) { body(row_at + row, sum, column, a, b); });
  }

 private:
  /// Sums in the order in which the units know them.
  template <int Tiles>
  HONE_DEVICE static float (&flat(float (&sums)[Tiles][4]))[4 * Tiles] { return reinterpret_cast<float(&)[4 * Tiles]>(sums); }
};

}  // namespace hone::gpu
