/* hone
language = "cuda"
pattern  = "matmul"
note     = "matrix units, three products of TF32 parts; then write C"
tunables = { ROWS = [128, 64, 256], COLUMNS = [128, 64, 256], DEPTH = [32, 16], WARP_ROWS = [32, 64, 16], WARP_COLUMNS = [64, 32, 128], STAGES = [4, 3, 2], GROUP = [8, 1, 4, 16] }
constraints = [
  "ROWS % WARP_ROWS == 0 and COLUMNS % WARP_COLUMNS == 0 and WARP_ROWS * WARP_COLUMNS <= 2048",
  "ROWS * COLUMNS * 32 // (WARP_ROWS * WARP_COLUMNS) * select(WARP_ROWS * WARP_COLUMNS > 1024, 256, 128) <= 65536",
  "max(4 * STAGES * (ROWS * (DEPTH + 4) + DEPTH * (COLUMNS + 8)), 4 * ROWS * (COLUMNS + 8)) <= SHARED_MAX",
]
[[launch]]
kernel = "multiply_wide"
when   = "K % 4 == 0 and N % 4 == 0"
grid   = ["ceil_div(M, ROWS) * ceil_div(N, COLUMNS)"]
block  = ["ROWS * COLUMNS * 32 // (WARP_ROWS * WARP_COLUMNS)"]
shared = "max(4 * STAGES * (ROWS * (DEPTH + 4) + DEPTH * (COLUMNS + 8)), 4 * ROWS * (COLUMNS + 8))"
args   = ["A", "B", "C", "i64:K", "i64:M", "i64:N"]
[[launch]]
kernel = "multiply_any"
when   = "not (K % 4 == 0 and N % 4 == 0)"
grid   = ["ceil_div(M, ROWS) * ceil_div(N, COLUMNS)"]
block  = ["ROWS * COLUMNS * 32 // (WARP_ROWS * WARP_COLUMNS)"]
shared = "max(4 * STAGES * (ROWS * (DEPTH + 4) + DEPTH * (COLUMNS + 8)), 4 * ROWS * (COLUMNS + 8))"
args   = ["A", "B", "C", "i64:K", "i64:M", "i64:N"]
*/
// Matmul on NVIDIA's matrix units: a block makes a tile of ROWS x COLUMNS of the result, DEPTH of the sum at a time
// through shared memory; then the element-wise rest of the computation runs over the tile and the result is written
// once. The units' factors have fewer bits than fp32: hone/gpu/matmul_mma.h says how the accuracy is kept.
//
// As hone's matmul pattern writes it for C = A @ B, f32[M,K] x f32[K,N]:
//   hone evaluate examples/kernels/matmul_3xtf32.cu tasks/kernelbench/level1/002_standard_matrix_multiplication.toml -w tiny
//
// When it pays: products of more than a few rows and columns, wherever the accuracy suffices.
//   ROWS, COLUMNS  the tile: large reads less from memory, small spreads better over the multiprocessors
//   DEPTH          how much of both factors is in a tile in shared memory
//   WARP_ROWS, WARP_COLUMNS  a warp's part of the tile: large reads less from shared memory and needs registers
//   STAGES         tiles in shared memory: one is computed on, the others are on their way
//   GROUP          tiles down before the next ones across: what blocks that run together share in the cache
#include "hone/gpu/matmul_mma.h"
#include "hone/gpu/math.h"

/// The rest of the computation for the product's element at `column_at` of line `line_at`.
__device__ inline void finish(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int64_t K,
    int64_t M, int64_t N, int64_t line_at, int64_t column_at, float product_at) {
  C[line_at * N + column_at] = hone::gpu::stored<float>(product_at);
}

/// V_A and V_B elements of the factors lie side by side on boundaries of their size.
template <int V_A, int V_B>
__device__ void multiply(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int64_t K, int64_t M,
    int64_t N) {
  extern __shared__ __align__(16) float memory_at[];
  const int64_t rows_at = M, columns_at = N;
  const int64_t down_at = (rows_at + ROWS - 1) / ROWS, across_at = (columns_at + COLUMNS - 1) / COLUMNS;
  const hone::gpu::BlockTile tile_at = hone::gpu::block_tile<GROUP>(blockIdx.x, down_at, across_at);
  const int64_t row_at = tile_at.down * ROWS, column_at = tile_at.across * COLUMNS;

  const auto left_at = hone::gpu::factor<V_A, true>(
      A, rows_at, [=](int64_t line_at) -> int64_t { return line_at * K; },
      [=](int64_t depth_at) -> int64_t { return depth_at; });
  const auto right_at = hone::gpu::factor<V_B, false>(
      B, columns_at, [=](int64_t line_at) -> int64_t { return line_at; },
      [=](int64_t depth_at) -> int64_t { return depth_at * N; });
  const hone::gpu::Stretch stretch_at{0, K};
  const auto sink_at = [&](int64_t r_at, int64_t c_at, float sum_at) {
    finish(A, B, C, K, M, N, tile_at.batch * rows_at + r_at, c_at, sum_at);
  };
  hone::gpu::mma_product<hone::gpu::Tf32<2>, ROWS, COLUMNS, DEPTH, WARP_ROWS, WARP_COLUMNS, STAGES>(
      left_at, right_at, row_at, column_at, stretch_at, memory_at, sink_at);
}
__global__ void __launch_bounds__(ROWS * COLUMNS * 32 / (WARP_ROWS * WARP_COLUMNS)) multiply_wide(const float* __restrict__ A,
    const float* __restrict__ B, float* __restrict__ C, int64_t K, int64_t M, int64_t N) {
  multiply<4, 4>(A, B, C, K, M, N);
}
__global__ void __launch_bounds__(ROWS * COLUMNS * 32 / (WARP_ROWS * WARP_COLUMNS)) multiply_any(const float* __restrict__ A,
    const float* __restrict__ B, float* __restrict__ C, int64_t K, int64_t M, int64_t N) {
  multiply<1, 1>(A, B, C, K, M, N);
}
