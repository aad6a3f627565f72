/* hone
language = "@language@"
pattern  = "sort"
note     = "@note@"
requires = ["@length@ < 2147483647"]
tunables = { THREADS = [@threads@], TILE = [@tiles@], ROWS = [@rows_together@] }
constraints = ["ROWS * TILE * @bytes@ <= SHARED_MAX"]
workspaces = { keys = "@key_type@[2, select(TILE >= @length@, 1, @rows@ * @length@)]", places = "i32[2, select(TILE >= @length@, 1, @rows@ * @length@)]" }
[[launch]]
kernel = "sort_tiles"
grid   = ["ceil_div(@rows@, ROWS) * ceil_div(@length@, TILE)"]
block  = ["THREADS"]
shared = "ROWS * TILE * @bytes@"
args   = [@args@, "keys", "places"]
[[launch]]
kernel = "merge"
when   = "TILE < @length@"
grid   = ["@rows@ * ceil_div(@length@, THREADS * 8)"]
block  = ["THREADS"]
repeat = "@merges@"
args   = [@args@, "keys", "places", "i64:STEP", "i64:@merges@"]
*/
// Sort: a tile of a row, or several short rows, in shared memory; where a row is longer than a tile, sorted segments are then merged,
// twice as long each time, between two workspaces. Keys and places go together, so that a sort and its argsort are one; of a top k
// only the first k of a row are written.
//
// When it pays: always where rows are sorted. Rows that fit in a tile are read and written once.
//   THREADS  threads a block
//   TILE     elements of a row in shared memory, a power of two
//   ROWS     rows a block sorts together, where they fit
#include "hone/gpu/sort.h"

using Key = @key@;
constexpr bool kDescending = @descending@;
constexpr int kEach = 8;   ///< elements that a thread merges

/// What is kept of the element that is `at`-th of line `line`.
__device__ inline void put(@parameters@, int64_t line, int64_t at, [[maybe_unused]] Key key_at, [[maybe_unused]] int32_t place_at) {
  const int64_t outer = line / @inner@, inner = line % @inner@;
@stores@}

__global__ void __launch_bounds__(THREADS) sort_tiles(@parameters@, @key_storage@* __restrict__ keys, int32_t* __restrict__ places) {
  extern __shared__ __align__(16) unsigned char memory_at[];
  Key* const mine = reinterpret_cast<Key*>(memory_at);
  int32_t* const places_at = reinterpret_cast<int32_t*>(mine + ROWS * TILE);
  const int64_t length = @length_cpp@, lines = @rows_cpp@, tiles = (length + TILE - 1) / TILE;
  const int64_t line0 = blockIdx.x / tiles * ROWS, start = blockIdx.x % tiles * TILE;
  for (int k = threadIdx.x; k < ROWS * TILE; k += THREADS) {
    const int64_t line = line0 + k / TILE, at = start + k % TILE;
    const bool there = line < lines && at < length;
    const int64_t outer = line / @inner@, inner = line % @inner@;
    mine[k] = there ? static_cast<Key>(hone::gpu::value(@tensor@[(outer * length + at) * @inner@ + inner])) : Key{};
    places_at[k] = there ? static_cast<int32_t>(at) : hone::gpu::kNowhere;
  }
  hone::gpu::sort_tiles<kDescending, THREADS, ROWS>(mine, places_at, TILE);
  for (int k = threadIdx.x; k < ROWS * TILE; k += THREADS) {
    const int64_t line = line0 + k / TILE, at = start + k % TILE;
    if (line >= lines || at >= length) continue;
    if (TILE >= length) put(@names@, line, at, mine[k], places_at[k]);
    else keys[line * length + at] = hone::gpu::stored<@key_storage@>(mine[k]), places[line * length + at] = places_at[k];
  }
}

/// Segments of TILE << step are sorted; a thread makes kEach elements of those twice as long.
__global__ void __launch_bounds__(THREADS) merge(@parameters@, @key_storage@* __restrict__ keys, int32_t* __restrict__ places, int64_t step, int64_t steps) {
  const int64_t length = @length_cpp@, lines = @rows_cpp@, blocks = (length + THREADS * kEach - 1) / (THREADS * kEach);
  const int64_t line = blockIdx.x / blocks, all = lines * length;
  const @key_storage@* const from = keys + step % 2 * all + line * length;
  const int32_t* const places_from = places + step % 2 * all + line * length;
  @key_storage@* const to = keys + (1 - step % 2) * all + line * length;
  int32_t* const places_to = places + (1 - step % 2) * all + line * length;
  const int64_t run = static_cast<int64_t>(TILE) << step;
  int64_t at = (blockIdx.x % blocks * THREADS + threadIdx.x) * kEach;
  const int64_t end = at + kEach < length ? at + kEach : length;
  while (at < end) {
    const int64_t start = at / (2 * run) * (2 * run), middle = start + run < length ? start + run : length;
    const int64_t close = start + 2 * run < length ? start + 2 * run : length, until = end < close ? end : close;
    int64_t i = hone::gpu::merge_path<kDescending>(from + start, places_from + start, middle - start, from + middle, places_from + middle, close - middle, at - start);
    int64_t j = middle + (at - start) - i;
    i += start;
    for (; at < until; ++at) {
      const bool first = j >= close || (i < middle && hone::gpu::sorts_before<kDescending>(from[i], places_from[i], from[j], places_from[j]));
      const int64_t taken = first ? i++ : j++;
      if (step + 1 == steps) put(@names@, line, at, static_cast<Key>(from[taken]), places_from[taken]);
      else to[at] = from[taken], places_to[at] = places_from[taken];
    }
  }
}
