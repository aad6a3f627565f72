// The rows of an attention that a lane has a share of: the softmax that goes along (attention.h, attention_wgmma.h).
//
// What a computation has of its own is a Graph:
//   using T                                  bf16, f16 or float: of queries, keys and values as they lie in memory
//   struct Row; Row row(batch, row)          what its scores depend on, worked out once a row
//   float score(Row, key, s)                 from the product s to the score: scale, mask, bias, cap; -infinity leaves a key out
//   bool all_count(batch, row, rows, key, keys)   whether all of `rows` rows see all of `keys` keys, as far as the mask goes
//   float plain_score(Row, key, s)           the score of a key that counts: without the mask
//   query(batch), key(batch), value(batch)   factors (matmul.h): rows x depth, keys x depth, columns x keys
//   int64_t first_key(batch, row, rows), last_key(...)   keys before and from there on are left out for all of `rows` rows
//   void store(Row, batch, row, column, x)   what is done with an element of the result
#pragma once
#include "hone/gpu/math.h"
#include "hone/gpu/matmul_mma.h"

namespace hone::gpu {

/// What a row knows after some keys.
struct OnlineSum {
  float most = -__builtin_inff(), sum = 0;
  /// By how much sums under `most` shrink under `other`. Before any key counts there is nothing to shrink.
  HONE_DEVICE float shrink(float other) const { return most == other || most == -__builtin_inff() ? 1.0f : exp2f((most - other) * 1.4426950408889634f); }
};

/// Lanes 4 r to 4 r + 3 share two rows, r and r + 8 of a warp's 16, as sums of the matrix units lie: of 8 columns a lane has two of
/// either row. Of those rows a lane's share of the result of Columns columns, and how far each is.
template <class Graph_, int Columns>
struct AttentionRows {
  using Graph = Graph_;
  using Row = typename Graph::Row;
  using T = typename Graph::T;
  float out[Columns / 8][4] = {};
  OnlineSum rows[2];

  /// Weights are 2^lift times as large as they are, their sums too: f16 has few digits below 2^-14, and a weight has them all then.
  HONE_DEVICE static constexpr float lift(const bf16*) { return 0; }
  HONE_DEVICE static constexpr float lift(const f16*) { return 14; }
  HONE_DEVICE static constexpr float lift(const float*) { return 0; }

  /// What a quad of lanes has together.
  HONE_DEVICE static float of_quad(float x, bool largest) {
    HONE_UNROLL
    for (int lanes = 1; lanes <= 2; lanes *= 2) {
      const float other = shuffle_xor(x, lanes);
      x = largest ? fmaxf(x, other) : x + other;
    }
    return x;
  }

  /// Products of both rows with 8 Tiles keys become weights under each row's largest score so far; what was summed before is to
  /// shrink by `shrink`. This lane's first key is `key`; keys from `end` on are none. `plain`: every one of the keys counts for every row.
  template <int Tiles>
  HONE_DEVICE void weigh(const Graph& graph, const Row (&row)[2], float (&score)[Tiles][4], int64_t key, int64_t end, bool plain, float (&shrink)[2]) {
    HONE_UNROLL
    for (int r = 0; r < 2; ++r) {
      float most = rows[r].most;
      if (plain) {
        HONE_UNROLL
        for (int n = 0; n < Tiles; ++n)
          HONE_UNROLL
          for (int e = 0; e < 2; ++e) {
            float& s = score[n][2 * r + e];
            s = graph.plain_score(row[r], key + (8 * n + e), s);
            most = fmaxf(most, s);
          }
      } else {
        HONE_UNROLL
        for (int n = 0; n < Tiles; ++n)
          HONE_UNROLL
          for (int e = 0; e < 2; ++e) {
            float& s = score[n][2 * r + e];
            s = key + (8 * n + e) < end ? graph.score(row[r], key + (8 * n + e), s) : -__builtin_inff();
            most = fmaxf(most, s);
          }
      }
      most = of_quad(most, true);
      // The difference before the scale: it is small and nearly exact where the scores are large, and they may be as large as floats are.
      const float from = most == -__builtin_inff() ? 0.0f : most;
      shrink[r] = rows[r].shrink(most);
      float sum = 0;
      HONE_UNROLL
      for (int n = 0; n < Tiles; ++n)
        HONE_UNROLL
        for (int e = 0; e < 2; ++e) {
          float& s = score[n][2 * r + e];
          s = prim::exp2_of_small((s - from) * 1.4426950408889634f + lift(static_cast<const T*>(nullptr)));
          sum += s;
        }
      rows[r].most = most;
      rows[r].sum = rows[r].sum * shrink[r] + sum;
    }
  }
  HONE_DEVICE void scale(const float (&by)[2]) {
    HONE_UNROLL
    for (int j = 0; j < Columns / 8; ++j)
      HONE_UNROLL
      for (int e = 0; e < 4; ++e) out[j][e] *= by[e / 2];
  }

  /// Weights with 16 keys as the left factor of a product, rounded to T, and with two parts what is left of them: as exact as 16 bits
  /// more. `score`: of the two tiles of keys.
  template <int Parts>
  HONE_DEVICE static void parts_of(const float (&first)[4], const float (&second)[4], uint32_t (&weights)[Parts][4]) {
    HONE_UNROLL
    for (int i = 0; i < 4; ++i) {
      const float(&from)[4] = i < 2 ? first : second;
      float a = from[i % 2 * 2], b = from[i % 2 * 2 + 1];
      HONE_UNROLL
      for (int part = 0; part < Parts; ++part) {
        const T x = stored<T>(a), y = stored<T>(b);
        weights[part][i] = bits_of(x) | bits_of(y) << 16;
        a -= gpu::value(x), b -= gpu::value(y);
      }
    }
  }
  HONE_DEVICE static uint32_t bits_of(bf16 x) { return __bfloat16_as_ushort(x); }
  HONE_DEVICE static uint32_t bits_of(f16 x) { return __half_as_ushort(x); }

  /// The sums of the weights, of which each lane of a quad has had its own.
  HONE_DEVICE void close_sums() {
    for (int r = 0; r < 2; ++r) rows[r].sum = of_quad(rows[r].sum, false);
  }

  /// body(row of the warp's 16, OnlineSum, column, two elements beside each other).
  template <class Body>
  HONE_DEVICE void for_rows(Body body) const {
    const int in_warp = lane();
    HONE_UNROLL
    for (int r = 0; r < 2; ++r)
      HONE_UNROLL
      for (int j = 0; j < Columns / 8; ++j) body(in_warp / 4 + 8 * r, rows[r], 8 * j + in_warp % 4 * 2, out[j][2 * r], out[j][2 * r + 1]);
  }
};

}  // namespace hone::gpu
