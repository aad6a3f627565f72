/* hone
language = "cuda"
[[launch]]
kernel = "k"
grid   = ["ceil_div(N, 1024)"]
block  = ["1024"]
args   = ["x", "y", "i64:N"]
*/
// wrong: 64 values a thread, and a bound that leaves it 32 registers
// expect: register spills
__global__ void __launch_bounds__(1024, 2) k(const float* x, float* y, long long N) {
  const long long i = blockIdx.x * 1024LL + threadIdx.x;
  if (i >= N) return;
  float v[64];
  float most = -INFINITY, sum = 0;
#pragma unroll
  for (int r = 0; r < 64; ++r) v[r] = x[r * N + i], most = fmaxf(most, v[r]);
#pragma unroll
  for (int r = 0; r < 64; ++r) v[r] = expf(v[r] - most), sum += v[r];
#pragma unroll
  for (int r = 0; r < 64; ++r) y[r * N + i] = v[r] / sum;
}
