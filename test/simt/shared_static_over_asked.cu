/* hone
language = "cuda"
note     = "static shared memory beyond the limit"
[[launch]]
kernel = "k"
grid   = ["ceil_div(N, 128)"]
block  = ["128"]
args   = ["x", "y", "i64:N"]
*/
// task: y = 2 * x | x=f32[N] | N=1000
// expect: launch fails: of __shared__ variables
__global__ void k(const float* x, float* y, long long N) {
  __shared__ float all[20000];
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  all[threadIdx.x] = i < N ? x[i] : 0;
  __syncthreads();
  if (i < N) y[i] = 2 * all[threadIdx.x];
}
