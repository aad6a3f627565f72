/* hone
language = "hip"
note     = "grid and block of two dimensions"
[[launch]]
kernel = "k"
grid   = ["ceil_div(N, 32)", "ceil_div(M, 4)"]
block  = ["32", "4"]
args   = ["x", "y", "i32:M", "i32:N"]
*/
// task: y = 2 * x | x=f32[M,N] | M=37,N=70
// expect: accepted
__global__ void k(const float* x, float* y, int M, int N) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r < M && c < N) y[r * N + c] = 2 * x[r * N + c];
}
