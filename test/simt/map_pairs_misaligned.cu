/* hone
language = "cuda"
note     = "pairs of floats as one word, from an odd element on"
requires = ["N > 8"]
[[launch]]
kernel = "k"
grid   = ["ceil_div(N, 256)"]
block  = ["128"]
args   = ["x", "y", "i64:N"]
*/
// task: y = 2 * x | x=f32[N] | N=1000
// expect: launch fails: not on a boundary of 8
__global__ void k(const float* x, float* y, long long N) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i == 0) y[0] = 2 * x[0];
  const long long j = 1 + 2 * i;
  if (j + 1 < N) {
    const unsigned long long v = *reinterpret_cast<const unsigned long long*>(x + j);
    y[j] = 2 * __uint_as_float(static_cast<unsigned>(v));
    y[j + 1] = 2 * __uint_as_float(static_cast<unsigned>(v >> 32));
  } else if (j < N) {
    y[j] = 2 * x[j];
  }
}
