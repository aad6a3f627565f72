/* hone
language = "cuda"
workspaces = { s = "f32[ceil_div(N, 1024)]" }
[[launch]]
kernel = "sums"
grid   = ["ceil_div(N, 1024)"]
block  = ["256"]
args   = ["x", "s", "i64:N"]
[[launch]]
kernel = "total"
grid   = ["1"]
block  = ["1"]
args   = ["s", "y", "i64:ceil_div(N, 1024)"]
*/
// wrong: one thread adds up the partial sums
// expect: serial tail
__global__ void sums(const float* x, float* s, long long N) {
  __shared__ float part[256];
  float sum = 0;
  for (long long i = blockIdx.x * 1024LL + threadIdx.x; i < blockIdx.x * 1024LL + 1024 && i < N; i += 256) sum += x[i];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int step = 128; step > 0; step /= 2) {
    if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) s[blockIdx.x] = part[0];
}
__global__ void total(const float* s, float* y, long long M) {
  float sum = 0;
  for (long long j = 0; j < M; ++j) sum += s[j];
  y[0] = sum;
}
