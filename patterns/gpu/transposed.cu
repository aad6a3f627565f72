/* hone
language = "@language@"
pattern  = "transposed"
note     = "@note@"
@requires@tunables = { TILE = [@tiles@], THREADS = [256, 128, 512], VEC = [4, 2, 1] }
constraints = ["TILE * TILE % (THREADS * VEC) == 0", "@bytes@ <= 49152"]
[[launch]]
kernel = "transposed"
grid   = ["@grid@"]
block  = ["THREADS"]
args   = [@args@]
*/
// Transposed: element-wise work on tensors whose lines run along different axes (x.T, NCHW to NHWC, heads behind
// positions). A block takes TILE places along the result's lines by TILE along the others'. Tensors that lie across come
// in along their own lines, through shared memory; everything else is read and written along the result's.
//
// When it pays: wherever a line of one tensor is a column of another. Read element by element, such a column costs a
// sector of 32 bytes for each of its elements.
//   TILE     places of a tile, both ways: a line of it should fill a few sectors
//   THREADS  threads a block
//   VEC      elements of a word, where lines begin on its boundaries
#include "hone/gpu/swap.h"

__global__ void __launch_bounds__(THREADS) transposed(@parameters@) {
@shared@  const int thread = static_cast<int>(threadIdx.x);
  const int64_t along_end = @along_extent@, down_end = @down_extent@;
  const int64_t across = (along_end + TILE - 1) / TILE, down = (down_end + TILE - 1) / TILE;
  const int64_t along = blockIdx.x % across * TILE, below = blockIdx.x / across % down * TILE;
  [[maybe_unused]] const int64_t piece = blockIdx.x / across / down;
@prologue@  const bool whole = @whole@, whole_across = @whole_across@;
@loads@  __syncthreads();
@row_values@  hone::gpu::each_word_in_tile<TILE, THREADS, VEC>(thread, whole, [&](int, int d, int a, int step) {
    const int64_t at@down_axis@ = below + d, first = along + a;
    if (at@down_axis@ >= down_end || first >= along_end) return;
@body@  });
}
