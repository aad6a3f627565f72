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
// The bits of E5M2.
#include <cuda_fp8.h>
__global__ void quantise(const float* x, __nv_fp8_e4m3* y, int64_t n) {
  const int64_t i = blockIdx.x * int64_t{64} + threadIdx.x;
  if (i < n) y[i].__x = __nv_cvt_float_to_fp8(x[i] * 4.0f, __NV_SATFINITE, __NV_E5M2);
}
