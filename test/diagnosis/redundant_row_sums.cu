/* hone
language = "cuda"
[[launch]]
kernel = "k"
grid   = ["ceil_div(D, 128)", "B"]
block  = ["128"]
args   = ["x", "y", "i64:B", "i64:D"]
*/
// wrong: every 32 elements of a row add up the whole row
// expect: redundant reads
__global__ void k(const float* x, float* y, long long B, long long D) {
  const float* const row = x + blockIdx.y * D;
  float sum = 0;
  for (long long j = threadIdx.x % 32; j < D; j += 32) sum += row[j];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  const long long j = blockIdx.x * 128LL + threadIdx.x;
  if (j < D) y[blockIdx.y * D + j] = row[j] / sum;
}
