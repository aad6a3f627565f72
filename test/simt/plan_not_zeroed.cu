/* hone
language = "cuda"
note     = "the same, but nobody cleared it"
workspaces = { w = "f64[B]" }
[[launch]]
kernel = "gather"
grid   = ["ceil_div(D, 64)", "B"]
block  = ["64"]
args   = ["x", "w", "i64:D"]

[[launch]]
kernel = "finish"
grid   = ["ceil_div(B, 32)"]
block  = ["32"]
args   = ["w", "y", "i64:B"]
*/
// task: y = sum(x, axis=-1) | x=f32[B,D] | B=5,D=300
// expect: launch fails: reads memory that nothing has written
__global__ void gather(const float* x, double* w, long long D) {
  const long long j = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (j < D) atomicAdd(&w[blockIdx.y], static_cast<double>(x[blockIdx.y * D + j]));
}
__global__ void finish(const double* w, float* y, long long B) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < B) y[i] = static_cast<float>(w[i]);
}
