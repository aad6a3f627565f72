/* hone
language = "cuda"
note     = "one lane waits for the block before, the others do not wait for it"
workspaces = { flags = "zero i32[ceil_div(D, 32)]", sums = "f64[ceil_div(D, 32), 32]" }
[[launch]]
kernel = "k"
grid   = ["ceil_div(D, 32)"]
block  = ["32"]
args   = ["x", "y", "flags", "sums", "i64:D"]
*/
// task: y = cumsum(x, axis=-1) | x=f32[D] | D=150
// expect: launch fails: kernel.cu
__global__ void k(const float* x, float* y, int* flags, double* sums, long long D) {
  const int lane = threadIdx.x;
  const long long block = blockIdx.x, j = block * 32 + lane;
  double a = j < D ? x[j] : 0;
  for (int step = 1; step < 32; step *= 2) {
    const double other = __shfl_up_sync(0xffffffffu, a, step);
    if (lane >= step) a += other;
  }
  double before = 0;
  if (block > 0) {
    if (lane == 0) {
      while (*(volatile int*)&flags[block - 1] == 0) {}
      __threadfence();
    }
    before = sums[(block - 1) * 32 + 31 - lane];
  }
  a += before;
  const double last = __shfl_sync(0xffffffffu, a, 31);
  sums[block * 32 + lane] = last;
  __threadfence();
  __syncwarp();
  if (lane == 0) *(volatile int*)&flags[block] = 1;
  if (j < D) y[j] = static_cast<float>(a);
}
