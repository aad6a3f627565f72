/* hone
language = "cuda"
[[launch]]
kernel = "k"
grid   = ["ceil_div(N, 256)"]
block  = ["256"]
args   = ["x", "y", "i64:N", "i64:1", "i64:0"]
*/
// wrong: every eighth lane does the work of eight
// expect: divergence
// Many multiply-adds that leave x as it is: nobody tells the compiler that one is 1 and none is 0.
__device__ float work(float x, float one, float none) {
  for (int n = 0; n < 96; ++n) x = x * one + none;
  return x;
}
__global__ void k(const float* x, float* y, long long N, long long one, long long none) {
  const long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
  if (i % 8 != 0) return;
#pragma unroll 1
  for (long long j = i; j < i + 8 && j < N; ++j) y[j] = work(x[j], one, none);
}
