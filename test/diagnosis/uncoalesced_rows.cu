/* hone
language = "cuda"
[[launch]]
kernel = "k"
grid   = ["ceil_div(B, 256)"]
block  = ["256"]
args   = ["x", "y", "i64:B", "i64:D"]
*/
// wrong: each thread walks a row of its own, so a warp touches 32 rows at a time
// expect: uncoalesced access
__global__ void k(const float* x, float* y, long long B, long long D) {
  const long long row = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
  if (row >= B) return;
  for (long long c = 0; c < D; ++c) y[row * D + c] = 2.0f * x[row * D + c];
}
