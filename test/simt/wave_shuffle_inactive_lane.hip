/* hone
language = "hip"
note     = "a lane reads one that is not there"
[[launch]]
kernel = "k"
grid   = ["ceil_div(N, 128)"]
block  = ["128"]
args   = ["x", "y", "i64:N"]
*/
// task: y = 2 * x | x=f32[N] | N=1000
// expect: launch fails: reads lane
__global__ void k(const float* x, float* y, long long N) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  float v = i < N ? x[i] : 0;
  if (threadIdx.x % 2 == 0) v += 0 * __shfl(v, threadIdx.x % 64 + 1);
  if (i < N) y[i] = 2 * v;
}
