/* hone
language = "cuda"
note     = "waits for the block after it: a device that is full of blocks that wait never comes to that one"
workspaces = { flags = "zero i32[B, ceil_div(D, 32)]", sums = "f64[B, ceil_div(D, 32)]" }
requires = ["D > 600", "B <= 65535"]
[[launch]]
kernel = "k"
grid   = ["ceil_div(D, 32)", "B"]
block  = ["32"]
args   = ["x", "y", "flags", "sums", "i64:D"]
*/
// task: y = flip(cumsum(flip(x, 1), axis=-1), 1) | x=f32[B,D] | B=3,D=700
// expect: launch fails: may count on
__global__ void k(const float* x, float* y, int* flags, double* sums, long long D) {
  __shared__ double a[32];
  __shared__ double behind;
  const int t = threadIdx.x;
  const long long j = blockIdx.x * 32LL + t, row = blockIdx.y;
  a[t] = j < D ? x[row * D + j] : 0;
  __syncthreads();
  if (t == 0) {
    for (int i = 30; i >= 0; --i) a[i] += a[i + 1];
    const long long at = row * gridDim.x + blockIdx.x;
    double sum = 0;
    if (blockIdx.x + 1 < gridDim.x) {
      while (*(volatile int*)&flags[at + 1] == 0) {}
      __threadfence();
      sum = sums[at + 1];
    }
    behind = sum;
    sums[at] = sum + a[0];
    __threadfence();
    *(volatile int*)&flags[at] = 1;
  }
  __syncthreads();
  if (j < D) y[row * D + j] = static_cast<float>(behind + a[t]);
}
