/* hone
language = "cuda"
[[launch]]
kernel = "k"
grid   = ["ceil_div(N, 256)"]
block  = ["256"]
args   = ["x", "y", "i64:N"]
*/
// wrong: sixteen sines where one would do
// expect: arithmetic units
__global__ void k(const float* x, float* y, long long N) {
  const long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
  if (i >= N) return;
  float s = 0;
#pragma unroll 1
  for (int turn = 0; turn < 16; ++turn) s = sinf(x[i] + 0.0f * s) + 0.0f * expf(s) + 0.0f * logf(2.0f + s);
  y[i] = s;
}
