/* hone
language = "hip"
note     = "the same with both barriers"
[[launch]]
kernel = "k"
grid   = ["B"]
block  = ["128"]
args   = ["x", "y", "i64:D"]
*/
// task: y = 2 * x | x=f32[B,D] | B=5,D=300
// expect: accepted
__global__ void k(const float* x, float* y, long long D) {
  __shared__ float tile[128];
  for (long long j = threadIdx.x; j < (D + 127) / 128 * 128; j += 128) {
    tile[threadIdx.x] = j < D ? x[blockIdx.x * D + j] : 0;
    __syncthreads();
    const long long from = j - threadIdx.x + 127 - threadIdx.x;
    if (from < D) y[blockIdx.x * D + from] = 2 * tile[127 - threadIdx.x];
    __syncthreads();
  }
}
