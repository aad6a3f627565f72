/* hone
language = "cuda"
[[launch]]
kernel = "k"
grid   = ["ceil_div(N, 64 * 64)"]
block  = ["64"]
shared = "102400"
args   = ["x", "y", "i64:N"]
*/
// wrong: a block of two warps takes 100 KiB of shared memory: two to a multiprocessor
// expect: low occupancy
__global__ void k(const float* x, float* y, long long N) {
  extern __shared__ float held[];
  const long long begin = blockIdx.x * (64 * 64LL), end = begin + 64 * 64 < N ? begin + 64 * 64 : N;
#pragma unroll 1
  for (long long i = begin + threadIdx.x; i < end; i += 64) {
    held[threadIdx.x] = 2.0f * x[i];
    y[i] = held[threadIdx.x];
  }
}
