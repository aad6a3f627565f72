/* hone
language = "cuda"
note     = "a row a block along y, of which a card takes 65535: it does not apply beyond"
[[launch]]
kernel = "k"
grid   = ["ceil_div(D, 64)", "B"]
block  = ["64"]
args   = ["x", "y", "i64:D"]
*/
// task: y = 2 * x | x=f32[B,D] | B=30,D=100
// expect: accepted
__global__ void k(const float* x, float* y, long long D) {
  const long long j = blockIdx.x * 64LL + threadIdx.x;
  if (j < D) y[blockIdx.y * D + j] = 2 * x[blockIdx.y * D + j];
}
