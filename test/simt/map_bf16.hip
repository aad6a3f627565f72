/* hone
language = "hip"
note     = "bfloat16"
[[launch]]
kernel = "k"
grid   = ["ceil_div(N, 128)"]
block  = ["128"]
args   = ["x", "y", "i64:N"]
*/
// task: y = 2 * x | x=bf16[N] | N=1000
// expect: accepted
__global__ void k(const __hip_bfloat16* x, __hip_bfloat16* y, long long N) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < N) y[i] = __float2bfloat16(2 * __bfloat162float(x[i]));
}
