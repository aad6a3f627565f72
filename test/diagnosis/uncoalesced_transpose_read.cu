/* hone
language = "cuda"
[[launch]]
kernel = "k"
grid   = ["ceil_div(B, 32)", "ceil_div(D, 8)"]
block  = ["32", "8"]
args   = ["x", "y", "i64:B", "i64:D"]
*/
// wrong: a transpose whose reads go down the columns
// expect: uncoalesced access
__global__ void k(const float* x, float* y, long long B, long long D) {
  const long long b = blockIdx.x * 32LL + threadIdx.x, d = blockIdx.y * 8LL + threadIdx.y;
  if (b < B && d < D) y[d * B + b] = x[b * D + d];
}
