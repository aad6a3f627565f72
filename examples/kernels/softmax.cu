/* hone
language = "cuda"
tunables = { BLOCK = [256, 128, 512] }
note     = "a block a row: maximum, sum, scale; warps reduce by shuffles"

[[launch]]
kernel = "softmax"
grid   = ["B"]
block  = ["BLOCK"]
args   = ["x", "y", "i64:D"]
*/
__device__ float over_block(float v, bool largest, float* part) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int step = 16; step > 0; step /= 2) {
    const float other = __shfl_xor_sync(0xffffffff, v, step);
    v = largest ? fmaxf(v, other) : v + other;
  }
  __syncthreads();  // the last use of part is over
  if (lane == 0) part[warp] = v;
  __syncthreads();
  v = part[0];
  for (int i = 1; i < BLOCK / 32; ++i) v = largest ? fmaxf(v, part[i]) : v + part[i];
  return v;
}

__global__ void softmax(const float* __restrict__ x, float* __restrict__ y, long long D) {
  __shared__ float part[BLOCK / 32];
  const float* row = x + blockIdx.x * D;
  float* out = y + blockIdx.x * D;
  float most = -INFINITY;
  for (long long j = threadIdx.x; j < D; j += BLOCK) most = fmaxf(most, row[j]);
  most = over_block(most, true, part);
  float sum = 0;
  for (long long j = threadIdx.x; j < D; j += BLOCK) sum += expf(row[j] - most);
  sum = over_block(sum, false, part);
  for (long long j = threadIdx.x; j < D; j += BLOCK) out[j] = expf(row[j] - most) / sum;
}
