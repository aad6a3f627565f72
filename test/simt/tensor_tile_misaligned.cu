/* hone
language = "cuda"
requires = ["C % 8 == 0"]
note     = "a tile by the copy engine that does not begin on 1024 bytes"
workspaces = { maps = "i8[ceil_div(R, 16) * ceil_div(C, 64), 128]" }
[[launch]]
kernel = "k"
grid   = ["ceil_div(R, 16) * ceil_div(C, 64)"]
block  = ["64"]
args   = ["x", "y", "i64:R", "i64:C", "maps"]
*/
// task: y = maximum(x, 0.0) | x=bf16[R,C] | R=37,C=136
// expect: launch fails: a multiple of 1024
#include "hone/gpu/prim.h"
// A tile of 16 x 64 for each block, as the copy engine brings it: swizzled, with zeros beyond the edges.
__global__ void k(const __nv_bfloat16* x, __nv_bfloat16* y, long long R, long long C, int8_t* maps) {
  namespace prim = hone::prim;
  __shared__ __align__(1024) __nv_bfloat16 tile[32 * 64];
  __shared__ prim::PhaseBarrier full;
  __shared__ prim::TensorMap::Scratch scratch;
  const long long across = (C + 63) / 64, row0 = blockIdx.x / across * 16, column0 = blockIdx.x % across * 64;
  prim::TensorMap& map = reinterpret_cast<prim::TensorMap*>(maps)[blockIdx.x];
  if (threadIdx.x == 0) full.init(1);
  __syncthreads();
  if (threadIdx.x < 32) {
    map.make(scratch, {x, {C, R, 1}, {2 * C, 16}}, 16);
    if (threadIdx.x == 0) {
      full.arrive_expecting(16 * prim::TensorMap::kRowBytes);
      full.tensor_copy(tile + 64, map, static_cast<int>(column0), static_cast<int>(row0), 0);
    }
  }
  full.wait(0);
  const long long column = column0 + threadIdx.x;
  for (int r = 0; r < 16; ++r)
    if (row0 + r < R && column < C) {
      const __nv_bfloat16 v = tile[r * 64 + (threadIdx.x / 8 ^ r % 8) * 8 + threadIdx.x % 8];
      y[(row0 + r) * C + column] = __bfloat162float(v) > 0 ? v : __float2bfloat16(__bfloat162float(v) == __bfloat162float(v) ? 0.0f : __bfloat162float(v));
    }
}
