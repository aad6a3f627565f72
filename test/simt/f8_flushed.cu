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
// Denormals are lost: they are a sixteenth of all numbers of the type.
#include <cuda_fp8.h>
__global__ void quantise(const float* x, __nv_fp8_e4m3* y, int64_t n) {
  const int64_t i = blockIdx.x * int64_t{64} + threadIdx.x;
  if (i < n) y[i] = __nv_fp8_e4m3(fabsf(x[i] * 4.0f) < 0.015625f ? 0.0f : x[i] * 4.0f);
}
