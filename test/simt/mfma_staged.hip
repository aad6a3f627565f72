/* hone
language = "hip"
note     = "factors by local memory"
[[launch]]
kernel = "k"
grid   = ["B"]
block  = ["256"]
args   = ["a", "b", "c"]
*/
// task: c = a @ b | a=f32[B,32,32] b=f32[B,32,32] | B=3
// expect: accepted
#include "hone/gpu/prim.h"

// Four waves, a quarter of the result each; factors by local memory.
__global__ void k(const float* a, const float* b, float* c) {
  __shared__ float left[32 * 33], right[32 * 33];
  const long long at = blockIdx.x * 1024LL;
  for (int i = threadIdx.x; i < 1024; i += 256) left[i / 32 * 33 + i % 32] = a[at + i], right[i / 32 * 33 + i % 32] = b[at + i];
  __syncthreads();
  const int wave = threadIdx.x / 64, row = wave / 2 * 16, column = wave % 2 * 16;
  const int line = hone::prim::mfma_line<16>(), first = hone::prim::mfma_depth<16, 1>();
  float sum[4] = {};
  for (int depth = 0; depth < 32; depth += 4)
    hone::prim::mfma_f32_16x16x4(sum, {__float_as_uint(left[(row + line) * 33 + depth + first])},
                                 {__float_as_uint(right[(depth + first) * 33 + column + line])});
  for (int i = 0; i < 4; ++i) c[at + (row + hone::prim::mfma_row<16>(i)) * 32 + column + line] = sum[i];
}
