/* hone
language = "hip"
note     = "a wave in shared memory, with wave barriers"
[[launch]]
kernel = "k"
grid   = ["B"]
block  = ["64"]
args   = ["x", "y", "i64:D"]
*/
// task: y = sum(x, axis=-1) | x=f32[B,D] | B=5,D=300
// expect: accepted
__global__ void k(const float* x, float* y, long long D) {
  __shared__ double part[128];
  double sum = 0;
  for (long long j = threadIdx.x; j < D; j += 64) sum += x[blockIdx.x * D + j];
  part[threadIdx.x] = sum;
  part[threadIdx.x + 64] = 0;
  __builtin_amdgcn_wave_barrier();
  for (int step = 32; step > 0; step /= 2) {
    const double other = part[threadIdx.x + step];
    __builtin_amdgcn_wave_barrier();
    part[threadIdx.x] += other;
    __builtin_amdgcn_wave_barrier();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = static_cast<float>(part[0]);
}
