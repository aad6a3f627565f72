/* hone
language = "cuda"
note     = "blocks overlap: two write one element"
requires = ["N > 300"]
[[launch]]
kernel = "k"
grid   = ["3"]
block  = ["128"]
args   = ["x", "y", "i64:N"]
*/
// task: y = 2 * x | x=f32[N] | N=1000
// expect: launch fails: a race on memory
__global__ void k(const float* x, float* y, long long N) {
  for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += blockDim.x) y[i] = 2 * x[i];
}
