/* hone
language = "cuda"
note     = "many write one value: a race by the language's rules"
[[launch]]
kernel = "k"
grid   = ["ceil_div(N, 128)"]
block  = ["128"]
args   = ["x", "y", "i64:N"]
*/
// task: y = 2 * x | x=f32[N] | N=1000
// expect: launch fails: a race on shared memory
__global__ void k(const float* x, float* y, long long N) {
  __shared__ float factor;
  factor = static_cast<float>(N / N + 1);
  __syncthreads();
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < N) y[i] = factor * x[i];
}
