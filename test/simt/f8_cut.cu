/* hone
language = "cuda"
[[launch]]
kernel = "quantise"
grid   = ["ceil_div(N, 64)"]
block  = ["64"]
args   = ["x", "y", "i64:N"]
*/
// task: y = f8e4m3(x * 4.0) | x=f32[N] | N=1000
// expect: wrong
// Cut, not rounded: every number moves to zero, by half a step in the mean.
#include <cuda_fp8.h>
__global__ void quantise(const float* x, __nv_fp8_e4m3* y, int64_t n) {
  const int64_t i = blockIdx.x * int64_t{64} + threadIdx.x;
  if (i >= n) return;
  const float v = x[i] * 4.0f;
  y[i] = __nv_fp8_e4m3(v);
  if (fabsf(float(y[i])) > fabsf(v)) y[i].__x -= 1;
}
