/* hone
language = "cuda"
note     = "a product of a group of warps in TF32 whose left factor is in registers, with 64 columns"
[[launch]]
kernel = "k"
grid   = ["B"]
block  = ["128"]
args   = ["a", "b", "c"]
*/
// task: c = floor(minimum(maximum(a, -1000.0), 1000.0) + 0.5) @ floor(minimum(maximum(b, -1000.0), 1000.0) + 0.5) | a=f32[B,64,32] b=f32[B,32,64] | B=2
// expect: accepted
#include "hone/gpu/prim.h"

__device__ float small(float v) { return floorf(fminf(fmaxf(v, -1000.0f), 1000.0f) + 0.5f); }

__global__ void k(const float* a, const float* b, float* c) {
  // Core matrices of 8 x 4: [depth / 4][line][depth % 4]. Small whole numbers are TF32.
  __shared__ __align__(128) float right[64 * 32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int i = threadIdx.x; i < 64 * 32; i += 128) right[i / 64 / 4 * 256 + i % 64 * 4 + i / 64 % 4] = small(b[blockIdx.x * 2048 + i]);
  hone::prim::async_fence();
  __syncthreads();
  uint32_t left[4][4];
  for (int step = 0; step < 4; ++step)
    for (int i = 0; i < 4; ++i)
      left[step][i] = __float_as_uint(small(a[blockIdx.x * 2048 + (warp * 16 + lane / 4 + i % 2 * 8) * 32 + step * 8 + lane % 4 + i / 2 * 4]));
  const hone::prim::GroupFactor y(right, 1024, 128);
  hone::prim::GroupProducts products;
  float sums[32];
  products.fence();
  for (int step = 0; step < 4; ++step) products.multiply_from(sums, left[step], y.after(2048 * step), step > 0);
  products.commit();
  products.wait<0>(sums);
  for (int i = 0; i < 32; ++i)
    c[blockIdx.x * 4096 + (warp * 16 + lane / 4 + i / 2 % 2 * 8) * 64 + i / 4 * 8 + lane % 4 * 2 + i % 2] = sums[i];
}
