/* hone
language = "cuda"
note     = "a stage is released before its product is waited for"
[[launch]]
kernel = "k"
grid   = ["B"]
block  = ["160"]
args   = ["a", "b", "c"]
*/
// task: c = einsum('bsmk,bsnk->bmn', a, b) | a=bf16[B,8,64,8] b=bf16[B,8,64,8] | B=2
// expect: launch fails
#include "hone/gpu/prim.h"

__global__ void k(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c) {
  // Lines of 8 elements are core matrices as they lie in memory: a step of 16 is one piece.
  __shared__ __align__(128) __nv_bfloat16 left[2][64 * 16], right[2][64 * 16];
  __shared__ hone::prim::PhaseBarrier full[2], empty[2];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (threadIdx.x == 0)
    for (int s = 0; s < 2; ++s) full[s].init(1), empty[s].init(4);
  __syncthreads();
  if (warp == 4) {
    for (int step = 0; step < 4 && lane == 0; ++step) {
      const int s = step % 2;
      empty[s].wait(step / 2 % 2 ^ 1);
      full[s].arrive_expecting(4096);
      full[s].bulk_copy(left[s], a + (blockIdx.x * 4 + step) * 1024, 2048);
      full[s].bulk_copy(right[s], b + (blockIdx.x * 4 + step) * 1024, 2048);
    }
    return;
  }
  hone::prim::GroupProducts products;
  float sums[32];
  for (int step = 0; step < 4; ++step) {
    const int s = step % 2;
    full[s].wait(step / 2 % 2);
    products.fence();
    products.multiply(sums, hone::prim::GroupFactor(left[s], 1024, 128), hone::prim::GroupFactor(right[s], 1024, 128), step > 0);
    products.commit();
    if (lane == 0) empty[s].arrive();
    products.wait<0>(sums);
  }
  for (int i = 0; i < 32; ++i)
    c[blockIdx.x * 4096 + (warp * 16 + lane / 4 + i / 2 % 2 * 8) * 64 + i / 4 * 8 + lane % 4 * 2 + i % 2] = sums[i];
}
