/* hone
language = "hip"
note     = "a table in constant memory"
[[launch]]
kernel = "k"
grid   = ["ceil_div(N, 128)"]
block  = ["128"]
args   = ["x", "y", "i64:N"]
*/
// task: y = where(x > 0, 3 * x, 5 * x) | x=f32[N] | N=1000
// expect: accepted
__constant__ float factor[2] = {5, 3};
__global__ void k(const float* x, float* y, long long N) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < N) y[i] = factor[x[i] > 0] * x[i];
}
