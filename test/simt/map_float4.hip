/* hone
language = "hip"
note     = "four at a time"
requires = ["N % 4 == 0"]
[[launch]]
kernel = "k"
grid   = ["ceil_div(N, 512)"]
block  = ["128"]
args   = ["x", "y", "i64:N"]
*/
// task: y = 2 * x | x=f32[N] | N=1000
// expect: accepted
__global__ void k(const float* x, float* y, long long N) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (4 * i >= N) return;
  float4 v = reinterpret_cast<const float4*>(x)[i];
  v.x *= 2; v.y *= 2; v.z *= 2; v.w *= 2;
  reinterpret_cast<float4*>(y)[i] = v;
}
