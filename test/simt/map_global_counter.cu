/* hone
language = "cuda"
note     = "a global variable that would outlive the launch"
[[launch]]
kernel = "k"
grid   = ["ceil_div(N, 128)"]
block  = ["128"]
args   = ["x", "y", "i64:N"]
*/
// task: y = 2 * x | x=f32[N] | N=1000
// expect: launch fails: writes a global variable
__device__ int calls;
__global__ void k(const float* x, float* y, long long N) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i == 0) calls = calls + 1;
  if (i < N) y[i] = 2 * x[i];
}
