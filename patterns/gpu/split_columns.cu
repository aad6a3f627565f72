/* hone
language = "@language@"
pattern  = "split_columns"
note     = "@note@"
@requires@tunables = { @tunables@ }
constraints = ["ACROSS * DOWN <= 1024", "ACROSS * DOWN % WAVE == 0", "VEC * UNROLL <= 32", "ACROSS * DOWN * VEC * @slot@ <= 49152"]
workspaces = { @workspaces@ }
[[launch]]
kernel = "chunks_of_rows"
grid   = ["@rows@ceil_div(@columns@, ACROSS * VEC) * @chunks@"]
block  = ["ACROSS", "DOWN"]
args   = [@args@]
[[launch]]
kernel = "finish"
grid   = ["@rows@ceil_div(@columns@, ACROSS * VEC)"]
block  = ["ACROSS"]
args   = [@args@]
*/
// Split columns: as columns, but the rows of a tile are cut into chunks, one block each; a second launch brings the
// chunks' results together.
//
// When it pays: few columns and many rows, where a tile for each block would leave multiprocessors idle.
//   ACROSS  threads across
//   DOWN    and down
//   VEC     elements a word
//   UNROLL  rows that a thread has in flight
//   BLOCKS  blocks a multiprocessor gets
#include "hone/gpu/columns.h"

__global__ void __launch_bounds__(ACROSS * DOWN) chunks_of_rows(@parameters@) {
  __shared__ hone::gpu::ColumnScratch<ACROSS, DOWN, VEC, @slot@> scratch;
  const int64_t tiles = (@columns_cpp@ + ACROSS * VEC - 1) / (ACROSS * VEC), tile = blockIdx.x % tiles;
  const int64_t chunk = blockIdx.x / tiles % chunks, row = blockIdx.x / tiles / chunks;
  const int64_t each = (@depth_cpp@ + chunks - 1) / chunks, begin = chunk * each;
  const int64_t end = begin + each < @depth_cpp@ ? begin + each : @depth_cpp@;
@prologue@  const bool aligned = @aligned@;
  hone::gpu::columns_at<ACROSS, DOWN, VEC, UNROLL>(aligned, @columns_cpp@, tile, [&](const auto columns) {
@body@  });
}

__global__ void __launch_bounds__(ACROSS) finish(@parameters@) {
  const int64_t tiles = (@columns_cpp@ + ACROSS * VEC - 1) / (ACROSS * VEC);
  const int64_t row = blockIdx.x / tiles;
@finish_prologue@  hone::gpu::columns_at<ACROSS, 1, VEC, 1>(false, @columns_cpp@, blockIdx.x % tiles, [&](const auto columns) {
@finish@  });
}
