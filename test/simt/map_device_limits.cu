/* hone
language = "cuda"
note     = "the grid is as large as the device"
[[launch]]
kernel = "k"
grid   = ["min(SMS, 7)"]
block  = ["128"]
args   = ["x", "y", "i64:N", "i32:WAVE", "i32:SHARED_MAX"]
*/
// task: y = 2 * x | x=f32[N] | N=1000
// expect: accepted
__global__ void k(const float* x, float* y, long long N, int wave, int shared) {
  if (wave != warpSize || shared < 65536) return;
  for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += (long long)gridDim.x * blockDim.x) y[i] = 2 * x[i];
}
