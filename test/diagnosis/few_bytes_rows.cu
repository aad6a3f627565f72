/* hone
language = "cuda"
[[launch]]
kernel = "k"
grid   = ["B"]
block  = ["512"]
args   = ["x", "y", "i64:D"]
*/
// wrong: sixteen warps a multiprocessor walk long rows a word at a time
// expect: too few bytes in flight
__global__ void k(const float* x, float* y, long long D) {
  __shared__ float part[16];
  float most = -INFINITY;
#pragma unroll 1
  for (long long j = threadIdx.x; j < D; j += 512) most = fmaxf(most, x[blockIdx.x * D + j]);
  for (int step = 16; step > 0; step /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, step));
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = most;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 1; i < 16; ++i) most = fmaxf(most, part[i]);
    y[blockIdx.x] = most;
  }
}
