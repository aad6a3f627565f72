/* hone
language = "cuda"
note     = "as much as a block may have"
[[launch]]
kernel = "k"
grid   = ["ceil_div(N, 128)"]
block  = ["128"]
shared = "SHARED_MAX"
args   = ["x", "y", "i64:N", "i32:SHARED_MAX // 4 - 1"]
*/
// task: y = 2 * x | x=f32[N] | N=1000
// expect: accepted
extern __shared__ float everything[];
__global__ void k(const float* x, float* y, long long N, int last) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  everything[last - threadIdx.x] = i < N ? x[i] : 0;
  __syncthreads();
  if (i < N) y[i] = 2 * everything[last - threadIdx.x];
}
