/* hone
language = "cuda"
note     = "a product of a group of warps in TF32, with 24 columns"
[[launch]]
kernel = "k"
grid   = ["B"]
block  = ["128"]
args   = ["a", "b", "c"]
*/
// task: c = floor(minimum(maximum(a, -1000.0), 1000.0) + 0.5) @ floor(minimum(maximum(b, -1000.0), 1000.0) + 0.5) | a=f32[B,64,32] b=f32[B,32,24] | B=2
// expect: accepted
#include "hone/gpu/prim.h"

__device__ float small(float v) { return floorf(fminf(fmaxf(v, -1000.0f), 1000.0f) + 0.5f); }

__global__ void k(const float* a, const float* b, float* c) {
  // Core matrices of 8 x 4: [depth / 4][line][depth % 4]. Small whole numbers are TF32.
  __shared__ __align__(128) float left[64 * 32], right[24 * 32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int i = threadIdx.x; i < 64 * 32; i += 128) left[i % 32 / 4 * 256 + i / 32 * 4 + i % 4] = small(a[blockIdx.x * 2048 + i]);
  for (int i = threadIdx.x; i < 24 * 32; i += 128) right[i / 24 / 4 * 96 + i % 24 * 4 + i / 24 % 4] = small(b[blockIdx.x * 768 + i]);
  hone::prim::async_fence();
  __syncthreads();
  const hone::prim::GroupFactor x(left, 1024, 128), y(right, 384, 128);
  hone::prim::GroupProducts products;
  float sums[12];
  products.fence();
  for (int step = 0; step < 4; ++step) products.multiply<hone::prim::GroupType::kTf32>(sums, x.after(2048 * step), y.after(768 * step), step > 0);
  products.commit();
  products.wait<0>(sums);
  for (int i = 0; i < 12; ++i)
    c[blockIdx.x * 1536 + (warp * 16 + lane / 4 + i / 2 % 2 * 8) * 24 + i / 4 * 8 + lane % 4 * 2 + i % 2] = sums[i];
}
