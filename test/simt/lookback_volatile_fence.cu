/* hone
language = "cuda"
note     = "flag and sum are volatile, and a fence orders them"
workspaces = { flags = "zero i32[B, ceil_div(D, 128)]", sums = "f64[B, ceil_div(D, 128)]" }
requires = ["D > 128", "B <= 65535"]
[[launch]]
kernel = "k"
grid   = ["ceil_div(D, 128)", "B"]
block  = ["128"]
args   = ["x", "y", "flags", "sums", "i64:D"]
*/
// task: y = cumsum(x, axis=-1) | x=f32[B,D] | B=3,D=700
// expect: accepted
__global__ void k(const float* x, float* y, int* flags, double* sums, long long D) {
  __shared__ double a[128];
  __shared__ double before;
  const int t = threadIdx.x;
  const long long j = blockIdx.x * 128LL + t, row = blockIdx.y;
  a[t] = j < D ? x[row * D + j] : 0;
  __syncthreads();
  if (t == 0) {
    for (int i = 1; i < 128; ++i) a[i] += a[i - 1];
    const long long at = row * gridDim.x + blockIdx.x;
    double sum = 0;
    if (blockIdx.x > 0) {
      while (*(volatile int*)&flags[at - 1] == 0) {}
      __threadfence();
      sum = *(volatile double*)&sums[at - 1];
    }
    before = sum;
    *(volatile double*)&sums[at] = sum + a[127];
    __threadfence();
    *(volatile int*)&flags[at] = 1;
  }
  __syncthreads();
  if (j < D) y[row * D + j] = static_cast<float>(before + a[t]);
}
