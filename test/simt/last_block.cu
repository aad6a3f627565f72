/* hone
language = "cuda"
note     = "the last block to finish adds up"
workspaces = { part = "f64[B, 4]", tickets = "zero i32[B]" }
[[launch]]
kernel = "k"
grid   = ["4", "B"]
block  = ["64"]
args   = ["x", "y", "part", "tickets", "i64:D"]
*/
// task: y = sum(x, axis=-1) | x=f32[B,D] | B=5,D=300
// expect: accepted
__global__ void k(const float* x, float* y, double* part, int* tickets, long long D) {
  __shared__ double a[64];
  __shared__ bool last;
  double sum = 0;
  for (long long j = blockIdx.x * 64 + threadIdx.x; j < D; j += gridDim.x * 64) sum += x[blockIdx.y * D + j];
  a[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 1; i < 64; ++i) sum += a[i];
    part[blockIdx.y * gridDim.x + blockIdx.x] = sum;
    __threadfence();
    last = atomicAdd(&tickets[blockIdx.y], 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    double all = 0;
    for (int i = 0; i < gridDim.x; ++i) all += part[blockIdx.y * gridDim.x + i];
    y[blockIdx.y] = static_cast<float>(all);
  }
}
