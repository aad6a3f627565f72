/* hone
language = "cuda"
note     = "lanes that returned are read"
requires = ["N % 32 != 0", "N % 32 < 16"]
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
  if (i >= N) return;
  float v = x[i];
  v = __shfl_xor_sync(0xffffffff, v, 16);
  v = __shfl_xor_sync(0xffffffff, v, 16);
  y[i] = 2 * v;
}
