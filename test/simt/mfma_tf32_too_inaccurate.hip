/* hone
language = "hip"
note     = "floats cut to TF32"
[[launch]]
kernel = "k"
grid   = ["B"]
block  = ["64"]
args   = ["a", "b", "c"]
*/
// task: c = a @ b | a=f32[B,16,64] b=f32[B,64,16] | B=3
// expect: less accurate
#include "hone/gpu/prim.h"

__global__ void k(const float* a, const float* b, float* c) {
  const int lane = threadIdx.x, line = lane % 16, group = lane / 16;
  const long long block = blockIdx.x, at = block * 256;
  float sum[4] = {};
  for (int depth = 0; depth < 64; depth += 8) {
    uint32_t p[2] = {}, q[2] = {};
    for (int i = 0; i < 2; ++i) p[i] = __float_as_uint(a[(block * 16 + line) * 64 + depth + group * 2 + i]);
    for (int i = 0; i < 2; ++i) q[i] = __float_as_uint(b[(block * 64 + depth + group * 2 + i) * 16 + line]);
    hone::prim::mfma_tf32_16x16x8(sum, p, q);
  }
  for (int i = 0; i < 4; ++i) c[at + hone::prim::mfma_row<16>(i) * 16 + hone::prim::mfma_line<16>()] = sum[i];
}
