/* hone
language = "cuda"
note     = "shuffles within parts of 8"
[[launch]]
kernel = "k"
grid   = ["ceil_div(B, 16)"]
block  = ["128"]
args   = ["x", "y", "i64:B", "i64:D"]
*/
// task: y = sum(x, axis=-1) | x=f32[B,D] | B=5,D=300
// expect: accepted
__global__ void k(const float* x, float* y, long long B, long long D) {
  const long long row = blockIdx.x * (blockDim.x / 8LL) + threadIdx.x / 8;
  double sum = 0;
  if (row < B)
    for (long long j = threadIdx.x % 8; j < D; j += 8) sum += x[row * D + j];
  for (int step = 4; step > 0; step /= 2) sum += __shfl_xor_sync((warpSize == 64 ? ~0ull : 0xffffffffull), sum, step, 8);
  if (row < B && threadIdx.x % 8 == 0) y[row] = static_cast<float>(sum);
}
