/* hone
language = "cuda"
note     = "two halves at a time"
requires = ["N % 2 == 0"]
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
  if (2 * i < N) reinterpret_cast<half2*>(y)[i] = __hadd2(reinterpret_cast<const half2*>(x)[i], reinterpret_cast<const half2*>(x)[i]);
}
