/* hone
language = "cuda"
note     = "a bitonic network in shared memory"
requires = ["D <= 128"]
[[launch]]
kernel = "k"
grid   = ["B"]
block  = ["128"]
args   = ["x", "y", "i64:D"]
*/
// task: y = sort(x, axis=-1) | x=f32[B,D] | B=3,D=100
// expect: accepted
__global__ void k(const float* x, float* y, long long D) {
  __shared__ float a[128];
  const int t = threadIdx.x;
  a[t] = t < D ? x[blockIdx.x * D + t] : INFINITY;
  __syncthreads();
  for (int size = 2; size <= 128; size *= 2)
    for (int step = size / 2; step > 0; step /= 2) {
      const int other = t ^ step;
      if (other > t) {
        const bool up = (t & size) == 0;
        if ((a[t] > a[other]) == up) { const float v = a[t]; a[t] = a[other]; a[other] = v; }
      }
      __syncthreads();
    }
  if (t < D) y[blockIdx.x * D + t] = a[t];
}
