// Factors of products as the copy engine (TMA) brings them to Hopper's matrix units (wgmma): tiles of them in shared memory, for a block or, of what
// the blocks of a cluster have in common, in parts that each of them sends to all; sm_90a.
#pragma once
#include "hone/gpu/matmul_wgmma.h"
#include "hone/gpu/prim_cluster.h"

namespace hone::gpu {

/// A factor for the copy engine: `lines` x `depth` numbers in each of `batches`. Neighbours in depth (else along the lines)
/// are neighbours in memory; along the other axis they are `step` elements apart, batches `batch_step`: multiples of 16 bytes, as is
/// `base`. Numbers of one byte are neighbours in depth, as the units turn none of them.
template <class T_, bool AlongDepth_>
struct TensorFactor {
  using T = T_;
  static constexpr bool kAlongDepth = AlongDepth_;
  const T* base;
  int64_t lines, depth, batches, step, batch_step;
  HONE_DEVICE prim::Tensor tensor() const {
    constexpr int kSize = sizeof(T);
    return {base, {kAlongDepth ? depth : lines, kAlongDepth ? lines : depth, batches}, {kSize * step, kSize * batch_step}, kSize};
  }
};
/// base_of(batch): where a batch begins; line_of(line), depth_of(depth): elements from there. All of them linear.
template <class T, bool AlongDepth, class BaseOf, class LineOf, class DepthOf>
HONE_DEVICE TensorFactor<T, AlongDepth> tensor_factor(int64_t lines, int64_t depth, int64_t batches, BaseOf base_of, LineOf line_of, DepthOf depth_of) {
  constexpr int kNobody = 16;   // where there is one batch
  return {base_of(0), lines, depth, batches, AlongDepth ? line_of(1) - line_of(0) : depth_of(1) - depth_of(0),
          batches == 1 ? kNobody : base_of(1) - base_of(0)};
}

/// Of a factor a tile of Lines x 128 bytes of the depth in shared memory, on a boundary of 1024 bytes.
template <class F, int Lines>
struct TensorTile {
  using T = typename F::T;
  static constexpr int kDepth = 128 / sizeof(T), kStep = 32 / sizeof(T), kBytes = Lines * 128, kPanels = F::kAlongDepth ? 1 : Lines / 64, kPanel = kBytes / kPanels;
  static constexpr int kRows = F::kAlongDepth ? Lines : kDepth;   ///< of what is copied at a time
  static_assert(kRows <= 256 && Lines % 64 == 0 && (F::kAlongDepth || sizeof(T) == 2));
  char* data;

  /// Part `part` of Parts of the tile, for these blocks of the cluster (a bit each); a whole tile is this block's alone. `map`: for tiles of kRows / Parts rows.
  template <int Parts = 1>
  HONE_DEVICE void copy(prim::PhaseBarrier& full, const prim::TensorMap& map, int64_t line, int64_t depth, int64_t batch, int part = 0, uint32_t blocks = 0) const {
    constexpr int kShare = kRows / Parts;
    static_assert(kShare * Parts == kRows && kShare % 8 == 0, "parts begin where the swizzled pattern does");
    const int first = part * kShare;
    HONE_UNROLL
    for (int panel = 0; panel < kPanels; ++panel) {
      const int at = static_cast<int>(line) + panel * 64 + (F::kAlongDepth ? first : 0), deep = static_cast<int>(depth) + (F::kAlongDepth ? 0 : first);
      const int x = F::kAlongDepth ? deep : at, y = F::kAlongDepth ? at : deep, z = static_cast<int>(batch);
      char* const to = data + panel * kPanel + first * 128;
      if constexpr (Parts == 1) full.tensor_copy(to, map, x, y, z);
      else full.tensor_copy_to(blocks, to, map, x, y, z);
    }
  }
  /// What the units multiply of lines from `line` on (a multiple of 64), at `depth` (a multiple of kStep).
  HONE_DEVICE auto factor(int line, int depth) const {
    if constexpr (F::kAlongDepth) return prim::GroupFactor::swizzled(data + line * 128).after(static_cast<int>(sizeof(T)) * depth);
    else return prim::GroupFactorAcross(data + line / 64 * kPanel, kPanel).after(depth);
  }
};

}  // namespace hone::gpu
