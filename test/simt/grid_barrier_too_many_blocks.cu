/* hone
language = "cuda"
note     = "more blocks than the device holds at a time"
workspaces = { w = "f32[N]", count = "zero i32[1]" }
[[launch]]
kernel = "k"
grid   = ["300"]
block  = ["1024"]
args   = ["x", "y", "w", "count", "i64:N"]
*/
// task: y = 2 * x | x=f32[N] | N=1000
// expect: launch fails: are resident
__device__ void grid_barrier(int* count, int wanted) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(count, 1);
    while (atomicAdd(count, 0) < wanted) {}
    __threadfence();
  }
  __syncthreads();
}
__global__ void k(const float* x, float* y, float* w, int* count, long long N) {
  const long long stride = (long long)gridDim.x * blockDim.x;
  for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += stride) w[i] = x[i];
  grid_barrier(count, gridDim.x);
  for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += stride) y[N - 1 - i] = 2 * w[N - 1 - i];
}
