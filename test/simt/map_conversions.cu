/* hone
language = "cuda"
note     = "numbers become others by the vendors' names"
[[launch]]
kernel = "k"
grid   = ["ceil_div(N, 128)"]
block  = ["128"]
args   = ["x", "y", "i64:N"]
*/
// task: y = floor(x) | x=f32[N] | N=1000
// expect: accepted
__global__ void k(const float* x, float* y, long long N) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i >= N) return;
  const float v = x[i];
  // Each adds nothing where it is right.
  float other = __half2int_rn(__float2half_rz(2.75f)) - 3 + __bfloat162ll_rz(__double2bfloat16(2.75)) - 2;
  other += __half2float(__ll2half_ru(2049)) - 2050 + __bfloat162float(__uint2bfloat16_rd(257u)) - 256;
  other += __ull2float_rz(16777217ull) - 16777216.0f + (float)__float2ull_ru(-1.5f);
  y[i] = (fabsf(v) < 1e9f ? __ll2float_rn(__float2ll_rd(v)) : floorf(v)) + other;
}
