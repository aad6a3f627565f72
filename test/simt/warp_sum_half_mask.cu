/* hone
language = "cuda"
note     = "the mask leaves half of the callers out"
[[launch]]
kernel = "k"
grid   = ["B"]
block  = ["32"]
args   = ["x", "y", "i64:D"]
*/
// task: y = sum(x, axis=-1) | x=f32[B,D] | B=5,D=300
// expect: launch fails: __shfl_down
#define LANES 32
#define MASK 0xffff
__global__ void k(const float* x, float* y, long long D) {
  double sum = 0;
  for (long long j = threadIdx.x; j < D; j += LANES) sum += x[blockIdx.x * D + j];
  for (int step = LANES / 2; step > 0; step /= 2) sum += __shfl_down_sync(MASK, sum, step);
  if (threadIdx.x == 0) y[blockIdx.x] = static_cast<float>(sum);
}
