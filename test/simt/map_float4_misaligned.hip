/* hone
language = "hip"
note     = "vectors that begin at an odd element"
requires = ["N > 8"]
[[launch]]
kernel = "k"
grid   = ["ceil_div(N, 512)"]
block  = ["128"]
args   = ["x", "y", "i64:N"]
*/
// task: y = 2 * x | x=f32[N] | N=1000
// expect: launch fails: not on a boundary of 16
__global__ void k(const float* x, float* y, long long N) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i == 0) y[0] = 2 * x[0];
  const long long j = 1 + 4 * i;
  if (j + 3 < N) {
    float4 v = *reinterpret_cast<const float4*>(x + j);
    y[j] = 2 * v.x; y[j + 1] = 2 * v.y; y[j + 2] = 2 * v.z; y[j + 3] = 2 * v.w;
  } else {
    for (long long t = j; t < N && t < j + 4; ++t) y[t] = 2 * x[t];
  }
}
