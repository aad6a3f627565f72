/* hone
language = "cuda"
[[launch]]
kernel = "k"
grid   = ["B"]
block  = ["1024"]
args   = ["x", "y", "i64:D"]
*/
// wrong: 1024 threads add up 1024 numbers behind eleven barriers
// expect: barriers
__global__ void k(const float* x, float* y, long long D) {
  __shared__ float part[1024];
  float sum = 0;
  for (long long j = threadIdx.x; j < D; j += 1024) sum += x[blockIdx.x * D + j];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int step = 512; step > 0; step /= 2) {
    if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = part[0];
}
