/* hone
language = "hip"
note     = "reads and adds in one step"
requires = ["D <= 256"]
[[launch]]
kernel = "k"
grid   = ["B"]
block  = ["256"]
args   = ["x", "y", "i64:D"]
*/
// task: y = cumsum(x, axis=-1) | x=f32[B,D] | B=5,D=200
// expect: launch fails: a race on shared memory
__global__ void k(const float* x, float* y, long long D) {
  __shared__ double a[256];
  const int t = threadIdx.x;
  a[t] = t < D ? x[blockIdx.x * D + t] : 0;
  __syncthreads();
  for (int step = 1; step < 256; step *= 2) {
    if (t >= step) a[t] += a[t - step];
    __syncthreads();
  }
  if (t < D) y[blockIdx.x * D + t] = static_cast<float>(a[t]);
}
