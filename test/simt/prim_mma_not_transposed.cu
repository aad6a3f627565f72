/* hone
language = "cuda"
note     = "the right factor's fragment without its transposition"
[[launch]]
kernel = "k"
grid   = ["B"]
block  = ["32"]
args   = ["a", "b", "c"]
*/
// task: c = a @ b | a=bf16[B,16,16] b=bf16[B,16,8] | B=3
// expect: wrong
#include "hone/gpu/prim.h"

__global__ void k(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c) {
  __shared__ __align__(16) __nv_bfloat16 left[16 * 16], right[16 * 8];
  for (int i = threadIdx.x; i < 256; i += 32) left[i] = a[blockIdx.x * 256 + i];
  for (int i = threadIdx.x; i < 128; i += 32) right[i] = b[blockIdx.x * 128 + i];
  __syncthreads();
  const int lane = threadIdx.x, matrix = lane / 8, row = lane % 8;
  unsigned x[4], y[4];
  hone::prim::ldmatrix(x, left + (matrix % 2 * 8 + row) * 16 + matrix / 2 * 8);
  hone::prim::ldmatrix(y, right + (matrix % 2 * 8 + row) * 8);
  float sum[4] = {};
  hone::prim::mma_bf16(sum, x, y[0], y[1]);
  for (int i = 0; i < 4; ++i) c[blockIdx.x * 128 + (lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = sum[i];
}
