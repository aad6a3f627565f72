/* hone
language = "hip"
note     = "a product of floats on matrix cores, 16 x 16 x 4"
[[launch]]
kernel = "k"
grid   = ["B"]
block  = ["64"]
args   = ["a", "b", "c"]
*/
// task: c = a @ b | a=f32[B,16,64] b=f32[B,64,16] | B=3
// expect: accepted
#include "hone/gpu/prim.h"

__global__ void k(const float* a, const float* b, float* c) {
  const int lane = threadIdx.x, line = lane % 16, group = lane / 16;
  const long long block = blockIdx.x, at = block * 256;
  float sum[4] = {};
  for (int depth = 0; depth < 64; depth += 4) {
    uint32_t p[1] = {}, q[1] = {};
    for (int i = 0; i < 1; ++i) p[i] = __float_as_uint(a[(block * 16 + line) * 64 + depth + group * 1 + i]);
    for (int i = 0; i < 1; ++i) q[i] = __float_as_uint(b[(block * 64 + depth + group * 1 + i) * 16 + line]);
    hone::prim::mfma_f32_16x16x4(sum, p, q);
  }
  for (int i = 0; i < 4; ++i) c[at + hone::prim::mfma_row<16>(i) * 16 + hone::prim::mfma_line<16>()] = sum[i];
}
