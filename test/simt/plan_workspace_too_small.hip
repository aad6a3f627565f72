/* hone
language = "hip"
note     = "one element short"
workspaces = { w = "f32[max(N - 1, 1)]" }
requires = ["N > 1"]
[[launch]]
kernel = "first"
grid   = ["ceil_div(N, 64)"]
block  = ["64"]
args   = ["x", "w", "i64:N"]

[[launch]]
kernel = "second"
grid   = ["ceil_div(N, 64)"]
block  = ["64"]
args   = ["w", "y", "i64:N"]
*/
// task: y = 2 * x | x=f32[N] | N=1000
// expect: out of bounds: 
__global__ void first(const float* x, float* w, long long N) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < N) w[i] = x[i];
}
__global__ void second(const float* w, float* y, long long N) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < N) y[i] = w[i] * 2;
}
