/* hone
language = "cuda"
note     = "a workspace carries values from launch to launch"
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
// expect: accepted
__global__ void first(const float* x, float* w, long long N) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < N) w[i] = x[i];
}
__global__ void second(const float* w, float* y, long long N) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < N) y[i] = w[N - 1 - (N - 1 - i)] * 2;
}
