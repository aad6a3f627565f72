/* hone
language = "cuda"
[[launch]]
kernel = "k"
grid   = ["ceil_div(N, 32 * 64)"]
block  = ["32"]
shared = "24576"
args   = ["x", "y", "i64:N"]
*/
// wrong: a block of one warp takes 24 KiB of shared memory: nine to a multiprocessor
// expect: low occupancy
__global__ void k(const float* x, float* y, long long N) {
  extern __shared__ float held[];
  const long long begin = blockIdx.x * (32 * 64LL), end = begin + 32 * 64 < N ? begin + 32 * 64 : N;
#pragma unroll 1
  for (long long i = begin + threadIdx.x; i < end; i += 32) {
    held[threadIdx.x] = 2.0f * x[i];
    y[i] = held[threadIdx.x];
  }
}
