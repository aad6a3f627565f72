/* hone
language = "hip"
note     = "a vote cut to 32 bits"
requires = ["D > 60"]
[[launch]]
kernel = "k"
grid   = ["B"]
block  = ["64"]
args   = ["x", "y", "i64:D"]
*/
// task: y = sum(where(x > 0, x * 0 + 1, x * 0), axis=-1) | x=f32[B,D] | B=5,D=300
// expect: wrong: 
__global__ void k(const float* x, float* y, long long D) {
  int all = 0;
  for (long long j = threadIdx.x; j < (D + 63) / 64 * 64; j += 64) {
    const unsigned votes = static_cast<unsigned>(__ballot(j < D && x[blockIdx.x * D + j] > 0));
    all += __popc(votes);
  }
  if (threadIdx.x == 0) y[blockIdx.x] = all;
}
