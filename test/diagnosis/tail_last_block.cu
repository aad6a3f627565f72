/* hone
language = "cuda"
workspaces = { s = "f32[ceil_div(N, 32)]" }
[[launch]]
kernel = "sums"
grid   = ["ceil_div(N, 8192)"]
block  = ["256"]
args   = ["x", "s", "i64:N"]
[[launch]]
kernel = "total"
grid   = ["1"]
block  = ["256"]
args   = ["s", "y", "i64:ceil_div(N, 32)"]
*/
// wrong: one block adds up a million partial sums
// expect: serial tail
__global__ void sums(const float* x, float* s, long long N) {
  for (int w = threadIdx.x / 32; w < 256; w += 8) {
    const long long i = blockIdx.x * 8192LL + w * 32 + threadIdx.x % 32;
    float sum = i < N ? x[i] : 0.0f;
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (threadIdx.x % 32 == 0 && i < N) s[i / 32] = sum;
  }
}
__global__ void total(const float* s, float* y, long long M) {
  __shared__ float part[256];
  float sum = 0;
  for (long long j = threadIdx.x; j < M; j += 256) sum += s[j];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int step = 128; step > 0; step /= 2) {
    if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[0] = part[0];
}
