/* hone
language = "cuda"
[[launch]]
kernel = "k"
grid   = ["SMS"]
block  = ["256"]
args   = ["x", "y", "i64:N"]
*/
// wrong: eight warps a multiprocessor, each with one word on its way
// expect: too few bytes in flight
__global__ void k(const float* x, float* y, long long N) {
#pragma unroll 1
  for (long long i = blockIdx.x * 256LL + threadIdx.x; i < N; i += gridDim.x * 256LL) y[i] = 2.0f * x[i];
}
