/* hone
language = "hip"
note     = "an input is not to be written"
[[launch]]
kernel = "k"
grid   = ["ceil_div(N, 128)"]
block  = ["128"]
args   = ["x", "y", "i64:N"]
*/
// task: y = 2 * x | x=f32[N] | N=1000
// expect: out of bounds: writes an input
__global__ void k(const float* in, float* y, long long N) {
  float* x = const_cast<float*>(in);
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < N) { y[i] = 2 * x[i]; x[i] = 0; }
}
