/* hone
language = "hip"
note     = "the largest, by compare and swap"
[[launch]]
kernel = "k"
grid   = ["B"]
block  = ["128"]
args   = ["x", "y", "i64:D"]
*/
// task: y = max(x, axis=-1) | x=f32[B,D] | B=5,D=300
// expect: accepted
__device__ void raise(float* at, float v) {
  int* p = reinterpret_cast<int*>(at);
  int old = *(volatile int*)p;
  while (__int_as_float(old) < v) {
    const int seen = atomicCAS(p, old, __float_as_int(v));
    if (seen == old) break;
    old = seen;
  }
}
__global__ void k(const float* x, float* y, long long D) {
  __shared__ float most;
  if (threadIdx.x == 0) most = -INFINITY;
  __syncthreads();
  for (long long j = threadIdx.x; j < D; j += blockDim.x) raise(&most, x[blockIdx.x * D + j]);
  __syncthreads();
  if (threadIdx.x == 0) y[blockIdx.x] = most;
}
