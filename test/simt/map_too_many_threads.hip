/* hone
language = "hip"
note     = "blocks of 2048"
[[launch]]
kernel = "k"
grid   = ["ceil_div(N, 128)"]
block  = ["2048"]
args   = ["x", "y", "i64:N"]
*/
// task: y = 2 * x | x=f32[N] | N=1000
// expect: launch fails: asks for blocks of 2048 threads
__global__ void k(const float* x, float* y, long long N) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < N) y[i] = 2 * x[i];
}
