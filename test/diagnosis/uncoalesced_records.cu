/* hone
language = "cuda"
[[launch]]
kernel = "k"
grid   = ["ceil_div(B, 256)"]
block  = ["256"]
args   = ["x", "y", "i64:B"]
*/
// wrong: a thread reads the eight words of a record one by one
// expect: uncoalesced access
__global__ void k(const float* x, float* y, long long B) {
  const long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
  if (i >= B) return;
  float sum = 0;
#pragma unroll 1
  for (int j = 0; j < 8; ++j) sum += x[i * 8 + j];
  y[i] = sum;
}
