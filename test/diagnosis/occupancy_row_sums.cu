/* hone
language = "cuda"
[[launch]]
kernel = "k"
grid   = ["B"]
block  = ["64"]
shared = "73728"
args   = ["x", "y", "i64:D"]
*/
// wrong: a block of two warps takes 72 KiB of shared memory: three to a multiprocessor
// expect: low occupancy
__global__ void k(const float* x, float* y, long long D) {
  extern __shared__ float part[];
  float sum = 0;
#pragma unroll 1
  for (long long j = threadIdx.x; j < D; j += 64) sum += x[blockIdx.x * D + j];
  part[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 1; i < 64; ++i) sum += part[i];
    y[blockIdx.x] = sum;
  }
}
