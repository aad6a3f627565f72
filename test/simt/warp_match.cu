/* hone
language = "cuda"
note     = "lanes of one value find each other"
[[launch]]
kernel = "k"
grid   = ["B"]
block  = ["32"]
args   = ["x", "y", "i64:D"]
*/
// task: y = sum(x, axis=-1) | x=f32[B,D] | B=5,D=300
// expect: accepted
__global__ void k(const float* x, float* y, long long D) {
  double sum = 0;
  for (long long j = threadIdx.x; j < D; j += 32) sum += x[blockIdx.x * D + j];
  const unsigned half = __match_any_sync(0xffffffff, static_cast<int>(threadIdx.x / 16));
  for (int step = 8; step > 0; step /= 2) sum += __shfl_xor_sync(half, sum, step);
  int same = 1;
  __match_all_sync(0xffffffff, static_cast<int>(threadIdx.x), &same);
  sum += __shfl_xor_sync(0xffffffff, sum, 16);
  if (threadIdx.x == 0) y[blockIdx.x] = same ? -1 : static_cast<float>(sum);
}
