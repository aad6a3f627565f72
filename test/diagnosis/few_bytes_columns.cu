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
  // Sums of few of sums of few: a sum of all of them one after the other would be less accurate than PyTorch's.
  float sum = 0;
#pragma unroll 1
  for (long long b = 0; b < B;) {
    float group = 0;
#pragma unroll 1
    for (const long long last = b + 1024 < B ? b + 1024 : B; b < last;) {
      float part = 0;
#pragma unroll 1
      for (const long long end = b + 32 < last ? b + 32 : last; b < end; ++b) part += x[b * D + d];
      group += part;
    }
    sum += group;
  }
  y[d] = sum;
}
