// Blocks that can be run: their state, alone or in clusters, and what shared memory holds for whom.
#pragma once
#include "hone/simt/runtime/groups.h"

namespace hone::simt {

/// Hands out parts of the arena, cache lines each; null when it is used up.
struct Arena {
  char *at, *end;
  template <class T>
  T* take(int64_t count) {
    char* p = at;
    const int64_t bytes = (count * static_cast<int64_t>(sizeof(T)) + 63) / 64 * 64;
    if (bytes > end - at) return nullptr;
    at += bytes;
    return reinterpret_cast<T*>(p);
  }
};

inline bool take_shadow(Arena& arena, Shadow& s, int64_t bytes) {
  s.words = (bytes + 3) / 4;
  s.cells = arena.take<Cell>(s.words);
  s.valid = arena.take<uint8_t>(s.words + 8);
  s.released = arena.take<uint32_t>(s.words);
  return s.released != nullptr;
}

/// A block that can be run: its threads, warps, and what shared memory holds for it.
inline bool make_block(Arena& arena, Block& b, char* saved, int64_t shared) {
  b.saved = saved;
  b.threads = arena.take<Thread>(m.threads);
  b.warps = arena.take<Warp>(m.warps);
#if !defined(HONE_SIMT_ASAN)
  if (m.cluster > 1) return take_shadow(arena, b.shadow, m.static_bytes + m.dynamic_bytes);
#endif
  b.saved_valid = arena.take<uint8_t>(shared / 4 + 8);
  return b.saved_valid != nullptr;
}

/// Block `rank` of the cluster. Ranks go through the cluster as indices through the grid, x fastest.
inline void begin_block(Block& b, Cluster& c, int rank) {
  int64_t place[3], in_grid = c.number, in_cluster = rank;
  for (int d = 0; d < 3; ++d) {
    const int64_t clusters = m.grid[d] / m.cluster_dims[d];
    place[d] = in_grid % clusters * m.cluster_dims[d] + in_cluster % m.cluster_dims[d];
    in_grid /= clusters;
    in_cluster /= m.cluster_dims[d];
  }
  b.x = static_cast<uint32_t>(place[0]), b.y = static_cast<uint32_t>(place[1]), b.z = static_cast<uint32_t>(place[2]);
  b.index = place[0] + m.grid[0] * (place[1] + m.grid[1] * place[2]);
  b.number = static_cast<uint32_t>(c.number << m.rank_bits | rank);
  b.rank = rank;
  b.cluster = &c;
  b.live = m.threads;
  b.at_barrier = b.count = b.result = 0;
  b.time = b.began = m.clock++;
  b.cluster_time = b.cluster_before = b.covered = b.covers = 0;
  for (int k = 0; k < m.cluster; ++k) b.reached[k] = 0;
  b.at_cluster = 0;
  b.acquired = b.pending_acquired = m.began;
  b.fence = 0;
  b.phases_count = b.flights_count = 0;
  b.active = true;
  uint16_t x = 0, y = 0, z = 0;
  for (int i = 0; i < m.threads; ++i) {
    Thread& t = b.threads[i];
    t.state = State::kNew;
    t.spins = false;
    t.acquired = t.fence = t.near_fence = t.warp_time = t.phase_time = t.cluster_time = t.cluster_before = 0;
    t.cluster_came = false;
    for (int k = 0; k < m.cluster; ++k) t.reached[k] = 0;
    t.waits_pc = 0;
    t.line = 0;
    t.pc = 0;
    t.stack = nullptr;
    t.x = x, t.y = y, t.z = z;
    if (++x == m.dims[0]) {
      x = 0;
      if (++y == m.dims[1]) y = 0, ++z;
    }
  }
  for (int k = 0; k < m.warps; ++k) {
    const int lanes = m.threads - k * kWave < kWave ? m.threads - k * kWave : kWave;
    const uint64_t all = lanes == 64 ? ~uint64_t{0} : (uint64_t{1} << lanes) - 1;
    b.warps[k].ready = all;
    b.warps[k].gone = ~all;
    b.warps[k].slots = 0;
    b.warps[k].products = b.warps[k].products_mark = 0;
  }
}

/// Shared memory at `to` as a new block finds it: rubbish, and known to be.
inline void clear_shared(char* to, [[maybe_unused]] const Shadow& shadow, int64_t shared) {
#if defined(HONE_SIMT_ASAN)
  fill_words(to, ~uint64_t{0}, shared);
#else
  fill_words(to, 0xffffdeadffffdead, shared);
  fill_words(shadow.valid, 0, (shared / 4 + 7) / 8 * 8);
#endif
}

/// Valid bytes go along with shared memory that has one shadow for all blocks.
inline void put_away(Block& b, int64_t shared) {
  copy_words(b.saved, m.shared, shared);
#if !defined(HONE_SIMT_ASAN)
  if (m.cluster == 1) copy_words(b.saved_valid, m.shared_shadow.valid, (shared / 4 + 7) / 8 * 8);
#endif
}
inline void bring_back(const Block& b, int64_t shared) {
  copy_words(m.shared, b.saved, shared);
#if !defined(HONE_SIMT_ASAN)
  if (m.cluster == 1) copy_words(m.shared_shadow.valid, b.saved_valid, (shared / 4 + 7) / 8 * 8);
  else m.shared_shadow = b.shadow;
#endif
}

/// Begins the cluster's blocks. The one of a cluster of one is in shared memory then; others lie aside.
inline void begin_cluster(Cluster& c, int64_t number, int64_t shared) {
  Block* const blocks = c.blocks;
  c = {};
  c.blocks = blocks;
  c.number = number;
  c.unfinished = m.cluster;
  c.active = true;
  for (int rank = 0; rank < m.cluster; ++rank) {
    Block& b = blocks[rank];
    begin_block(b, c, rank);
    if (m.cluster == 1) {
      clear_shared(m.shared, m.shared_shadow, shared);
    } else {
      clear_shared(b.saved, b.shadow, shared);
#if !defined(HONE_SIMT_ASAN)
      fill_words(b.shadow.cells, 0, b.shadow.words * static_cast<int64_t>(sizeof(Cell)));
      fill_words(b.shadow.released, 0, (b.shadow.words + 1) / 2 * 8);
#endif
    }
  }
}

inline void free_stacks(Block& b) {
  for (int i = 0; i < m.threads; ++i)
    if (Thread& t = b.threads[i]; t.stack) {
      stack_is_free(t.stack, kStackBytes);
      m.free_stacks[m.free_count++] = t.stack;
      t.stack = nullptr;
    }
}
/// Ends them all, also those that could go on.
inline void end_cluster(Cluster& c) {
  c.unfinished = 0;
  for (int rank = 0; rank < m.cluster; ++rank) {
    free_stacks(c.blocks[rank]);
    c.blocks[rank].active = false;
  }
}
/// One that can run, drawn at random; there is one.
inline Block& next_block(Cluster& c) {
  if (m.cluster == 1) return c.blocks[0];
  for (;;)
    if (Block& b = c.blocks[random64() % static_cast<uint64_t>(m.cluster)]; can_run(b)) return b;
}

}  // namespace hone::simt
