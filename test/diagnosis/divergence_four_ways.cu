/* hone
language = "cuda"
[[launch]]
kernel = "k"
grid   = ["ceil_div(N, 256)"]
block  = ["256"]
args   = ["x", "y", "i64:N", "i64:1", "i64:0"]
*/
// wrong: the lanes of a warp take four ways that come to the same
// expect: divergence
// As many multiply-adds that leave x as it is.
template <int TERMS>
__device__ float work(float x, float one, float none) {
#pragma unroll 1
  for (int n = 0; n < TERMS; ++n) x = x * one + none;
  return x;
}
__global__ void k(const float* x, float* y, long long N, long long one, long long none) {
  const long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
  if (i >= N) return;
  switch (threadIdx.x % 4) {
    case 0: y[i] = work<96>(x[i], one, none); break;
    case 1: y[i] = work<100>(x[i], one, none); break;
    case 2: y[i] = work<104>(x[i], one, none); break;
    default: y[i] = work<108>(x[i], one, none); break;
  }
}
