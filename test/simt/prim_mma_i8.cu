/* hone
language = "cuda"
note     = "a product of bytes on matrix units"
[[launch]]
kernel = "k"
grid   = ["B"]
block  = ["32"]
args   = ["a", "b", "c"]
*/
// task: c = i32(a) @ i32(b) | a=i8[B,16,64] b=i8[B,64,8] | B=3
// expect: accepted
#include "hone/gpu/prim.h"

__global__ void k(const signed char* a, const signed char* b, int* c) {
  const int r = threadIdx.x / 4, t = threadIdx.x % 4;
  int sum[4] = {};
  for (int depth = 0; depth < 64; depth += 32) {
    unsigned p[4] = {}, q[2] = {};
    for (int w = 0; w < 4; ++w)
      for (int i = 0; i < 4; ++i)
        p[w] |= static_cast<unsigned>(static_cast<unsigned char>(a[(blockIdx.x * 16LL + r + w % 2 * 8) * 64 + depth + w / 2 * 16 + 4 * t + i])) << (8 * i);
    for (int w = 0; w < 2; ++w)
      for (int i = 0; i < 4; ++i)
        q[w] |= static_cast<unsigned>(static_cast<unsigned char>(b[(blockIdx.x * 64LL + depth + w * 16 + 4 * t + i) * 8 + r])) << (8 * i);
    hone::prim::mma_i8(sum, p, q[0], q[1]);
  }
  for (int x = 0; x < 4; ++x) c[(blockIdx.x * 16LL + r + x / 2 * 8) * 8 + t * 2 + x % 2] = sum[x];
}
