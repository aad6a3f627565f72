/* hone
language = "hip"
note     = "rows of the result as if a lane held neighbours"
[[launch]]
kernel = "k"
grid   = ["B"]
block  = ["64"]
args   = ["a", "b", "c"]
*/
// task: c = a @ b | a=f32[B,32,64] b=f32[B,64,32] | B=3
// expect: wrong or less accurate
#include "hone/gpu/prim.h"

__global__ void k(const float* a, const float* b, float* c) {
  const int lane = threadIdx.x, line = lane % 32, group = lane / 32;
  const long long block = blockIdx.x, at = block * 1024;
  float sum[16] = {};
  for (int depth = 0; depth < 64; depth += 2) {
    uint32_t p[1] = {}, q[1] = {};
    for (int i = 0; i < 1; ++i) p[i] = __float_as_uint(a[(block * 32 + line) * 64 + depth + group * 1 + i]);
    for (int i = 0; i < 1; ++i) q[i] = __float_as_uint(b[(block * 64 + depth + group * 1 + i) * 32 + line]);
    hone::prim::mfma_f32_32x32x2(sum, p, q);
  }
  for (int i = 0; i < 16; ++i) c[at + (group * 16 + i) * 32 + line] = sum[i];
}
