/* hone
language = "hip"
note     = "an array of the thread's own"
[[launch]]
kernel = "k"
grid   = ["ceil_div(N, 128)"]
block  = ["128"]
args   = ["x", "y", "i64:N"]
*/
// task: y = 2 * x | x=f32[N] | N=1000
// expect: accepted
__global__ void k(const float* x, float* y, long long N) {
  float mine[64];
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  for (int j = 0; j < 64; ++j) mine[(j * 7 + threadIdx.x) % 64] = i < N ? x[i] * j : 0;
  if (i < N) y[i] = 2 * x[i] + (mine[threadIdx.x % 64] < -1e38f ? 1 : 0);
}
