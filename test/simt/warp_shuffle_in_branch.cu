/* hone
language = "cuda"
note     = "only even lanes, and the mask says so"
[[launch]]
kernel = "k"
grid   = ["ceil_div(N, 128)"]
block  = ["128"]
args   = ["x", "y", "i64:N"]
*/
// task: y = 2 * x | x=f32[N] | N=1000
// expect: accepted
__global__ void k(const float* x, float* y, long long N) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  float v = i < N ? x[i] : 0;
  if (threadIdx.x % 2 == 0) v = __shfl_sync(0x55555555, v, threadIdx.x % 32);
  if (i < N) y[i] = 2 * v;
}
