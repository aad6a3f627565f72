/* hone
language = "cuda"
[[launch]]
kernel = "k"
grid   = ["ceil_div(N, 4096)"]
block  = ["128"]
args   = ["x", "y", "i64:N"]
*/
// wrong: threads work on shared memory 32 words apart: 32 lanes on a bank
// expect: bank conflicts
__global__ void k(const float* x, float* y, long long N) {
  __shared__ float held[4096];
  const long long begin = blockIdx.x * 4096LL;
  for (int i = threadIdx.x; i < 4096; i += 128) held[i] = begin + i < N ? x[begin + i] : 0.0f;
  __syncthreads();
  volatile float* const mine = held + threadIdx.x * 32;
  for (int round = 0; round < 4; ++round)
    for (int i = 0; i < 32; ++i) mine[i] = 2.0f * mine[i];
  __syncthreads();
  for (int i = threadIdx.x; i < 4096; i += 128)
    if (begin + i < N) y[begin + i] = held[i];
}
