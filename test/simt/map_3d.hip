/* hone
language = "hip"
note     = "a block of three dimensions"
[[launch]]
kernel = "k"
grid   = ["ceil_div(N, 120)"]
block  = ["5", "4", "6"]
args   = ["x", "y", "i64:N"]
*/
// task: y = 2 * x | x=f32[N] | N=1000
// expect: accepted
__global__ void k(const float* x, float* y, long long N) {
  const int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  const long long i = blockIdx.x * 120LL + t;
  if (i < N) y[i] = 2 * x[i];
}
