/* hone
language = "hip"
note     = "depths of one factor in another order than of the other"
[[launch]]
kernel = "k"
grid   = ["B"]
block  = ["64"]
args   = ["a", "b", "c"]
*/
// task: c = a @ b | a=f16[B,16,64] b=f16[B,64,16] | B=3
// expect: wrong or less accurate
#include "hone/gpu/prim.h"

__global__ void k(const __half* a, const __half* b, __half* c) {
  const int lane = threadIdx.x, line = lane % 16, group = lane / 16;
  const long long block = blockIdx.x, at = block * 256;
  float sum[4] = {};
  for (int depth = 0; depth < 64; depth += 16) {
    uint32_t p[2] = {}, q[2] = {};
    for (int i = 0; i < 4; ++i) p[i / 2] |= static_cast<uint32_t>(reinterpret_cast<const uint16_t*>(a)[(block * 16 + line) * 64 + depth + group * 4 + i]) << 16 * (i % 2);
    for (int i = 0; i < 4; ++i) q[i / 2] |= static_cast<uint32_t>(reinterpret_cast<const uint16_t*>(b)[(block * 64 + depth + i * 4 + group) * 16 + line]) << 16 * (i % 2);
    hone::prim::mfma_f16_16x16x16(sum, p, q);
  }
  for (int i = 0; i < 4; ++i) c[at + hone::prim::mfma_row<16>(i) * 16 + hone::prim::mfma_line<16>()] = sum[i];
}
