/* hone
language = "hip"
note     = "tunables are macros, one of them specialised"
tunables = { BLOCK = [64, 128], VEC = [2, 1] }
specialise = ["N"]
[[launch]]
kernel = "k"
grid   = ["ceil_div(N, BLOCK * VEC)"]
block  = ["BLOCK"]
args   = ["x", "y"]
*/
// task: y = 2 * x | x=f32[N] | N=1000
// expect: accepted
template <int V>
__device__ void some(const float* x, float* y, long long at) {
  for (int v = 0; v < V; ++v)
    if (at + v * BLOCK < N) y[at + v * BLOCK] = 2 * x[at + v * BLOCK];
}
__global__ void k(const float* x, float* y) { some<VEC>(x, y, blockIdx.x * (long long)(BLOCK * VEC) + threadIdx.x); }
