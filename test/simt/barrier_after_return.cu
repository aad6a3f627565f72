/* hone
language = "cuda"
note     = "threads that have ended do not keep a barrier waiting"
[[launch]]
kernel = "k"
grid   = ["ceil_div(N, 128)"]
block  = ["128"]
args   = ["x", "y", "i64:N"]
*/
// task: y = 2 * x | x=f32[N] | N=1000
// expect: accepted
__global__ void k(const float* x, float* y, long long N) {
  __shared__ float tile[128];
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i >= N) return;
  tile[threadIdx.x] = x[i];
  __syncthreads();
  y[i] = 2 * tile[threadIdx.x];
}
