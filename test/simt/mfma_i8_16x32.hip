/* hone
language = "hip"
note     = "a product of bytes on matrix cores, 16 x 16 x 32"
[[launch]]
kernel = "k"
grid   = ["B"]
block  = ["64"]
args   = ["a", "b", "c"]
*/
// task: c = i32(a) @ i32(b) | a=i8[B,16,64] b=i8[B,64,16] | B=3
// expect: accepted
#include "hone/gpu/prim.h"

__global__ void k(const signed char* a, const signed char* b, int* c) {
  const int lane = threadIdx.x, line = lane % 16, group = lane / 16;
  const long long block = blockIdx.x, at = block * 256;
  int sum[4] = {};
  for (int depth = 0; depth < 64; depth += 32) {
    uint32_t p[2] = {}, q[2] = {};
    for (int i = 0; i < 8; ++i) p[i / 4] |= static_cast<uint32_t>(static_cast<uint8_t>(a[(block * 16 + line) * 64 + depth + group * 8 + i])) << (8 * (i % 4));
    for (int i = 0; i < 8; ++i) q[i / 4] |= static_cast<uint32_t>(static_cast<uint8_t>(b[(block * 64 + depth + group * 8 + i) * 16 + line])) << (8 * (i % 4));
    hone::prim::mfma_i8_16x16x32(sum, p, q);
  }
  for (int i = 0; i < 4; ++i) c[at + hone::prim::mfma_row<16>(i) * 16 + hone::prim::mfma_line<16>()] = sum[i];
}
