/* hone
language = "cuda"
[[launch]]
kernel = "k"
grid   = ["ceil_div(N - N // 16, 4096) + 1"]
block  = ["256"]
args   = ["x", "y", "i64:N"]
*/
// wrong: the first block gets a sixteenth of everything
// expect: serial tail
__global__ void k(const float* x, float* y, long long N) {
  const long long first = N / 16;
  const long long begin = blockIdx.x == 0 ? 0 : first + (blockIdx.x - 1) * 4096LL;
  const long long upto = blockIdx.x == 0 ? first : begin + 4096, end = upto < N ? upto : N;
#pragma unroll 8
  for (long long i = begin + threadIdx.x; i < end; i += 256) y[i] = 2.0f * x[i];
}
