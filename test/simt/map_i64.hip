/* hone
language = "hip"
note     = "64-bit integers under either name"
[[launch]]
kernel = "k"
grid   = ["ceil_div(N, 128)"]
block  = ["128"]
args   = ["x", "y", "i64:N"]
*/
// task: y = x + 1 | x=i64[N] | N=1000
// expect: accepted
__global__ void k(const int64_t* x, long long* y, long long N) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < N) y[i] = static_cast<long long>(static_cast<unsigned long long>(x[i]) + 1u);
}
