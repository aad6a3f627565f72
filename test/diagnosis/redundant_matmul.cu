/* hone
language = "cuda"
[[launch]]
kernel = "k"
grid   = ["ceil_div(N, 32)", "ceil_div(M, 8)"]
block  = ["32", "8"]
args   = ["x", "w", "y", "i64:M", "i64:N", "i64:K"]
*/
// wrong: every product fetches its operands anew
// expect: redundant reads
__global__ void k(const float* x, const float* w, float* y, long long M, long long N, long long K) {
  const long long n = blockIdx.x * 32LL + threadIdx.x, m = blockIdx.y * 8LL + threadIdx.y;
  if (n >= N || m >= M) return;
  float sum = 0;
  for (long long k0 = 0; k0 < K; ++k0) sum += x[m * K + k0] * w[k0 * N + n];
  y[m * N + n] = sum;
}
