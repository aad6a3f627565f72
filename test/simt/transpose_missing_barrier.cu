/* hone
language = "cuda"
note     = "the tile is read while it is filled"
requires = ["M > 1", "N > 1"]
[[launch]]
kernel = "k"
grid   = ["ceil_div(N, 16)", "ceil_div(M, 16)"]
block  = ["16", "16"]
args   = ["x", "y", "i32:M", "i32:N"]
*/
// task: y = transpose(x, 0, 1) | x=f32[M,N] | M=37,N=70
// expect: launch fails: shared memory
__global__ void k(const float* x, float* y, int M, int N) {
  __shared__ float tile[16][17];
  int c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 16 + threadIdx.y;
  if (r < M && c < N) tile[threadIdx.y][threadIdx.x] = x[r * N + c];
  c = blockIdx.y * 16 + threadIdx.x;
  r = blockIdx.x * 16 + threadIdx.y;
  if (r < N && c < M) y[r * M + c] = tile[threadIdx.x][threadIdx.y];
}
