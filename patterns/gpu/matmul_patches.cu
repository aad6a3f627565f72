/* hone
language = "@language@"
pattern  = "matmul"
note     = "@note@"
@requires@tunables = { LINES = [@lines_values@], FEW = [@few_values@], ACROSS = [@across_values@], DEEP = [@deep_values@], STAGES = [2, 3, 4]@waves@ }
constraints = [
  "LINES * FEW <= @most@",
  "32 * ACROSS * DEEP * select(LINES * FEW > 128, 255, 128) <= 65536",
  "@shared@ <= SHARED_MAX",
]
@workspaces@@launches@*/
// Matmul with a factor that is computed on its way to NVIDIA's matrix units (mma.sync), in registers: no launch writes it out. A block has
// 8 * LINES * ACROSS lines of that factor (columns of the right one, or rows of the left one) and FEW lines of the other one; then the
// element-wise rest of the computation runs over its tile and the result is written once. hone/gpu/matmul_patches.h has the picture.
//
// When it pays: where the computed factor is made of fewer bytes than it has, as weights of 4 or 8 bits, and the other factor has so few
// lines that reading it is the work; up to some hundred lines, as from there on the wider units of matmul_tensor.cu win back what writing
// the factor costs.
//   LINES   of the computed factor that a lane has: many read less of the other factor, and need registers
//   FEW     lines of the other factor
//   ACROSS  warps beside each other along the lines
//   DEEP    warps that share the depth
//   STAGES  tiles of the other factor in shared memory: one is computed on, the others are on their way
@scales_note@@waves_note@#include "hone/gpu/matmul_patches.h"
#include "hone/gpu/math.h"

constexpr int RUN = @run@, DEPTH = 4 * RUN * DEEP;   // of a patch, and of a tile in shared memory

@operand@
@finish@
/// V elements of the other factor lie side by side on boundaries of their size.
template <int V, class Load, class Element>
__device__ inline void multiply(@parameters@, Load load_at, Element element_at) {
  extern __shared__ __align__(16) float memory_at[];
  const int64_t rows_at = @rows@, columns_at = @columns@;
  const int64_t down_at = (@lines@ + 8 * LINES * ACROSS - 1) / (8 * LINES * ACROSS), across_at = (@others@ + FEW - 1) / FEW;
  const hone::gpu::BlockTile tile_at = hone::gpu::block_tile<1>(blockIdx.x, down_at, across_at);
  const int64_t line_at = tile_at.down * (8 * LINES * ACROSS), other_at = tile_at.across * FEW;

  const auto others_at = hone::gpu::factor<V, @other_along@>(
      @other@, @others@, [=](int64_t line_at) -> int64_t { return @other_line@; },
      [=](int64_t depth_at) -> int64_t { return @other_depth@; });
@segment@  const auto epilogue_at = [&](int64_t @line_index@, int64_t @other_index@, float sum_at) {
@epilogue@  };
  hone::gpu::patch_product<@stored@, RUN, LINES, FEW, ACROSS, DEEP, STAGES>(
      [&](int64_t line_at, int64_t depth_at) { return load_at(tile_at.batch, line_at, depth_at); },
      [&](const auto& patch_at, int l_at, int d_at) { return element_at(tile_at.batch, patch_at, l_at, d_at); },
      @lines@, others_at, @scales@, line_at, other_at, segment_at, memory_at, epilogue_at);
}
@kernels@