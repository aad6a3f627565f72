/* hone
language = "hip"
note     = "written for warps of 32: half of the wave is left out"
requires = ["D > 40"]
[[launch]]
kernel = "k"
grid   = ["B"]
block  = ["64"]
args   = ["x", "y", "i64:D"]
*/
// task: y = sum(x, axis=-1) | x=f32[B,D] | B=5,D=300
// expect: wrong: 
#define LANES 64
#define MASK ~0ull
__global__ void k(const float* x, float* y, long long D) {
  double sum = 0;
  for (long long j = threadIdx.x; j < D; j += LANES) sum += x[blockIdx.x * D + j];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down(sum, step);
  if (threadIdx.x == 0) y[blockIdx.x] = static_cast<float>(sum);
}
