/* hone
language = "hip"
note     = "the sum is read before all have added"
requires = ["D > 1"]
[[launch]]
kernel = "k"
grid   = ["B"]
block  = ["128"]
args   = ["x", "y", "i64:D"]
*/
// task: y = sum(x, axis=-1) | x=f32[B,D] | B=5,D=300
// expect: launch fails: a race on shared memory
__global__ void k(const float* x, float* y, long long D) {
  __shared__ double sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  for (long long j = threadIdx.x; j < D; j += blockDim.x) atomicAdd(&sum, static_cast<double>(x[blockIdx.x * D + j]));
  if (threadIdx.x == 0) y[blockIdx.x] = static_cast<float>(sum);
}
