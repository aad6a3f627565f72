/* hone
language = "cuda"
note     = "counting by votes"
[[launch]]
kernel = "k"
grid   = ["B"]
block  = ["32"]
args   = ["x", "y", "i64:D"]
*/
// task: y = sum(where(x > 0, x * 0 + 1, x * 0), axis=-1) | x=f32[B,D] | B=5,D=300
// expect: accepted
__global__ void k(const float* x, float* y, long long D) {
  int all = 0;
  for (long long j = threadIdx.x; j < (D + 31) / 32 * 32; j += 32) {
    const unsigned votes = __ballot_sync(0xffffffff, j < D && x[blockIdx.x * D + j] > 0);
    all += __popc(votes);
    if (__any_sync(0xffffffff, votes != 0) != (votes != 0) || __all_sync(0xffffffff, votes == 0) != (votes == 0)) all = -100000;
  }
  if (threadIdx.x == 0) y[blockIdx.x] = all;
}
