/* hone
language = "cuda"
[[launch]]
kernel = "k"
grid   = ["ceil_div(N, 256)"]
block  = ["256"]
args   = ["x", "y", "i64:N"]
*/
// wrong: an array indexed in loops that are not unrolled lies in local memory
// expect: register spills
__global__ void __launch_bounds__(256, 1) k(const float* x, float* y, long long N) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= N) return;
  float v[64];
  float most = -INFINITY, sum = 0;
#pragma unroll 1
  for (int r = 0; r < 64; ++r) v[r] = x[r * N + i], most = fmaxf(most, v[r]);
#pragma unroll 1
  for (int r = 0; r < 64; ++r) v[r] = expf(v[r] - most), sum += v[r];
#pragma unroll 1
  for (int r = 0; r < 64; ++r) y[r * N + i] = v[r] / sum;
}
