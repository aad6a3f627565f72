/* hone
language = "cuda"
[[launch]]
kernel = "twice"
grid   = ["min(SMS, ceil_div(N, 64))"]
block  = ["64"]
args   = ["x", "y", "i64:N"]
*/
// task: y = 2 * x | x=f32[N] | N=1000
// expect: wrong
// A block takes every 132nd tile, however many blocks there are: right on a card with as many multiprocessors.
__global__ void twice(const float* x, float* y, int64_t n) {
  for (int64_t i = blockIdx.x * 64 + threadIdx.x; i < n; i += 132 * 64) y[i] = 2 * x[i];
}
