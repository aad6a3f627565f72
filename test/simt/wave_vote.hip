/* hone
language = "hip"
note     = "a vote has 64 bits"
[[launch]]
kernel = "k"
grid   = ["B"]
block  = ["64"]
args   = ["x", "y", "i64:D"]
*/
// task: y = sum(where(x > 0, x * 0 + 1, x * 0), axis=-1) | x=f32[B,D] | B=5,D=300
// expect: accepted
__global__ void k(const float* x, float* y, long long D) {
  int all = 0;
  for (long long j = threadIdx.x; j < (D + 63) / 64 * 64; j += 64) all += __popcll(__ballot(j < D && x[blockIdx.x * D + j] > 0));
  if (threadIdx.x == 0) y[blockIdx.x] = all;
}
