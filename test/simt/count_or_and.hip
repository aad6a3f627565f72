/* hone
language = "hip"
note     = "barriers that count"
[[launch]]
kernel = "k"
grid   = ["B"]
block  = ["128"]
args   = ["x", "y", "i64:D"]
*/
// task: y = sum(where(x > 0, x * 0 + 1, x * 0), axis=-1) | x=f32[B,D] | B=5,D=300
// expect: accepted
__global__ void k(const float* x, float* y, long long D) {
  int all = 0;
  for (long long j = threadIdx.x; j < (D + 127) / 128 * 128; j += 128) {
    const int positive = j < D && x[blockIdx.x * D + j] > 0;
    const int here = __syncthreads_count(positive);
    if (__syncthreads_or(positive) != (here > 0) || __syncthreads_and(positive) != (here == 128)) all = -100000;
    all += here;
  }
  if (threadIdx.x == 0) y[blockIdx.x] = static_cast<float>(all);
}
