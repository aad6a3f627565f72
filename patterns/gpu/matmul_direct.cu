/* hone
language = "@language@"
pattern  = "matmul"
note     = "@note@"
@requires@tunables = { LEFT = [@left_values@], RIGHT = [@right_values@], DEPTH = [@depths@], LEVELS = [@levels@], STAGES = [@stages@], BLOCKS = [@blocks@], GROUP = [16, 8, 4, 1]@waves@ }
constraints = [
  "@shared@ + 1024 <= SHARED_MAX // BLOCKS - 512 * (BLOCKS - 1)",
  "BLOCKS == 1 or LEFT == 64 and RIGHT <= 128",
  "@registers@",
]
@workspaces@@launches@*/
// Matmul on Hopper's matrix units (wgmma), in @products@ of TF32, of factors as they lie in memory: a block makes a tile of LEFT x RIGHT of the
// result, one group of four warps copying while the others multiply; then the element-wise rest of the computation runs over
// the tile and the result is written once. hone/gpu/matmul_direct.h says which factor is the left one, and why.
//
// When it pays: where a factor is read along the depth. Against matmul_wgmma.cu no launch writes the factors
// once more; where neither is read along the depth, that has to be.
//   LEFT, RIGHT    the tile: large reads less, and needs registers
//   DEPTH          of a tile in shared memory
//   LEVELS         2, of three products: sums of segments of the depth are added up apart, which is more accurate where the depth is long
//   STAGES         tiles in shared memory: one is computed on, one is there, the others are on their way
//   BLOCKS         on a multiprocessor: where the depth is short, one multiplies while another writes
//   GROUP          tiles down before the next ones across: what blocks that run together share in the cache
@waves_note@#include "hone/gpu/matmul_direct.h"
#include "hone/gpu/math.h"

@finish@
/// V_LEFT and V_RIGHT elements of the factors lie side by side on boundaries of their size.
template <int V_LEFT, int V_RIGHT>
__device__ void multiply(@parameters@) {
  extern __shared__ __align__(1024) float memory_at[];
  const int64_t rows_at = @rows@, columns_at = @columns@;
  const int64_t down_at = (@left_lines@ + LEFT - 1) / LEFT, across_at = (@right_lines@ + RIGHT - 1) / RIGHT;
  const hone::gpu::BlockTile tile_at = hone::gpu::block_tile<GROUP>(blockIdx.x, down_at, across_at);
  const int64_t first_left_at = tile_at.down * LEFT, first_right_at = tile_at.across * RIGHT;

  const auto left_at = hone::gpu::factor<V_LEFT, @left_along@>(
      @left@, @left_lines@, [=](int64_t line_at) -> int64_t { return @left_line@; },
      [=](int64_t depth_at) -> int64_t { return @left_depth@; });
  const auto right_at = hone::gpu::factor<V_RIGHT, true>(
      @right@, @right_lines@, [=](int64_t line_at) -> int64_t { return @right_line@; },
      [=](int64_t depth_at) -> int64_t { return @right_depth@; });
@segment@  const auto epilogue_at = [&](int64_t @left_index@, int64_t @right_index@, float sum_at) {
@epilogue@  };
  hone::gpu::direct_product<@math@, LEVELS, LEFT, RIGHT, DEPTH, STAGES, BLOCKS, @along_left@>(left_at, right_at, first_left_at, first_right_at, segment_at, memory_at, epilogue_at);
}
@kernels@