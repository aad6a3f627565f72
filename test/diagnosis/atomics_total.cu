/* hone
language = "cuda"
workspaces = { s = "zero f64[1]" }
[[launch]]
kernel = "add"
grid   = ["ceil_div(N, 256)"]
block  = ["256"]
args   = ["x", "s", "i64:N"]
[[launch]]
kernel = "give"
grid   = ["1"]
block  = ["1"]
args   = ["s", "y"]
*/
// wrong: every number is added to one address
// expect: atomics
__global__ void add(const float* x, double* s, long long N) {
  const long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
  if (i < N) atomicAdd(s, static_cast<double>(x[i]));
}
__global__ void give(const double* s, float* y) { y[0] = static_cast<float>(s[0]); }
