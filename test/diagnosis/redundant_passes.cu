/* hone
language = "cuda"
workspaces = { s = "f32[B]" }
[[launch]]
kernel = "sums"
grid   = ["B"]
block  = ["256"]
repeat = "4"
args   = ["x", "s", "i64:D"]
[[launch]]
kernel = "scale"
grid   = ["B"]
block  = ["256"]
args   = ["x", "s", "y", "i64:D"]
*/
// wrong: the sums of the rows are made four times over
// expect: redundant reads
__global__ void sums(const float* x, float* s, long long D) {
  __shared__ float part[8];
  const float* const row = x + blockIdx.x * D;
  float sum = 0;
#pragma unroll 8
  for (long long j = threadIdx.x; j < D; j += 256) sum += row[j];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 1; i < 8; ++i) sum += part[i];
    s[blockIdx.x] = sum;
  }
}
__global__ void scale(const float* x, const float* s, float* y, long long D) {
  const float sum = s[blockIdx.x];
#pragma unroll 8
  for (long long j = threadIdx.x; j < D; j += 256) y[blockIdx.x * D + j] = x[blockIdx.x * D + j] / sum;
}
