/* hone
language = "cuda"
[[launch]]
kernel = "k"
grid   = ["ceil_div(N, 256)"]
block  = ["256"]
args   = ["x", "y", "i64:N", "i64:1", "i64:0"]
*/
// wrong: lane i goes through its loop i + 1 times
// expect: divergence
// Many multiply-adds that leave x as it is: nobody tells the compiler that one is 1 and none is 0.
__device__ float work(float x, float one, float none) {
  for (int n = 0; n < 96; ++n) x = x * one + none;
  return x;
}
__global__ void k(const float* x, float* y, long long N, long long one, long long none) {
  const long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
  if (i >= N) return;
  float e = 0;
#pragma unroll 1
  for (int turn = threadIdx.x % 32; turn >= 0; --turn) e = work(x[i] + 0.0f * e, one, none);
  y[i] = e;
}
