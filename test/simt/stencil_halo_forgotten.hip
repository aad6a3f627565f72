/* hone
language = "hip"
note     = "the last neighbour is never loaded"
[[launch]]
kernel = "k"
grid   = ["ceil_div(N, 128)"]
block  = ["128"]
args   = ["x", "y", "i64:N"]
*/
// task: y = 2 * x | x=f32[N] | N=1000
// expect: launch fails: reads shared memory that nothing has written
__global__ void k(const float* x, float* y, long long N) {
  __shared__ float tile[130];
  const long long i = blockIdx.x * 128LL + threadIdx.x;
  tile[threadIdx.x + 1] = i < N ? x[i] : 0;
  if (threadIdx.x == 0) tile[0] = i > 0 ? x[i - 1] : 0;
  __syncthreads();
  const float around = tile[threadIdx.x] + tile[threadIdx.x + 2];
  if (i < N) y[i] = 2 * tile[threadIdx.x + 1] + (around != around ? 1 : 0);
}
