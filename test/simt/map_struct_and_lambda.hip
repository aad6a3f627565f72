/* hone
language = "hip"
note     = "classes, templates and lambdas are just C++"
[[launch]]
kernel = "k"
grid   = ["ceil_div(N, 128)"]
block  = ["128"]
args   = ["x", "y", "i64:N"]
*/
// task: y = 2 * x | x=f32[N] | N=1000
// expect: accepted
struct Twice { __device__ float operator()(float v) const { return v + v; } };
template <class F>
__device__ void each(long long n, F f) {
  for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x) f(i);
}
__global__ void __launch_bounds__(128) k(const float* __restrict__ x, float* __restrict__ y, long long N) {
  each(N, [=](long long i) { y[i] = Twice{}(x[i]); });
}
