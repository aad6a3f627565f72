/* hone
language = "hip"
note     = "all read it before it is there"
[[launch]]
kernel = "k"
grid   = ["B"]
block  = ["128"]
args   = ["x", "y", "i64:D"]
*/
// task: y = x - mean(x, axis=-1, keepdims=true) | x=f32[B,D] | B=5,D=300
// expect: launch fails: shared memory
__global__ void k(const float* x, float* y, long long D) {
  __shared__ double part[128];
  __shared__ double mean;
  double sum = 0;
  for (long long j = threadIdx.x; j < D; j += 128) sum += x[blockIdx.x * D + j];
  part[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    double all = 0;
    for (int i = 0; i < 128; ++i) all += part[i];
    mean = all / D;
  }
  for (long long j = threadIdx.x; j < D; j += 128) y[blockIdx.x * D + j] = static_cast<float>(x[blockIdx.x * D + j] - mean);
}
