/* hone
language = "hip"
note     = "threads come to the barrier different numbers of times"
requires = ["D % 128 != 0"]
[[launch]]
kernel = "k"
grid   = ["B"]
block  = ["128"]
args   = ["x", "y", "i64:D"]
*/
// task: y = sum(x, axis=-1) | x=f32[B,D] | B=5,D=300
// expect: launch fails: divergent
__global__ void k(const float* x, float* y, long long D) {
  __shared__ double part[128];
  part[threadIdx.x] = 0;
  for (long long j = threadIdx.x; j < D; j += 128) {
    part[threadIdx.x] += x[blockIdx.x * D + j];
    __syncthreads();
  }
  double all = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 0; i < 128; ++i) all += part[i];
    y[blockIdx.x] = static_cast<float>(all);
  }
}
