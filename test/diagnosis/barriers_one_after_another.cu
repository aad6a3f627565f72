/* hone
language = "cuda"
[[launch]]
kernel = "k"
grid   = ["B"]
block  = ["1024"]
args   = ["x", "y", "i64:D"]
*/
// wrong: the warps of a block take turns, a barrier each
// expect: barriers
__global__ void k(const float* x, float* y, long long D) {
  __shared__ float sum;
  float mine = 0;
  for (long long j = threadIdx.x; j < D; j += 1024) mine += x[blockIdx.x * D + j];
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  for (int turn = 0; turn < 32; ++turn) {
    if (threadIdx.x / 32 == turn) {
      for (int step = 16; step > 0; step /= 2) mine += __shfl_xor_sync(0xffffffffu, mine, step);
      if (threadIdx.x % 32 == 0) sum += mine;
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
