/* hone
language = "cuda"
note     = "one beyond the row's end is read and left out of the sum: of the last row it is nobody's"
requires = ["B <= 65535"]
[[launch]]
kernel = "k"
grid   = ["B"]
block  = ["32"]
args   = ["x", "y", "i64:D"]
*/
// task: y = sum(x, axis=-1) | x=f32[B,D] | B=5,D=20
// expect: out of bounds
__global__ void k(const float* x, float* y, long long D) {
  float s = 0;
  for (long long j = threadIdx.x; j <= D; j += 32) {
    const float v = x[blockIdx.x * D + j];
    if (j < D) s += v;
  }
  for (int step = 16; step > 0; step /= 2) s += __shfl_down_sync(0xffffffff, s, step);
  if (threadIdx.x == 0) y[blockIdx.x] = s;
}
