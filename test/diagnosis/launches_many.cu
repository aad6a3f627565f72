/* hone
language = "cuda"
[[launch]]
kernel = "k"
grid   = ["ceil_div(ceil_div(N, 64), 256)"]
block  = ["256"]
repeat = "64"
args   = ["x", "y", "i64:STEP * ceil_div(N, 64)", "i64:min(N, (STEP + 1) * ceil_div(N, 64))"]
*/
// wrong: 64 launches of a 64th of the work
// expect: launches
__global__ void k(const float* x, float* y, long long begin, long long end) {
  const long long i = begin + blockIdx.x * 256LL + threadIdx.x;
  if (i < end) y[i] = 2.0f * x[i];
}
