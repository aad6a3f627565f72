/* hone
language = "cuda"
note     = "sum and flag are one word, and its halves' flags another order of the same"
workspaces = { words = "zero i64[B, ceil_div(D, 128), 2]" }
requires = ["B <= 65535"]
[[launch]]
kernel = "k"
grid   = ["ceil_div(D, 128)", "B"]
block  = ["128"]
args   = ["x", "y", "words", "i64:D"]
*/
// task: y = cumsum(x, axis=-1) | x=f32[B,D] | B=3,D=700
// expect: accepted
// Two words of 8 bytes, each with half of a double and a mark: whoever sees the mark has the half, and no fence is needed.
__global__ void k(const float* x, float* y, long long* words, long long D) {
  __shared__ double a[128];
  __shared__ double before;
  const int t = threadIdx.x;
  const long long j = blockIdx.x * 128LL + t, row = blockIdx.y;
  a[t] = j < D ? x[row * D + j] : 0;
  __syncthreads();
  if (t == 0) {
    for (int i = 1; i < 128; ++i) a[i] += a[i - 1];
    const long long at = row * gridDim.x + blockIdx.x;
    double sum = 0;
    if (blockIdx.x > 0) {
      volatile long long* const from = words + 2 * (at - 1);
      long long half[2];
      for (int h = 0; h < 2; ++h)
        do half[h] = from[h]; while (half[h] >> 32 == 0);
      sum = __longlong_as_double(half[0] << 32 | (half[1] & 0xffffffffll));
    }
    before = sum;
    const long long bits = __double_as_longlong(sum + a[127]);
    volatile long long* const to = words + 2 * at;
    to[0] = 1ll << 32 | (bits >> 32 & 0xffffffffll);
    to[1] = 1ll << 32 | (bits & 0xffffffffll);
  }
  __syncthreads();
  if (j < D) y[row * D + j] = static_cast<float>(before + a[t]);
}
