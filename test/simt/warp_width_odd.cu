/* hone
language = "cuda"
note     = "a width of 12"
[[launch]]
kernel = "k"
grid   = ["B"]
block  = ["32"]
args   = ["x", "y", "i64:D"]
*/
// task: y = sum(x, axis=-1) | x=f32[B,D] | B=5,D=300
// expect: launch fails: a power of two
__global__ void k(const float* x, float* y, long long D) {
  double sum = 0;
  for (long long j = threadIdx.x; j < D; j += 32) sum += x[blockIdx.x * D + j];
  sum += __shfl_xor_sync(0xffffffff, sum, 1, 12);
  if (threadIdx.x == 0) y[blockIdx.x] = static_cast<float>(sum);
}
