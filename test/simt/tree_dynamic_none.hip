/* hone
language = "hip"
note     = "asked for nothing"
[[launch]]
kernel = "k"
grid   = ["B"]
block  = ["128"]
args   = ["x", "y", "i64:D"]
*/
// task: y = sum(x, axis=-1) | x=f32[B,D] | B=5,D=300
// expect: out of bounds: 
__global__ void k(const float* x, float* y, long long D) {
  extern __shared__ double part[];
  double sum = 0;
  for (long long j = threadIdx.x; j < D; j += 128) sum += x[blockIdx.x * D + j];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int step = 64; step > 0; step /= 2) {
    if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = part[0];
}
