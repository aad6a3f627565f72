/* hone
language = "cuda"
requires = ["R % 16 == 0", "J % 2 == 0"]
note     = "only the block's own half is expected"
workspaces = { maps = "i8[J, 128]" }
[[launch]]
kernel = "k"
grid   = ["J"]
block  = ["96"]
cluster = ["2"]
args   = ["w", "x", "y", "i64:R", "maps"]
*/
// task: y = w.unsqueeze(1) * sum(f32(x), axis=0) | w=f32[J] x=bf16[R,64] | J=4,R=80
// expect: launch fails
#include "hone/gpu/prim.h"
// Two blocks need the same rows: each asks for half of each tile of 16 and has it sent to both, into two slots by turns. 64 threads add up columns.
__global__ void k(const float* w, const __nv_bfloat16* x, float* y, long long R, int8_t* maps) {
  namespace prim = hone::prim;
  __shared__ __align__(1024) __nv_bfloat16 tile[2][16 * 64];
  __shared__ prim::PhaseBarrier full[2], empty[2];
  __shared__ prim::TensorMap::Scratch scratch;
  const int rank = prim::cluster_rank(), thread = threadIdx.x - 64, column = threadIdx.x;
  if (threadIdx.x == 0)
    for (int slot = 0; slot < 2; ++slot) full[slot].init(1), empty[slot].init(2 * 64);
  prim::cluster_sync();
  if (thread >= 0) {
    prim::TensorMap& map = reinterpret_cast<prim::TensorMap*>(maps)[blockIdx.x];
    map.make(scratch, {x, {64, R, 1}, {128, 16}}, 8);
    for (int round = 0; thread == 0 && round < R / 16; ++round) {
      const int slot = round % 2;
      if (round > 1) empty[slot].wait((round / 2 - 1) % 2);
      full[slot].arrive_expecting(8 * 128);
      full[slot].tensor_copy_to(3, tile[slot] + rank * 8 * 64, map, 0, round * 16 + rank * 8, 0);
    }
  } else {
    double sum = 0;
    for (int round = 0; round < R / 16; ++round) {
      const int slot = round % 2;
      full[slot].wait(round / 2 % 2);
      for (int r = 0; r < 16; ++r) sum += __bfloat162float(tile[slot][r * 64 + (column / 8 ^ r % 8) * 8 + column % 8]);
      for (int to = 0; to < 2; ++to) empty[slot].arrive_at(to);
    }
    y[blockIdx.x * 64 + column] = static_cast<float>(w[blockIdx.x] * sum);
  }
  prim::cluster_sync();
}
