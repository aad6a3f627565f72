/* hone
language = "cuda"
note     = "a launch for long inputs, another for short ones"
[[launch]]
kernel = "large"
grid   = ["4"]
block  = ["128"]
when   = "N > 100"
args   = ["x", "y", "i64:N"]

[[launch]]
kernel = "little"
grid   = ["1"]
block  = ["32"]
when   = "N <= 100"
args   = ["x", "y", "i64:N"]
*/
// task: y = 2 * x | x=f32[N] | N=1000
// expect: accepted
__global__ void large(const float* x, float* y, long long N) {
  for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += (long long)gridDim.x * blockDim.x) y[i] = 2 * x[i];
}
__global__ void little(const float* x, float* y, long long N) {
  for (long long i = threadIdx.x; i < N; i += blockDim.x) y[i] = 2 * x[i];
}
