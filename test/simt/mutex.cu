/* hone
language = "cuda"
note     = "a lock around a sum"
workspaces = { w = "zero f64[B]", lock = "zero i32[B]" }
[[launch]]
kernel = "k"
grid   = ["4", "B"]
block  = ["64"]
args   = ["x", "w", "lock", "i64:D"]

[[launch]]
kernel = "finish"
grid   = ["ceil_div(B, 32)"]
block  = ["32"]
args   = ["w", "y", "i64:B"]
*/
// task: y = sum(x, axis=-1) | x=f32[B,D] | B=5,D=300
// expect: accepted
__global__ void k(const float* x, double* w, int* lock, long long D) {
  double sum = 0;
  for (long long j = blockIdx.x * 64 + threadIdx.x; j < D; j += 4 * 64) sum += x[blockIdx.y * D + j];
  bool done = false;
  while (!done) {
    if (atomicCAS(&lock[blockIdx.y], 0, 1) == 0) {
      __threadfence();
      w[blockIdx.y] += sum;
      __threadfence();
      atomicExch(&lock[blockIdx.y], 0);
      done = true;
    }
  }
}
__global__ void finish(const double* w, float* y, long long B) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < B) y[i] = static_cast<float>(w[i]);
}
