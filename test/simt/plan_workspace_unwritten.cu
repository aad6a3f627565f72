/* hone
language = "cuda"
note     = "the second launch reads what the first left out"
workspaces = { w = "f32[N]" }
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
// expect: launch fails: reads memory that nothing has written
__global__ void first(const float* x, float* w, long long N) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i + 1 < N) w[i] = x[i];
}
__global__ void second(const float* w, float* y, long long N) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < N) y[i] = w[i] * 2;
}
