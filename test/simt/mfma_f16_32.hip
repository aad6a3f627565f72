/* hone
language = "hip"
note     = "a product of f16 on matrix cores, 32 x 32 x 8"
[[launch]]
kernel = "k"
grid   = ["B"]
block  = ["64"]
args   = ["a", "b", "c"]
*/
// task: c = a @ b | a=f16[B,32,64] b=f16[B,64,32] | B=3
// expect: accepted
#include "hone/gpu/prim.h"

__global__ void k(const __half* a, const __half* b, __half* c) {
  const int lane = threadIdx.x, line = lane % 32, group = lane / 32;
  const long long block = blockIdx.x, at = block * 1024;
  float sum[16] = {};
  for (int depth = 0; depth < 64; depth += 8) {
    uint32_t p[2] = {}, q[2] = {};
    for (int i = 0; i < 4; ++i) p[i / 2] |= static_cast<uint32_t>(reinterpret_cast<const uint16_t*>(a)[(block * 32 + line) * 64 + depth + group * 4 + i]) << 16 * (i % 2);
    for (int i = 0; i < 4; ++i) q[i / 2] |= static_cast<uint32_t>(reinterpret_cast<const uint16_t*>(b)[(block * 64 + depth + group * 4 + i) * 32 + line]) << 16 * (i % 2);
    hone::prim::mfma_f16_32x32x8(sum, p, q);
  }
  for (int i = 0; i < 16; ++i) c[at + hone::prim::mfma_row<32>(i) * 32 + hone::prim::mfma_line<32>()] = sum[i];
}
