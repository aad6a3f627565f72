// task: y = -x | x=f32[N] | N=1000
// expect: accepted
// Inputs without const, other words for the elements, min() of int and unsigned: all as nvcc takes them.
/* hone
language = "cuda"
requires = ["N % 4 == 0"]
[[launch]]
kernel = "negate"
grid   = ["ceil_div(N // 4, 64)"]
block  = ["64"]
args   = ["x", "y", "i32:N"]
*/
__global__ void negate(float4* x, uint4* y, int N) {
  const int i = min(N / 4 - 1, blockIdx.x * blockDim.x + threadIdx.x);
  if (i != blockIdx.x * blockDim.x + threadIdx.x) return;
  const float4 v = x[i];
  y[i] = make_uint4(__float_as_uint(-v.x), __float_as_uint(-v.y), __float_as_uint(-v.z), __float_as_uint(-v.w));
}
