/* hone
language = "cuda"
note     = "half in, half out"
[[launch]]
kernel = "k"
grid   = ["ceil_div(N, 128)"]
block  = ["128"]
args   = ["x", "y", "i64:N"]
*/
// task: y = 2 * x | x=f16[N] | N=1000
// expect: accepted
__global__ void k(const half* x, half* y, long long N) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < N) y[i] = __float2half(2 * __half2float(x[i]));
}
