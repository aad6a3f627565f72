/* hone
language = "cuda"
note     = "a warp in shared memory, with __syncwarp"
[[launch]]
kernel = "k"
grid   = ["B"]
block  = ["32"]
args   = ["x", "y", "i64:D"]
*/
// task: y = sum(x, axis=-1) | x=f32[B,D] | B=5,D=300
// expect: accepted
__global__ void k(const float* x, float* y, long long D) {
  __shared__ double part[64];
  double sum = 0;
  for (long long j = threadIdx.x; j < D; j += 32) sum += x[blockIdx.x * D + j];
  part[threadIdx.x] = sum;
  part[threadIdx.x + 32] = 0;
  __syncwarp();
  for (int step = 16; step > 0; step /= 2) {
    const double other = part[threadIdx.x + step];
    __syncwarp();
    part[threadIdx.x] += other;
    __syncwarp();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = static_cast<float>(part[0]);
}
