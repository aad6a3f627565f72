/* hone
language = "cuda"
note     = "rows and columns of the tile exchanged"
requires = ["N > 4", "K > 4"]
[[launch]]
kernel = "k"
grid   = ["ceil_div(N, 16)", "ceil_div(M, 16)"]
block  = ["16", "16"]
args   = ["a", "b", "y", "i32:M", "i32:K", "i32:N"]
*/
// task: y = a @ b | a=f32[M,K] b=f32[K,N] | M=33,K=40,N=37
// expect: wrong: 
__global__ void k(const float* a, const float* b, float* y, int M, int K, int N) {
  __shared__ float ta[16][16], tb[16][16];
  const int c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 16 + threadIdx.y;
  double sum = 0;
  for (int k0 = 0; k0 < K; k0 += 16) {
    const int ka = k0 + threadIdx.x, kb = k0 + threadIdx.y;
    ta[threadIdx.y][threadIdx.x] = r < M && ka < K ? a[r * K + ka] : 0;
    tb[threadIdx.y][threadIdx.x] = c < N && kb < K ? b[kb * N + c] : 0;
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += static_cast<double>(ta[threadIdx.y][i]) * tb[threadIdx.x][i];
    __syncthreads();
  }
  if (r < M && c < N) y[r * N + c] = static_cast<float>(sum);
}
