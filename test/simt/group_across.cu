/* hone
language = "cuda"
note     = "a product of a group of warps whose right factor lies as rows of its columns, the left one in registers"
[[launch]]
kernel = "k"
grid   = ["B"]
block  = ["128"]
args   = ["a", "b", "c"]
*/
// task: c = einsum('bmk,bkn->bmn', a, b) | a=bf16[B,64,32] b=bf16[B,32,128] | B=2
// expect: accepted
#include "hone/gpu/prim.h"

__global__ void k(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c) {
  // Two panels of 64 columns, in each a line of 128 bytes for a depth, pieces of 8 columns exchanged.
  __shared__ __align__(1024) __nv_bfloat16 right[2 * 32 * 64];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int i = threadIdx.x; i < 32 * 128; i += 128) {
    const int depth = i / 128, column = i % 128;
    right[column / 64 * 2048 + depth * 64 + (column % 64 / 8 ^ depth % 8) * 8 + column % 8] = b[blockIdx.x * 4096 + i];
  }
  hone::prim::async_fence();
  __syncthreads();
  uint32_t left[2][4];
  for (int step = 0; step < 2; ++step)
    for (int i = 0; i < 4; ++i)
      left[step][i] = *reinterpret_cast<const uint32_t*>(a + blockIdx.x * 2048 + (warp * 16 + lane / 4 + i % 2 * 8) * 32 + step * 16 + i / 2 * 8 + lane % 4 * 2);
  const hone::prim::GroupFactorAcross y(right, 4096);
  hone::prim::GroupProducts products;
  float sums[64];
  products.fence();
  for (int step = 0; step < 2; ++step) products.multiply_from<hone::prim::GroupType::kBf16>(sums, left[step], y.after(16 * step), step > 0);
  products.commit();
  products.wait<0>(sums);
  for (int i = 0; i < 64; ++i)
    c[blockIdx.x * 8192 + (warp * 16 + lane / 4 + i / 2 % 2 * 8) * 128 + i / 4 * 8 + lane % 4 * 2 + i % 2] = sums[i];
}
