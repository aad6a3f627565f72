/* hone
language = "cuda"
note     = "one byte more than a block may have"
[[launch]]
kernel = "k"
grid   = ["ceil_div(N, 128)"]
block  = ["128"]
shared = "SHARED_MAX + 1"
args   = ["x", "y", "i64:N"]
*/
// task: y = 2 * x | x=f32[N] | N=1000
// expect: launch fails: bytes of shared memory
extern __shared__ float everything[];
__global__ void k(const float* x, float* y, long long N) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < N) y[i] = 2 * x[i];
}
