/* hone
language = "cuda"
[[launch]]
kernel = "k"
grid   = ["ceil_div(N, 256)"]
block  = ["256"]
args   = ["x", "y", "i64:N"]
*/
// task: y = clamp(x * 1e30, -2147483648.0, 2147483520.0) | x=f32[N] | N=1000
// expect: accepted
// What is too large for an integer becomes the largest, as cvt.rzi has it, and is no fault.
__global__ void k(const float* x, float* y, long long N) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= N) return;
  const float v = x[i] * 1e30f;
  const int whole = static_cast<int>(v);
  y[i] = whole == 2147483647 ? 2147483520.0f : whole < -2147483647 ? -2147483648.0f : v;
}
