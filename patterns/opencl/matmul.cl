/* hone
language = "opencl"
pattern  = "matmul"
note     = "@note@"
@requires@tunables = { ROWS = [64, 32, 128], COLUMNS = [64, 32, 128, 256], DEPTH = [32, 16, 64], TALL = [8, 4, 16], VEC = [@vec@] }
constraints = ["ROWS * COLUMNS <= 256 * TALL * VEC", "TALL * VEC <= 128", "(ROWS + COLUMNS) * DEPTH <= 6144"]
[[launch]]
kernel = "matmul"
grid   = ["ceil_div(@columns@, COLUMNS)", "ceil_div(@rows@, ROWS)", "@batch@"]
block  = ["ceil_div(ROWS, TALL) * ceil_div(COLUMNS, VEC)", "1", "1"]
args   = [@args@]
*/
// Matmul: a work group makes a tile of ROWS x COLUMNS of the result, DEPTH of the sum at a time. The group fetches both
// factors' parts into local memory, in words of VEC elements along whichever axis lies along memory, zeros beyond the ends;
// then every item multiplies for TALL rows and VEC columns of its own. What it adds up stays in registers, so that each
// value from local memory serves TALL or VEC multiply-adds. At the end the element-wise rest of the computation runs over
// the tile, and the result is written once.
//   ROWS, COLUMNS  the tile: a large one reads less from memory, a small one spreads better over the device
//   DEPTH          how much of both factors lies in local memory at a time
//   TALL, VEC      rows and columns an item: TALL * VEC running sums in registers
// (helpers)
#define ITEMS ((ROWS / TALL) * (COLUMNS / VEC))
// Row `line` of the left part at `depth`; the right part, columns side by side.
#define LEFT(line, depth) left[@left_at@]
#define RIGHT(line, depth) right[(depth) * COLUMNS + (line)]

@finish@
__attribute__((reqd_work_group_size(ITEMS, 1, 1)))
__kernel void matmul(@parameters@) {
  __local @type@ left[ROWS * DEPTH], right[COLUMNS * DEPTH];
  const int item = get_local_id(0), across = item % (COLUMNS / VEC) * VEC, down = item / (COLUMNS / VEC) * TALL;
  const @index@ rows_at = @rows_cl@, columns_at = @columns_cl@, depths_at = @depth_cl@, batch_at = get_group_id(2);
  const @index@ row_at = get_group_id(1) * ROWS, column_at = get_group_id(0) * COLUMNS;
  __global const @a_type@* a_at = @a@;
  __global const @b_type@* b_at = @b@;
  @lanes@ sum[TALL];
  for (int t = 0; t < TALL; ++t) sum[t] = 0;
  for (@index@ from = 0; from < depths_at; from += DEPTH) {
    for (int i = item; i < ROWS * DEPTH / VEC; i += ITEMS) {
@fetch_a@    }
    for (int i = item; i < COLUMNS * DEPTH / VEC; i += ITEMS) {
@fetch_b@    }
    barrier(CLK_LOCAL_MEM_FENCE);
    // Sums live across barriers, which on a CPU means in memory: in between they are registers.
    @lanes@ part[TALL];
#pragma unroll
    for (int t = 0; t < TALL; ++t) part[t] = sum[t];
    for (int d = 0; d < DEPTH; ++d) {
      const @lanes@ word = GET(&RIGHT(across, d));
#pragma unroll
      for (int t = 0; t < TALL; ++t) part[t] = fma((@lanes@)(LEFT(down + t, d)), word, part[t]);
    }
#pragma unroll
    for (int t = 0; t < TALL; ++t) sum[t] = part[t];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int t = 0; t < TALL; ++t) {
    @type@ lane[VEC];
    PUT(sum[t], lane);
    if (row_at + down + t < rows_at)
      for (int k = 0; k < VEC; ++k)
        if (column_at + across + k < columns_at)
          finish(@names@, batch_at * rows_at + row_at + down + t, column_at + across + k, lane[k]);
  }
}
