/* hone
language = "cuda"
[[launch]]
kernel = "k"
grid   = ["SMS"]
block  = ["128"]
args   = ["x", "z", "y", "i64:N"]
*/
// wrong: four warps a multiprocessor, two words on their way
// expect: too few bytes in flight
__global__ void k(const float* x, const float* z, float* y, long long N) {
#pragma unroll 1
  for (long long i = blockIdx.x * 128LL + threadIdx.x; i < N; i += gridDim.x * 128LL) y[i] = x[i] + z[i];
}
