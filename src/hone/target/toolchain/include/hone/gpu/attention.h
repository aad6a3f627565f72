// Attention in one pass over the keys: softmax over keys of scores q k', times values, without the scores ever being in
// memory. Products run on NVIDIA's tensor cores (mma.sync, sm_80 and later), of factors of 16 bits, or of floats as three products of
// TF32 (hone/gpu/matmul_mma.h says how the accuracy of fp32 is kept).
//
// A block has a tile of query rows and walks over tiles of keys, which cp.async brings into shared memory ahead of their use. Scores
// of a tile are accumulators of the first product; they become the left factor of the second one in registers. The softmax is
// online: a row keeps its largest score so far and the sum of exponentials under it; when a larger one comes, what was summed
// shrinks by exp(old - new). Warps share a tile by rows (RowWarps) and by keys (KeyWarps): few rows, as in decoding, are one
// tile that all warps work on, each on keys of its own, and bring together at the end.
#pragma once
#include "hone/gpu/attention_rows.h"
#include "hone/gpu/matmul_mma.h"

namespace hone::gpu {

/// How factors of T reach the units. kTogether: of the depth, sums that the units may keep for themselves; 0: all of it.
template <class T>
struct AttentionMath : Stored16<T> {
  static constexpr int kTogether = 0;
};
template <>
struct AttentionMath<float> : Tf32<2> {};

template <class Graph_, int RowWarps_, int KeyWarps_, int Keys_, int Head_, int ValueHead_, int Stages_, int Parts_>
struct Attention : AttentionRows<Graph_, ValueHead_> {
  using Base = AttentionRows<Graph_, ValueHead_>;
  using typename Base::Graph, typename Base::T, typename Base::Row;
  using Base::out, Base::rows;
  using Math = AttentionMath<T>;
  static constexpr bool kFloats = sizeof(T) == 4;
  static constexpr int kRows = 16 * RowWarps_, kThreads = 32 * RowWarps_ * KeyWarps_, kKeys = Keys_, kHead = Head_, kValueHead = ValueHead_;
  static constexpr int kWarpKeys = kKeys / KeyWarps_;   ///< of a tile, a warp's
  static_assert(kWarpKeys % 16 == 0 && kHead % 16 == 0 && kValueHead % 16 == 0);
  using QueryTile = SharedTile<T, kRows, kHead, decltype(Graph().query(0))::kAlongDepth, Math::kPair>;
  using KeyTile = SharedTile<T, kKeys, kHead, decltype(Graph().key(0))::kAlongDepth, Math::kPair>;
  using ValueTile = SharedTile<T, kValueHead, kKeys, decltype(Graph().value(0))::kAlongDepth, Math::kPair>;
  static constexpr int kStage = KeyTile::kElements + ValueTile::kElements;
  /// Bytes of shared memory: the queries, Stages of keys and values; at the end a warp's results for each other one along the keys.
  static constexpr int kTiles = static_cast<int>(sizeof(T)) * (QueryTile::kElements + Stages_ * kStage);
  static constexpr int kMerge = 4 * (KeyWarps_ - 1) * kRows * (kValueHead + 2);
  static constexpr int kShared = kTiles > kMerge ? kTiles : kMerge;

  /// Everything that rows [row0, row0 + kRows) see of keys [begin, end).
  HONE_DEVICE void run(const Graph& graph, int64_t batch, int64_t row0, int64_t begin, int64_t end, void* memory) {
    const int warp = static_cast<int>(threadIdx.x) / 32, in_warp = lane();
    const int row_at = warp / KeyWarps_ * 16, key_at = warp % KeyWarps_ * kWarpKeys;
    const auto query = graph.query(batch);
    const auto key = graph.key(batch);
    const auto value = graph.value(batch);
    QueryTile queries{static_cast<T*>(memory)};
    const auto keys_of = [&](int stage) { return KeyTile{static_cast<T*>(memory) + QueryTile::kElements + stage * kStage}; };
    const auto values_of = [&](int stage) { return ValueTile{static_cast<T*>(memory) + QueryTile::kElements + stage * kStage + KeyTile::kElements}; };
    prim::AsyncCopies copies;
    const int tiles = end > begin ? static_cast<int>((end - begin + kKeys - 1) / kKeys) : 0;
    const auto fetch = [&](int tile) {
      if (tile < tiles) {
        const int64_t from = begin + tile * static_cast<int64_t>(kKeys);
        keys_of(tile % Stages_).template fill<kThreads>(copies, key, from, 0, graph.depth());
        values_of(tile % Stages_).template fill<kThreads>(copies, value, 0, from, graph.keys());
      }
      copies.commit();
    };
    queries.template fill<kThreads>(copies, query, row0, 0, graph.depth());
    HONE_UNROLL
    for (int tile = 0; tile < Stages_ - 1; ++tile) fetch(tile);

    const Row row[2] = {graph.row(batch, row0 + row_at + in_warp / 4), graph.row(batch, row0 + row_at + in_warp / 4 + 8)};
    Queries left;
    for (int tile = 0; tile < tiles; ++tile) {
      copies.template wait<Stages_ - 2>();
      __syncthreads();  // the tile is there, and nobody reads any more where the next one goes
      if (kKept && tile == 0) {
        HONE_UNROLL
        for (int d = 0; d < kSteps; ++d) Math::load(queries, row_at, Math::kDepth * d, left.of[d]);
      }
      fetch(tile + Stages_ - 1);
      const int64_t key0 = begin + tile * static_cast<int64_t>(kKeys);
      const bool plain = key0 + kKeys <= end && graph.all_count(batch, row0, kRows, key0, kKeys);
      const auto query_at = [&](int d, uint32_t(&parts)[Math::kParts][4]) {
        if constexpr (kKept) {
          HONE_UNROLL
          for (int i = 0; i < Math::kParts * 4; ++i) parts[i / 4][i % 4] = left.of[d][i / 4][i % 4];
        } else {
          Math::load(queries, row_at, Math::kDepth * d, parts);
        }
      };
      step(graph, row, query_at, keys_of(tile % Stages_), values_of(tile % Stages_), key0, key_at, end, plain);
    }
    copies.template wait<0>();
    __syncthreads();
    if constexpr (KeyWarps_ > 1) merge(static_cast<float*>(memory), warp / KeyWarps_, warp % KeyWarps_, in_warp);
  }

  /// body(row of the tile, OnlineSum, column, two elements beside each other), of what this warp holds of the result.
  template <class Body>
  HONE_DEVICE void for_each(Body body) const {
    const int warp = static_cast<int>(threadIdx.x) / 32;
    if (warp % KeyWarps_ != 0) return;  // merged
    this->for_rows([&](int row, const OnlineSum& sum, int column, float a, float b) { body(warp / KeyWarps_ * 16 + row, sum, column, a, b); });
  }

 private:
  /// Queries stay in registers where there is room beside the scores and the result.
  static constexpr int kSteps = kHead / Math::kDepth;
  static constexpr bool kKept = !kFloats || kHead <= 64;
  struct Queries {
    uint32_t of[kKept ? kSteps : 1][Math::kParts][4];
  };

  /// sums += left x right over 16 lines of the right factor, in halves of 8: the products of parts that matter, smallest first.
  HONE_DEVICE static void multiply(float (&low)[4], float (&high)[4], const uint32_t (&left)[Math::kParts][4], const uint32_t (&right)[Math::kParts][4]) {
    using Pairs = Products<Math::kParts>;
    HONE_UNROLL
    for (int p = 0; p < Pairs::kCount; ++p) {
      const auto& r = right[Pairs::right(p)];
      Math::mma(low, left[Pairs::left(p)], r[0], r[2]);
      Math::mma(high, left[Pairs::left(p)], r[1], r[3]);
    }
  }
  HONE_DEVICE static void add(float (&to)[4], const float (&from)[4]) {
    HONE_UNROLL
    for (int e = 0; e < 4; ++e) to[e] += from[e];
  }

  template <class QueryAt>
  HONE_DEVICE void step(const Graph& graph, const Row (&row)[2], QueryAt query_at, const KeyTile& keys, const ValueTile& values, int64_t key0, int key_at,
                        int64_t end, bool plain) {
    constexpr int kSixteens = kWarpKeys / 16, kAtOnce = Math::kTogether == 0 ? kSteps : Math::kTogether / Math::kDepth;
    float score[2 * kSixteens][4] = {};
    HONE_UNROLL
    for (int d0 = 0; d0 < kSteps; d0 += kAtOnce) {
      uint32_t left[kAtOnce][Math::kParts][4];
      HONE_UNROLL
      for (int d = 0; d < kAtOnce; ++d) query_at(d0 + d, left[d]);
      HONE_UNROLL
      for (int n = 0; n < kSixteens; ++n) {
        float low[4] = {}, high[4] = {};
        HONE_UNROLL
        for (int d = 0; d < kAtOnce; ++d) {
          uint32_t right[Math::kParts][4];
          Math::load(keys, key_at + 16 * n, Math::kDepth * (d0 + d), right);
          multiply(low, high, left[d], right);
        }
        add(score[2 * n], low), add(score[2 * n + 1], high);
      }
    }
    float shrink[2];
    this->weigh(graph, row, score, key0 + key_at + lane() % 4 * 2, end, plain, shrink);
    this->scale(shrink);
    HONE_UNROLL
    for (int n = 0; n < kSixteens; ++n) {
      if constexpr (kFloats) take_floats(score[2 * n], score[2 * n + 1], values, key_at + 16 * n);
      else take_numbers(score[2 * n], score[2 * n + 1], values, key_at + 16 * n);
    }
  }

  /// What 16 keys from `key` on of the tile add to the result, by their weights.
  HONE_DEVICE void take_numbers(const float (&first)[4], const float (&second)[4], const ValueTile& values, int key) {
    uint32_t weights[Parts_][4];
    this->parts_of(first, second, weights);
    HONE_UNROLL
    for (int j = 0; j < kValueHead / 16; ++j) {
      uint32_t right[1][4];
      Math::load(values, 16 * j, key, right);
      HONE_UNROLL
      for (int part = 0; part < Parts_; ++part) {
        Math::mma(out[2 * j], weights[part], right[0][0], right[0][2]);
        Math::mma(out[2 * j + 1], weights[part], right[0][1], right[0][3]);
      }
    }
  }
  /// The same of floats. A lane has the weights of keys 2 t and 2 t + 1 of each eight where the units' left factor has those of t and t + 4:
  /// the sum is over all of them, so the values are taken in that order too.
  HONE_DEVICE void take_floats(const float (&first)[4], const float (&second)[4], const ValueTile& values, int key) {
    uint32_t weights[2][Math::kParts][4];
    HONE_UNROLL
    for (int eight = 0; eight < 2; ++eight) {
      const float(&of)[4] = eight == 0 ? first : second;
      Math::split({__float_as_uint(of[0]), __float_as_uint(of[2]), __float_as_uint(of[1]), __float_as_uint(of[3])}, weights[eight]);
    }
    HONE_UNROLL
    for (int j = 0; j < kValueHead / 16; ++j) {
      float low[4] = {}, high[4] = {};
      HONE_UNROLL
      for (int eight = 0; eight < 2; ++eight) {
        uint32_t x[4], right[Math::kParts][4];
        HONE_UNROLL
        for (int i = 0; i < 4; ++i) x[i] = __float_as_uint(*values.at(16 * j + i % 2 * 8 + lane() / 4, key + 8 * eight + lane() % 4 * 2 + i / 2));
        Math::split(x, right);
        multiply(low, high, weights[eight], right);
      }
      add(out[2 * j], low), add(out[2 * j + 1], high);
    }
  }

  /// The first warp along the keys gets what the others found.
  HONE_DEVICE void merge(float* memory, int row_warp, int key_warp, int in_warp) {
    // A lane has its part of the sum, and all of the maximum.
    this->close_sums();
    constexpr int kPitch = kValueHead + 2;
    const auto place = [&](int warp, int r) { return memory + (((warp - 1) * RowWarps_ + row_warp) * 16 + in_warp / 4 + 8 * r) * kPitch; };
    if (key_warp > 0) {
      HONE_UNROLL
      for (int r = 0; r < 2; ++r) {
        float* const to = place(key_warp, r);
        HONE_UNROLL
        for (int j = 0; j < kValueHead / 8; ++j) to[8 * j + in_warp % 4 * 2] = out[j][2 * r], to[8 * j + in_warp % 4 * 2 + 1] = out[j][2 * r + 1];
        if (in_warp % 4 == 0) to[kValueHead] = rows[r].most, to[kValueHead + 1] = rows[r].sum;
      }
    }
    __syncthreads();
    if (key_warp == 0) {
      for (int warp = 1; warp < KeyWarps_; ++warp)
        HONE_UNROLL
        for (int r = 0; r < 2; ++r) {
          const float* const from = place(warp, r);
          const OnlineSum other{from[kValueHead], from[kValueHead + 1]};
          const float most = fmaxf(rows[r].most, other.most), mine = rows[r].shrink(most), its = other.shrink(most);
          rows[r] = {most, rows[r].sum * mine + other.sum * its};
          HONE_UNROLL
          for (int j = 0; j < kValueHead / 8; ++j)
            HONE_UNROLL
            for (int e = 0; e < 2; ++e)
              out[j][2 * r + e] = out[j][2 * r + e] * mine + from[8 * j + in_warp % 4 * 2 + e] * its;
        }
    }
  }

 public:
  /// After run(), before for_each().
  HONE_DEVICE void close() {
    if constexpr (KeyWarps_ == 1) this->close_sums();
  }
};

/// All of the result for rows [row0, row0 + kRows) of `batch`.
template <class A>
HONE_DEVICE void attend(const typename A::Graph& graph, int64_t batch, int64_t row0, void* memory) {
  A attention;
  const int64_t first = graph.first_key(batch, row0, A::kRows) / A::kKeys * A::kKeys;
  attention.run(graph, batch, row0, first, graph.last_key(batch, row0, A::kRows), memory);
  attention.close();
  attention.for_each([&](int row, const OnlineSum& sum, int column, float a, float b) {
    if (row0 + row >= graph.rows()) return;
    const typename A::Graph::Row at = graph.row(batch, row0 + row);
    const float whole = 1.0f / sum.sum;
    if (column < graph.columns()) graph.store(at, batch, row0 + row, column, a * whole);
    if (column + 1 < graph.columns()) graph.store(at, batch, row0 + row, column + 1, b * whole);
  });
}

/// Block `block` of the grid batch x tiles x chunks: what its tile of rows sees of its segment of the keys, left in `parts`
/// [batch * rows, chunks, columns + 2]: sums under the row's maximum, that maximum, the sum of weights.
template <class A>
HONE_DEVICE void attend_part(const typename A::Graph& graph, int64_t block, float* parts, int64_t chunks, void* memory) {
  const int64_t tiles = (graph.rows() + A::kRows - 1) / A::kRows, chunk = block % chunks, tile = block / chunks % tiles, batch = block / chunks / tiles;
  const int64_t row0 = tile * A::kRows, end = graph.last_key(batch, row0, A::kRows), first = graph.first_key(batch, row0, A::kRows);
  Segment segment = segment_of<A::kKeys>(end, chunk, chunks);
  if (segment.begin < first) segment.begin = first / A::kKeys * A::kKeys;
  A attention;
  attention.run(graph, batch, row0, segment.begin, segment.end, memory);
  attention.close();
  attention.for_each([&](int row, const OnlineSum& sum, int column, float a, float b) {
    if (row0 + row >= graph.rows()) return;
    float* const to = parts + ((batch * graph.rows() + row0 + row) * chunks + chunk) * (A::kValueHead + 2);
    to[column] = a, to[column + 1] = b;
    if (column == 0) to[A::kValueHead] = sum.most, to[A::kValueHead + 1] = sum.sum;
  });
}

/// Row `line` of batch * rows: its parts under one maximum, and the result stored. A block of any size.
template <int ValueHead, class Graph>
HONE_DEVICE void close_parts(const Graph& graph, int64_t line, const float* parts, int64_t chunks) {
  const float* const mine = parts + line * chunks * (ValueHead + 2);
  float most = -__builtin_inff();
  for (int64_t c = 0; c < chunks; ++c) most = fmaxf(most, mine[c * (ValueHead + 2) + ValueHead]);
  float sum = 0;
  for (int64_t c = 0; c < chunks; ++c) {
    const float* const part = mine + c * (ValueHead + 2);
    sum += part[ValueHead + 1] * OnlineSum{part[ValueHead], 0}.shrink(most);
  }
  const int64_t batch = line / graph.rows(), row = line % graph.rows();
  const typename Graph::Row at = graph.row(batch, row);
  for (int column = static_cast<int>(threadIdx.x); column < graph.columns(); column += static_cast<int>(blockDim.x)) {
    float x = 0;
    for (int64_t c = 0; c < chunks; ++c) {
      const float* const part = mine + c * (ValueHead + 2);
      x += part[column] * OnlineSum{part[ValueHead], 0}.shrink(most);
    }
    graph.store(at, batch, row, column, x / sum);
  }
}

}  // namespace hone::gpu
