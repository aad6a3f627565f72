/* hone
language = "cuda"
note     = "integers"
[[launch]]
kernel = "k"
grid   = ["ceil_div(N, 128)"]
block  = ["128"]
args   = ["x", "y", "i64:N"]
*/
// task: y = x + 1 | x=i32[N] | N=1000
// expect: accepted
__global__ void k(const int* x, int* y, long long N) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < N) y[i] = static_cast<int>(static_cast<unsigned>(x[i]) + 1u);
}
