/* hone
language = "cuda"
note     = "rows and columns swapped in the index"
requires = ["N > M + 1"]
[[launch]]
kernel = "k"
grid   = ["ceil_div(N, 32)", "ceil_div(M, 4)"]
block  = ["32", "4"]
args   = ["x", "y", "i32:M", "i32:N"]
*/
// task: y = 2 * x | x=f32[M,N] | M=37,N=70
// expect: out of bounds: 
__global__ void k(const float* x, float* y, int M, int N) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r < M && c < N) y[c * N + r] = 2 * x[c * N + r];
}
