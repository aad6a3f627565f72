/* hone
language = "cuda"
note     = "a launch as often as there are levels"
workspaces = { w = "f64[B, D]" }
requires = ["D <= 1024"]
[[launch]]
kernel = "start"
grid   = ["ceil_div(B * D, 128)"]
block  = ["128"]
args   = ["x", "w", "i64:B * D"]

[[launch]]
kernel = "fold"
grid   = ["B"]
block  = ["32"]
repeat = "10"
args   = ["w", "i64:D", "i64:select(STEP < 1, 1, select(STEP < 2, 2, select(STEP < 3, 4, select(STEP < 4, 8, select(STEP < 5, 16, select(STEP < 6, 32, select(STEP < 7, 64, select(STEP < 8, 128, select(STEP < 9, 256, 512)))))))))"]

[[launch]]
kernel = "finish"
grid   = ["ceil_div(B, 32)"]
block  = ["32"]
args   = ["w", "y", "i64:B", "i64:D"]
*/
// task: y = sum(x, axis=-1) | x=f32[B,D] | B=5,D=300
// expect: accepted
__global__ void start(const float* x, double* w, long long n) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) w[i] = x[i];
}
__global__ void fold(double* w, long long D, long long step) {
  double* row = w + blockIdx.x * D;
  for (long long i = threadIdx.x * 2 * step; i + step < D; i += blockDim.x * 2 * step) row[i] += row[i + step];
}
__global__ void finish(const double* w, float* y, long long B, long long D) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < B) y[i] = static_cast<float>(w[i * D]);
}
