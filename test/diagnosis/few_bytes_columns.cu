/* hone
language = "cuda"
[[launch]]
kernel = "k"
grid   = ["ceil_div(D, 256)"]
block  = ["256"]
args   = ["x", "y", "i64:B", "i64:D"]
*/
// wrong: a thread a column, one word on its way
// expect: too few bytes in flight
__global__ void k(const float* x, float* y, long long B, long long D) {
  const long long d = blockIdx.x * 256LL + threadIdx.x;
  if (d >= D) return;
  float sum = 0;
#pragma unroll 1
  for (long long b = 0; b < B;) {
    float part = 0;   // of a few: a sum of all of them one after the other would be less accurate than PyTorch's
#pragma unroll 1
    for (const long long end = b + 32 < B ? b + 32 : B; b < end; ++b) part += x[b * D + d];
    sum += part;
  }
  y[d] = sum;
}
