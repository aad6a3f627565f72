/* hone
language = "cuda"
[[launch]]
kernel = "k"
grid   = ["ceil_div(N, 128 * 64)"]
block  = ["128"]
shared = "204800"
args   = ["x", "y", "i64:N"]
*/
// wrong: a block of four warps takes 200 KiB of shared memory: one to a multiprocessor
// expect: low occupancy
__global__ void k(const float* x, float* y, long long N) {
  extern __shared__ float held[];
  const long long begin = blockIdx.x * (128 * 64LL), end = begin + 128 * 64 < N ? begin + 128 * 64 : N;
#pragma unroll 1
  for (long long i = begin + threadIdx.x; i < end; i += 128) {
    held[threadIdx.x] = 2.0f * x[i];
    y[i] = held[threadIdx.x];
  }
}
