/* hone
language = "cuda"
note     = "rows 8 further taken for the next columns"
[[launch]]
kernel = "k"
grid   = ["B"]
block  = ["128"]
args   = ["a", "b", "c"]
*/
// task: c = a @ b | a=bf16[B,64,32] b=bf16[B,32,64] | B=2
// expect: wrong
#include "hone/gpu/prim.h"

__global__ void k(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c) {
  // Core matrices of 8 x 8: [depth / 8][line][depth % 8].
  __shared__ __align__(128) __nv_bfloat16 left[64 * 32], right[64 * 32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int i = threadIdx.x; i < 64 * 32; i += 128) {
    left[i % 32 / 8 * 512 + i / 32 * 8 + i % 8] = a[blockIdx.x * 2048 + i];
    right[i / 64 / 8 * 512 + i % 64 * 8 + i / 64 % 8] = b[blockIdx.x * 2048 + i];
  }
  hone::prim::async_fence();
  __syncthreads();
  const hone::prim::GroupFactor x(left, 1024, 128), y(right, 1024, 128);
  hone::prim::GroupProducts products;
  float sums[32];
  products.fence();
  for (int step = 0; step < 2; ++step) products.multiply(sums, x.after(2048 * step), y.after(2048 * step), step > 0);
  products.commit();
  products.wait<0>(sums);
  for (int i = 0; i < 32; ++i)
    c[blockIdx.x * 4096 + (warp * 16 + lane / 4 + i / 4 % 2 * 8) * 64 + (i / 8 * 2 + i / 2 % 2) * 8 + lane % 4 * 2 + i % 2] = sums[i];
}
