/* hone
language = "cuda"
note     = "a product of a group of warps on f16, with 48 columns"
[[launch]]
kernel = "k"
grid   = ["B"]
block  = ["128"]
args   = ["a", "b", "c"]
*/
// task: c = a @ b | a=f16[B,64,32] b=f16[B,32,48] | B=2
// expect: accepted
#include "hone/gpu/prim.h"

__global__ void k(const __half* a, const __half* b, __half* c) {
  // Core matrices of 8 x 8: [depth / 8][line][depth % 8].
  __shared__ __align__(128) __half left[64 * 32], right[48 * 32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int i = threadIdx.x; i < 64 * 32; i += 128) left[i % 32 / 8 * 512 + i / 32 * 8 + i % 8] = a[blockIdx.x * 2048 + i];
  for (int i = threadIdx.x; i < 48 * 32; i += 128) right[i / 48 / 8 * 384 + i % 48 * 8 + i / 48 % 8] = b[blockIdx.x * 1536 + i];
  hone::prim::async_fence();
  __syncthreads();
  const hone::prim::GroupFactor x(left, 1024, 128), y(right, 768, 128);
  hone::prim::GroupProducts products;
  float sums[24];
  products.fence();
  for (int step = 0; step < 2; ++step) products.multiply<hone::prim::GroupType::kF16>(sums, x.after(2048 * step), y.after(1536 * step), step > 0);
  products.commit();
  products.wait<0>(sums);
  for (int i = 0; i < 24; ++i)
    c[blockIdx.x * 3072 + (warp * 16 + lane / 4 + i / 2 % 2 * 8) * 48 + i / 4 * 8 + lane % 4 * 2 + i % 2] = sums[i];
}
