// Which tiles of queries a block has that lives as long as the launch, in which order, and how its groups of warps and rings of
// tiles in shared memory keep time (attention_tensor.h).
//
// Where keys are left out, tiles of queries differ in length: the longest come first, of as many heads at a time as the second-level
// cache holds keys and values of, and every second round of blocks goes the other way, so that who had a long one gets a short one.
#pragma once
#include "hone/gpu/prim_phases.h"

namespace hone::gpu {

/// A barrier of the four warps of a group, as often as wanted.
class GroupMeeting {
 public:
  HONE_DEVICE explicit GroupMeeting(prim::PhaseBarrier& barrier) : barrier_(barrier) {}
  HONE_DEVICE void meet() {
    __syncwarp();
    if (lane() == 0) barrier_.arrive();
    barrier_.wait(phase_);
    phase_ ^= 1;
  }

 private:
  prim::PhaseBarrier& barrier_;
  int phase_ = 0;
};

/// Where in a ring of Stages the item number `count` lies, and its phase there.
template <int Stages>
struct RingPlace {
  int stage, phase;
  HONE_DEVICE explicit RingPlace(unsigned count) : stage(static_cast<int>(count % Stages)), phase(static_cast<int>(count / Stages % 2)) {}
};

/// Tile `count` of queries: batches are walked first, Together of them at a time, tiles from the last one down.
struct QueryTile {
  int64_t batch, tile;
  HONE_DEVICE QueryTile(int64_t count, int64_t tiles, int64_t batches, int64_t together) {
    const int64_t first = count / (together * tiles) * together, here = together < batches - first ? together : batches - first;
    const int64_t within = count - first * tiles;
    batch = first + within % here;
    tile = tiles - 1 - within / here;
  }
};

/// each(QueryTile) for the tiles of Rows queries that are this block's.
template <int Rows, class Graph, class Each>
HONE_DEVICE void for_query_tiles(const Graph& graph, Each each) {
  constexpr int64_t kCache = 24 << 20;
  const int64_t tiles = (graph.rows() + Rows - 1) / Rows, batches = graph.batches(), all = tiles * batches;
  const int64_t bytes = static_cast<int64_t>(sizeof(typename Graph::T)) * graph.keys() * (graph.depth() + graph.columns());
  const int64_t fitting = bytes < kCache ? kCache / bytes : 1, together = fitting < batches ? fitting : batches;
  for (int64_t round = 0; round * gridDim.x < all; ++round) {
    const int64_t count = round * gridDim.x + (round % 2 == 0 ? blockIdx.x : gridDim.x - 1 - blockIdx.x);
    if (count < all) each(QueryTile(count, tiles, batches, together));
  }
}

}  // namespace hone::gpu
