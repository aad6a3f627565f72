// Blocks that run together (sm_90): their barrier, and pointers into each other's shared memory.
//
// The barrier has phases: a thread comes, may do something else, and waits. A phase is complete when all threads of the
// cluster have come; what each did before it came is then ordered before what each does after it has waited. What a
// thread does in between is marked in the shadow: the phase after that orders it.
//
// One block's shared memory is in its section, the others' lie aside; a pointer to another block's leads there. It is the
// block's as long as the other one runs, which is as long as threads of the other one use it.
#pragma once
#include "hone/simt/runtime/collectives.h"

namespace hone::simt {

inline void to_scheduler(bool over);

inline bool came(const Cluster& c, const Thread& t) { return t.cluster_came && t.cluster_phase == c.phase; }

/// A finding about a thread of a block that need not be the running one.
inline void found_of(Block& b, Finding finding, const Text& text, const Thread& t, int32_t line, uint64_t pc = 0, uint64_t other_pc = 0) {
  Block* const running = m.block;
  m.block = &b;
  found(finding, text, &t, pc, line, other_pc);
  m.block = running;
}

/// The phase is complete; somebody who has ended did not come.
inline void report_gone(Cluster& c) {
  for (int k = 0; k < m.cluster; ++k)
    for (int i = 0; i < m.threads; ++i) {
      const Thread& t = c.blocks[k].threads[i];
      if (t.state != State::kGone || came(c, t)) continue;
      Text text;
      text << "this thread ends without coming to the cluster barrier of line " << static_cast<int64_t>(c.line)
           << ", where others of its cluster wait: all threads of all its blocks have to come";
      found_of(c.blocks[k], Finding::kDivergent, text, t, c.line);
      return;
    }
}

inline void complete_if_all_came(Cluster& c) {
  if (c.came == 0 || c.came + c.gone < m.cluster * m.threads) return;
  if (c.gone > 0 && !found_in(c)) report_gone(c);
  c.gone += c.left;
  c.came = c.left = 0;
  ++c.phase;
  c.before = c.time;
  c.time = m.clock++;
  c.acquired = c.pending_acquired;
  c.fence = c.pending_fence;
  ++m.progress;
  for (int k = 0; k < m.cluster; ++k) {
    Block& b = c.blocks[k];
    b.covers = b.covered;
    for (int i = 0; b.at_cluster > 0 && i < m.threads; ++i) {
      Thread& t = b.threads[i];
      if (t.state != State::kAtCluster) continue;
      t.state = State::kReady;
      b.warps[i / kWave].ready |= uint64_t{1} << (i % kWave);
      --b.at_cluster;
    }
  }
}

/// A thread comes to its cluster's barrier.
inline void come_to_cluster(int line) {
  Block& b = *m.block;
  Cluster& c = *b.cluster;
  Thread& t = *m.thread;
  ++m.count;
  if (t.cluster_came) {
    Text text;
    text << "comes to the cluster's barrier again without having waited for it";
    found(Finding::kPhase, text, &t, 0, line);
    lose_thread();
  }
  if (c.came == 0) c.line = line;
  ++c.came;
  t.cluster_came = true;
  t.cluster_phase = c.phase;
  const auto raise = [](uint32_t& to, uint32_t value) { to = value > to ? value : to; };
  raise(b.covered, b.time), raise(b.covered, t.warp_time), raise(b.covered, t.phase_time);
  raise(c.pending_acquired, b.acquired), raise(c.pending_acquired, t.acquired);
  raise(c.pending_fence, b.fence), raise(c.pending_fence, t.fence);
  complete_if_all_came(c);
}

/// Until the phase to which this thread came is complete.
inline void wait_for_cluster(int line) {
  Block& b = *m.block;
  Cluster& c = *b.cluster;
  Thread& t = *m.thread;
  if (!t.cluster_came) {
    Text text;
    text << "waits for the cluster's barrier without having come to it";
    found(Finding::kPhase, text, &t, 0, line);
    lose_thread();
  }
  if (t.cluster_phase == c.phase) {
    t.state = State::kAtCluster;
    t.line = line;
    ++b.at_cluster;
    to_scheduler(false);
  }
  t.cluster_came = false;
  t.cluster_time = c.time, t.cluster_before = c.before;
  if (c.acquired > t.acquired) t.acquired = c.acquired;
  if (t.acquired > b.pending_acquired) b.pending_acquired = t.acquired;
  if (c.fence > t.fence) t.fence = c.fence;
}

/// The running thread, its block's last one, ends: whether others may still be at its shared memory.
inline void check_end_of_shared([[maybe_unused]] Block& b) {
#if !defined(HONE_SIMT_ASAN)
  for (int i = 0; i < m.threads; ++i) {
    const Thread& t = b.threads[i];
    if (t.acquired > b.acquired) b.acquired = t.acquired;
    if (t.cluster_time > b.cluster_time) b.cluster_time = t.cluster_time, b.cluster_before = t.cluster_before;
  }
  const auto others = [](uint32_t who, uint32_t time) {
    return time > 0 && (level_of(who) == 3 || distance(who, m.me) == 3) && !ordered(who, time, level_of(who), true);
  };
  for (int64_t word = 0; word < (m.static_bytes + m.dynamic_bytes + 3) / 4; ++word) {
    const Cell& cell = b.shadow.cells[word];
    const bool writes = others(cell.w_who, cell.w_time);
    if (!writes && !others(cell.r_who, cell.r_time)) continue;
    Text text;
    text << "the block ends while another one of its cluster may yet " << (writes ? "write" : "read")
         << " its shared memory: a cluster barrier has to come before its end";
    found(Finding::kPhase, text, m.thread, 0, 0, writes ? cell.w_pc : cell.r_pc);
    return;
  }
#endif
}

/// A thread ends.
inline void leave_cluster(Block& b, const Thread& t) {
  Cluster& c = *b.cluster;
  if (came(c, t)) ++c.left;
  else ++c.gone;
  if (m.cluster > 1 && m.thread && b.live == 0 && !found_in(c)) check_end_of_shared(b);
  complete_if_all_came(c);
}

/// Whether a thread of the block can run.
inline bool can_run(const Block& b) {
  for (int k = 0; b.active && k < m.warps; ++k)
    if (b.warps[k].ready) return true;
  return false;
}
inline bool can_run(const Cluster& c) {
  for (int k = 0; k < m.cluster; ++k)
    if (can_run(c.blocks[k])) return true;
  return false;
}

/// Nobody in the cluster can run: says for whom its barrier waits.
inline void cluster_stuck(Cluster& c) {
  Block* waiting = nullptr;
  for (int k = m.cluster; k-- > 0;)
    if (c.blocks[k].at_cluster > 0) waiting = &c.blocks[k];
  if (!waiting || found_in(c)) return;
  const Thread* at = waiting->threads;
  while (at->state != State::kAtCluster) ++at;
  Text text;
  text << "the cluster barrier of line " << static_cast<int64_t>(c.line) << " waits for threads that do not come";
  for (int k = 0; k < m.cluster; ++k)
    for (int i = 0; i < m.threads; ++i) {
      const Block& b = c.blocks[k];
      const Thread& t = b.threads[i];
      if (t.state == State::kGone || came(c, t)) continue;
      text << ": thread (" << t.x << ", " << t.y << ", " << t.z << ") of block (" << static_cast<int64_t>(b.x) << ", " << static_cast<int64_t>(b.y)
           << ", " << static_cast<int64_t>(b.z) << ") waits at line " << static_cast<int64_t>(t.line);
      return found_of(*waiting, Finding::kDivergent, text, *at, c.line);
    }
  found_of(*waiting, Finding::kDivergent, text, *at, c.line);
}

/// What p in the running block's shared memory is in the shared memory of block `rank` of its cluster.
inline void* map_shared(const void* p, int rank, const void* where) {
  const Block& b = *m.block;
  const int64_t offset = static_cast<const char*>(p) - m.shared;
  Text text;
  if (rank < 0 || rank >= m.cluster) {
    text << "asks for shared memory of block " << rank << " of a cluster of " << m.cluster;
    found(Finding::kOutOfBounds, text, m.thread, offset_of(where), 0);
    lose_thread();
  }
  if (offset < 0 || offset > m.static_bytes + m.dynamic_bytes) {
    text << "asks where another block has what is not in this block's shared memory";
    found(Finding::kOutOfBounds, text, m.thread, offset_of(where), 0);
    lose_thread();
  }
  const Block& other = b.cluster->blocks[rank];
  return (&other == &b ? m.shared : other.saved) + offset;
}

}  // namespace hone::simt
