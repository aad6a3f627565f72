/* hone
language = "cuda"
note     = "a full mask in a block of 24 threads"
[[launch]]
kernel = "k"
grid   = ["B"]
block  = ["24"]
args   = ["x", "y", "i64:D"]
*/
// task: y = sum(x, axis=-1) | x=f32[B,D] | B=5,D=300
// expect: launch fails: reads lane
__global__ void k(const float* x, float* y, long long D) {
  double sum = 0;
  for (long long j = threadIdx.x; j < D; j += 24) sum += x[blockIdx.x * D + j];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
  if (threadIdx.x == 0) y[blockIdx.x] = static_cast<float>(sum);
}
