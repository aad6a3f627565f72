/* hone
language = "cuda"
note     = "mathematics by either name"
[[launch]]
kernel = "k"
grid   = ["ceil_div(N, 128)"]
block  = ["128"]
args   = ["x", "y", "i64:N"]
*/
// task: y = exp(x) / (1 + exp(x)) | x=f32[N] | N=1000
// expect: accepted
__global__ void k(const float* x, float* y, long long N) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < N) y[i] = __fdividef(1.0f, 1.0f + expf(-__ldg(x + i)));
}
