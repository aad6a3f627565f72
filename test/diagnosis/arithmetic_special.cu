/* hone
language = "cuda"
[[launch]]
kernel = "k"
grid   = ["ceil_div(N, 256)"]
block  = ["256"]
args   = ["x", "y", "i64:N"]
*/
// wrong: sixty-four sines that change nothing
// expect: arithmetic units
__global__ void k(const float* x, float* y, long long N) {
  const long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
  if (i >= N) return;
  const float a = x[i];
  float s = a;
#pragma unroll 8
  for (int turn = 0; turn < 64; ++turn) s = a + 0.0f * __sinf(s);
  y[i] = s;
}
