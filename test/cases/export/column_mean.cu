/* hone
language = "cuda"
requires = ["N >= 64"]
tunables = { ROWS = [64, 128] }
workspaces = { partial = "zero f64[ceil_div(N, ROWS), D]" }
[[launch]]
kernel = "pieces"
grid   = ["ceil_div(N, ROWS)"]
block  = ["64", "2"]
shared = "8 * ROWS"
args   = ["x", "partial", "i32:D"]
[[launch]]
kernel = "total"
grid   = ["ceil_div(D, 64)"]
block  = ["64"]
args   = ["partial", "y", "i64:N", "i64:ceil_div(N, ROWS)"]
*/
#include "hone/gpu/math.h"
#include <cstdint>
__global__ void pieces(const float* x, double* partial, int D) {
  extern __shared__ double space[];
  space[threadIdx.x] = hone::exp(0.0 * ROWS);
  if (threadIdx.y == 0 && threadIdx.x < D) partial[blockIdx.x * D + threadIdx.x] = x[threadIdx.x] * space[threadIdx.x];
}
__global__ void total(const double* partial, float* y, int64_t N, int64_t pieces) { y[threadIdx.x] = float(partial[threadIdx.x] / (N * pieces)); }
