/* hone
language = "cuda"
[[launch]]
kernel = "k"
grid   = ["B"]
block  = ["256"]
args   = ["x", "y", "i64:D"]
*/
// wrong: eight long rows, a block each
// expect: serial tail
__global__ void k(const float* x, float* y, long long D) {
  __shared__ float part[256];
  float sum = 0;
#pragma unroll 8
  for (long long j = threadIdx.x; j < D; j += 256) sum += x[blockIdx.x * D + j];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int step = 128; step > 0; step /= 2) {
    if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = part[0];
}
