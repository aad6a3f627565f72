/* hone
language = "@language@"
pattern  = "attention"
note     = "@note@"
@requires@tunables = { @tunables@, KEYS = [@keys@], HEAD = [@head@], VALUE_HEAD = [@value_head@], PARTS = [@parts@] }
constraints = [@constraints@"@shared@@spare@ <= SHARED_MAX"]
@workspaces@@launches@*/
// Attention: softmax over the keys of scores, times values, in one pass over the keys. Scores are never in memory: they are
// accumulators of one product on tensor cores and the left factor of the next (@header@ says how).
//
// When it pays: always where queries, keys and values have 16 bits, or are floats that have to stay as exact as floats are. The products are the bound with many queries a
// head; with few (decoding) the bytes of keys and values are, and blocks share the keys of a head.
@legend@//   KEYS       keys in a tile
//   HEAD, VALUE_HEAD  the depth of the products, and the columns of the result, up to the next multiple of 16
//   PARTS      numbers of 16 bits that a weight is written as (floats: 1, two of TF32)
#include "@header@"

@score@
@finish@
template <int V>
struct Graph {
  using T = @element@;
@members@
  struct Row {
    int64_t line_at;
    score_row score;@plain_row@
  };
  __device__ Row row(int64_t batch_at, int64_t row_at) const {
    const int64_t line_at = batch_at * rows() + (row_at < rows() ? row_at : rows() - 1);
    return {line_at, score_row_of(@names@, line_at)@plain_row_of@};
  }
  __device__ float score(const Row& row_of, int64_t key_at, float s_at) const { return score_of(@names@, row_of.score, key_at, s_at); }
  __device__ float plain_score(const Row& row_of, int64_t key_at, float s_at) const { return @plain@_of(@names@, row_of.@plain@, key_at, s_at); }
  __device__ auto query([[maybe_unused]] int64_t batch_at) const {
    return hone::gpu::factor<V, @query_along@>(@query_base@, rows(), [*this](int64_t line_at) -> int64_t { return @query_line@; },
                                               [*this](int64_t depth_at) -> int64_t { return @query_depth@; });
  }
  __device__ auto key([[maybe_unused]] int64_t batch_at) const {
    return hone::gpu::factor<V, @key_along@>(@key_base@, keys(), [*this](int64_t line_at) -> int64_t { return @key_line@; },
                                             [*this](int64_t depth_at) -> int64_t { return @key_depth@; });
  }
  __device__ auto value([[maybe_unused]] int64_t batch_at) const {
    return hone::gpu::factor<V, @value_along@>(@value_base@, columns(), [*this](int64_t line_at) -> int64_t { return @value_line@; },
                                               [*this](int64_t depth_at) -> int64_t { return @value_depth@; });
  }
  __device__ int64_t rows() const { return @row_count@; }
  __device__ int64_t keys() const { return @key_count@; }
  __device__ int64_t depth() const { return @depth_count@; }
  __device__ int64_t columns() const { return @column_count@; }
  __device__ int64_t first_key(int64_t, [[maybe_unused]] int64_t row_at, [[maybe_unused]] int rows_at) const {
@first_key@  }
  __device__ int64_t last_key(int64_t, [[maybe_unused]] int64_t row_at, [[maybe_unused]] int rows_at) const {
@last_key@  }
  __device__ bool all_count(int64_t, [[maybe_unused]] int64_t row_at, [[maybe_unused]] int rows_at, [[maybe_unused]] int64_t key_at,
                            [[maybe_unused]] int keys_at) const {
@all_count@  }
  __device__ void store(const Row& row_of, int64_t, int64_t, int64_t column, float x) const { finish(@names@, row_of.line_at, column, x); }
@tensors@};

template <int V>
using Tile = @tile@;

@bodies@@entries@
