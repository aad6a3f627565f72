/* hone
language = "cuda"
[[launch]]
kernel = "k"
grid   = ["ceil_div(N, 256)"]
block  = ["256"]
args   = ["x", "y", "i64:N"]
*/
// task: y = x * 3 | x=f32[N] | N=1000
// expect: launch fails: asks for the time
__global__ void k(const float* x, float* y, long long N) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < N) y[i] = clock64() % 1000003 == 7 ? 0 : x[i] * 3;
}
