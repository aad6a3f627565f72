/* hone
language = "cuda"
[[launch]]
kernel = "k"
grid   = ["ceil_div(D, 32)", "ceil_div(B, 32)"]
block  = ["32", "8"]
args   = ["x", "y", "i64:B", "i64:D"]
*/
// wrong: a tile of 32 columns without padding is read down its columns
// expect: bank conflicts
__global__ void k(const float* x, float* y, long long B, long long D) {
  __shared__ float tile[32][32];
  for (int r = threadIdx.y; r < 32; r += 8) {
    const long long b = blockIdx.y * 32LL + r, d = blockIdx.x * 32LL + threadIdx.x;
    if (b < B && d < D) tile[r][threadIdx.x] = x[b * D + d];
  }
  __syncthreads();
  for (int r = threadIdx.y; r < 32; r += 8) {
    const long long b = blockIdx.y * 32LL + threadIdx.x, d = blockIdx.x * 32LL + r;
    if (b < B && d < D) y[d * B + b] = tile[threadIdx.x][r];
  }
}
