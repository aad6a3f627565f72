/* hone
language = "cuda"
note     = "the carry is written while others read it"
[[launch]]
kernel = "k"
grid   = ["B"]
block  = ["128"]
args   = ["x", "y", "i64:D"]
*/
// task: y = cumsum(x, axis=-1) | x=f32[B,D] | B=5,D=200
// expect: launch fails: a race on shared memory
__global__ void k(const float* x, float* y, long long D) {
  __shared__ double ends[4];
  __shared__ double carry;
  if (threadIdx.x == 0) carry = 0;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (long long base = 0; base < D; base += 128) {
    const long long j = base + threadIdx.x;
    double v = j < D ? x[blockIdx.x * D + j] : 0;
    for (int step = 1; step < 32; step *= 2) {
      const double other = __shfl_up_sync(0xffffffff, v, step);
      if (lane >= step) v += other;
    }
    if (lane == 31) ends[warp] = v;
    __syncthreads();
    double before = carry;
    for (int w = 0; w < warp; ++w) before += ends[w];
    if (j < D) y[blockIdx.x * D + j] = static_cast<float>(before + v);
    if (threadIdx.x == 127) carry = before + v;
    __syncthreads();
  }
}
