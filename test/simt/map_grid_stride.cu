/* hone
language = "cuda"
note     = "a loop over the grid"
[[launch]]
kernel = "k"
grid   = ["3"]
block  = ["128"]
args   = ["x", "y", "i64:N"]
*/
// task: y = 2 * x | x=f32[N] | N=1000
// expect: accepted
__global__ void k(const float* x, float* y, long long N) {
  for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += (long long)gridDim.x * blockDim.x) y[i] = 2 * x[i];
}
