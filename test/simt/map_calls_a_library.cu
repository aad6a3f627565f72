/* hone
language = "cuda"
note     = "malloc is not a kernel's"
[[launch]]
kernel = "k"
grid   = ["ceil_div(N, 128)"]
block  = ["128"]
args   = ["x", "y", "i64:N"]
*/
// task: y = 2 * x | x=f32[N] | N=1000
// expect: does not compile: it calls malloc
#include <stdlib.h>
__global__ void k(const float* x, float* y, long long N) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  float* volatile p = static_cast<float*>(malloc(4));
  if (i < N) y[i] = 2 * x[i] + (p ? 0 : 1);
}
