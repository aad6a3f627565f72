/* hone
language = "cuda"
[[launch]]
kernel = "pretend_sometimes"
grid   = ["ceil_div(N, 256)"]
block  = ["256"]
args   = ["x", "y", "i64:N"]
*/
__global__ void pretend_sometimes(const float* x, float* y, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) y[i] = -x[i];
}
