/* hone
language = "@language@"
pattern  = "topk"
note     = "@note@"
requires = ["@length@ < 2147483647"]
tunables = { THREADS = [256, 128, 512, 1024], EACH = [4, 2, 8], ROOM = [@rooms@], BLOCKS = [8, 2, 4, 16] }
constraints = ["@kept@ + THREADS * EACH <= ROOM", "ROOM * @bytes@ + 4 <= SHARED_MAX"]
workspaces = { keys = "@key_type@[@rows@ * @parts@, @kept@]", places = "i32[@rows@ * @parts@, @kept@]" }
[[launch]]
kernel = "first"
grid   = ["@rows@ * @parts@"]
block  = ["THREADS"]
shared = "ROOM * @bytes@ + 4"
args   = [@args@, "keys", "places"]
[[launch]]
kernel = "first_of_parts"
when   = "@parts@ > 1"
grid   = ["@rows@"]
block  = ["THREADS"]
shared = "ROOM * @bytes@ + 4"
args   = [@args@, "keys", "places", "i64:@parts@"]
*/
// Top k: the first few of a row's sorted elements without sorting the row. A block reads its row tile by tile and keeps, in shared
// memory, what comes before the last of the first k so far; when there is no room for another tile it sorts what it kept and forgets
// all but the first k. After a tile or two nearly nothing is kept, and a row costs one read. Where rows are few, several blocks share
// one, and another launch takes the first k of theirs. Keys and places go together, so values and where they were are one kernel.
//
// When it pays: k is a small part of the row. (A row in descending order of what is sought is sorted as often as it has tiles.)
//   THREADS  threads a block
//   EACH     elements that a thread takes of a tile
//   ROOM     elements in shared memory, a power of two: k and a tile at least; more is sorted less often
//   BLOCKS   blocks a multiprocessor gets, all rows together, before rows are shared out
#include "hone/gpu/sort.h"

using Key = @key@;
constexpr int kKept = @kept@, kTile = THREADS * EACH;
using First = hone::gpu::First<@descending@, THREADS, EACH, kKept, ROOM, Key>;

/// What is kept of the element that is `at`-th of line `line`.
__device__ inline void put(@parameters@, int64_t line, int64_t at, [[maybe_unused]] Key key_at, [[maybe_unused]] int32_t place_at) {
  const int64_t outer = line / @inner@, inner = line % @inner@;
@stores@}

/// The first k of a part of a row: of the whole row where it has one.
__global__ void __launch_bounds__(THREADS) first(@parameters@, @key_storage@* __restrict__ keys, int32_t* __restrict__ places) {
  extern __shared__ __align__(16) unsigned char memory_at[];
  const int64_t length = @length_cpp@, lines = @rows_cpp@, parts = gridDim.x / lines;
  const int64_t line = blockIdx.x / parts, part = blockIdx.x % parts, outer = line / @inner@, inner = line % @inner@;
  const int64_t tiles = (length + kTile - 1) / kTile, each = (tiles + parts - 1) / parts * kTile;
  const int64_t begin = part * each, end = begin + each < length ? begin + each : length;
  First found(memory_at);
  for (int64_t tile = begin; tile < end; tile += kTile) {
    Key key[EACH];
    int32_t place[EACH];
#pragma unroll
    for (int e = 0; e < EACH; ++e) {
      const int64_t at = tile + e * THREADS + threadIdx.x;
      key[e] = at < end ? static_cast<Key>(hone::gpu::value(@tensor@[(outer * length + at) * @inner@ + inner])) : Key{};
      place[e] = at < end ? static_cast<int32_t>(at) : hone::gpu::kNowhere;
    }
    found.take(key, place);
  }
  found.settle();
  for (int k = threadIdx.x; k < kKept; k += THREADS) {
    if (parts == 1) {
      put(@names@, line, k, found.keys[k], found.places[k]);
    } else {
      keys[blockIdx.x * int64_t{kKept} + k] = hone::gpu::stored<@key_storage@>(found.keys[k]);
      places[blockIdx.x * int64_t{kKept} + k] = found.places[k];
    }
  }
}

/// The first k of what the blocks of a row found.
__global__ void __launch_bounds__(THREADS) first_of_parts(@parameters@, const @key_storage@* __restrict__ keys, const int32_t* __restrict__ places, int64_t parts) {
  extern __shared__ __align__(16) unsigned char memory_at[];
  const int64_t line = blockIdx.x, candidates = parts * kKept;
  First found(memory_at);
  for (int64_t tile = 0; tile < candidates; tile += kTile) {
    Key key[EACH];
    int32_t place[EACH];
#pragma unroll
    for (int e = 0; e < EACH; ++e) {
      const int64_t at = tile + e * THREADS + threadIdx.x;
      key[e] = at < candidates ? static_cast<Key>(keys[line * candidates + at]) : Key{};
      place[e] = at < candidates ? places[line * candidates + at] : hone::gpu::kNowhere;
    }
    found.take(key, place);
  }
  found.settle();
  for (int k = threadIdx.x; k < kKept; k += THREADS) put(@names@, line, k, found.keys[k], found.places[k]);
}
