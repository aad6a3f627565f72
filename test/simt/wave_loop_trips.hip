/* hone
language = "hip"
note     = "lanes leave a loop at different times; shuffles in it and behind it"
[[launch]]
kernel = "k"
grid   = ["B"]
block  = ["64"]
args   = ["x", "y", "i64:D"]
*/
// task: y = sum(x, axis=-1) | x=f32[B,D] | B=5,D=300
// expect: accepted
__global__ void k(const float* x, float* y, long long D) {
  double sum = 0;
  for (long long j = threadIdx.x; j < D; j += 64) {
    const double v = x[blockIdx.x * D + j];
    sum += __shfl(v, threadIdx.x);
  }
  for (int step = 32; step > 0; step /= 2) sum += __shfl_xor(sum, step);
  if (threadIdx.x == 0) y[blockIdx.x] = static_cast<float>(sum);
}
