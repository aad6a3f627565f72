// Who runs when. A thread runs until it waits, ends, or has had its share of memory accesses; threads, warps
// and blocks take turns in an order drawn at random. A block that only spins makes room for others, so that
// blocks that wait for each other go on, as many as the device holds at a time. Warp collectives and barriers
// complete when the last one arrives; when nobody can run, what they wait for is the finding.
#pragma once
#include "hone/simt/runtime/clusters.h"

namespace hone::simt {

constexpr int64_t kShare = 1 << 14;  ///< accesses of a turn

inline void to_scheduler(bool over) {
  Thread& t = *m.thread;
  show_as_it_is();
  switch_out(&t.sp, m.scheduler, over);
}

[[noreturn]] inline void end_thread();

[[noreturn]] inline void lose_thread() { end_thread(); }

inline void give_way(bool spins) {
  m.budget = kShare / 2 + static_cast<int64_t>(random64() % kShare);
  m.thread->spins = spins;
  m.warp->ready |= uint64_t{1} << m.lane;
  if (!spins) ++m.progress;
  to_scheduler(false);
}

/// After somebody arrived or ended.
inline void complete_what_is_full(Block& b, Warp& w) {
  for (int i = 0; i < w.slots; ++i)
    if (w.slot[i].mask && (w.slot[i].mask & ~(w.slot[i].arrived | w.gone)) == 0) {
      complete(b, w, i);
      i = -1;
    }
}

/// Nobody in the warp can run: those at the earliest line are the converged ones.
inline bool complete_converged(Block& b, Warp& w) {
  int best = -1;
  for (int i = 0; i < w.slots; ++i)
    if (!w.slot[i].mask && (best < 0 || w.slot[i].line < w.slot[best].line)) best = i;
  if (best < 0) return false;
  complete(b, w, best);
  return true;
}

inline void complete_barrier(Block& b) {
  b.result = b.count;
  b.count = 0;
  b.at_barrier = 0;
  b.time = m.clock++;
  b.acquired = b.pending_acquired;
  ++m.progress;
  for (int i = 0; i < m.threads; ++i) {
    Thread& t = b.threads[i];
    if (t.fence > b.fence) b.fence = t.fence;
    if (t.cluster_time > b.cluster_time) b.cluster_time = t.cluster_time, b.cluster_before = t.cluster_before;
    if (m.cluster > 1) raise_reached(b.reached, t.reached, m.cluster);
    if (t.state != State::kAtBarrier) continue;
    t.state = State::kReady;
    b.warps[i / kWave].ready |= uint64_t{1} << (i % kWave);
  }
}

[[noreturn]] inline void end_thread() {
  Thread& t = *m.thread;
  Block& b = *m.block;
  t.state = State::kGone;
  m.warp->gone |= uint64_t{1} << m.lane;
  --b.live;
  ++m.progress;
  if (b.live == 0 && b.flights_count > 0 && !found_in(b)) {
    const Flight& flight = b.flights[0];
    Text text;
    text << "the block ends before an asynchronous copy into its shared memory is there: nobody waits for it";
    found_of(b.cluster->blocks[flight.rank], Finding::kPhase, text, b.cluster->blocks[flight.rank].threads[flight.who & 1023], 0, flight.pc);
  }
  complete_what_is_full(b, *m.warp);
  if (b.live > 0 && b.at_barrier == b.live) complete_barrier(b);
  leave_cluster(b, t);
  to_scheduler(true);
  __builtin_unreachable();
}

inline void fiber_main() {
  fiber_begins();
  m.call(arguments);
  end_thread();
}

inline bool take_stack(Thread& t) {
  if (m.free_count == 0) return false;
  t.stack = m.free_stacks[--m.free_count];
  *reinterpret_cast<uint64_t*>(t.stack) = kCanary;
  // Stacks at equal distances would share the same few sets of the cache.
  const size_t colour = (static_cast<size_t>(t.stack - m.stacks) / kStackBytes * 7 % 32) * 128;
  t.sp = prepare_stack(t.stack, kStackBytes - colour, fiber_main);
  return true;
}

inline void run_thread(Block& b, Warp& w, int lane) {
  Thread& t = lane_of(b, w, lane);
  if (t.state == State::kNew) {
    if (!take_stack(t)) {
      Text text;
      text << "the emulator has no room for more waiting threads";
      found(Finding::kEmulator, text, &t, 0, 0);
      t.state = State::kGone, w.gone |= uint64_t{1} << lane, --b.live;
      leave_cluster(b, t);
      return;
    }
    t.state = State::kReady;
  }
  w.ready &= ~(uint64_t{1} << lane);
  m.thread = &t;
  m.warp = &w;
  m.lane = lane;
  m.me = (b.number & 0x3FFF) << 10 | static_cast<uint32_t>(thread_number(&t));
  if (m.budget < 64) m.budget = kShare / 2 + static_cast<int64_t>(random64() % kShare);
  t.spins = false;
  t.waits_pc = 0;
  switch_in(&m.scheduler, t.sp, t.stack, kStackBytes);
  m.thread = nullptr;
  if (*reinterpret_cast<uint64_t*>(t.stack) != kCanary) {
    Text text;
    text << "its variables and calls need more than " << static_cast<int64_t>(kStackBytes >> 10) << " KiB of stack";
    found(Finding::kUndefined, text, &t, 0, t.line);
    *reinterpret_cast<uint64_t*>(t.stack) = kCanary;
  }
  if (t.state == State::kGone) {
    stack_is_free(t.stack, kStackBytes);
    m.free_stacks[m.free_count++] = t.stack;
    t.stack = nullptr;
  }
}

/// Nobody in the block can run and not all are through: says what is waited for.
inline void stuck(Block& b) {
  const Thread* at_barrier = nullptr;
  for (int i = 0; i < m.threads && !at_barrier; ++i)
    if (b.threads[i].state == State::kAtBarrier) at_barrier = &b.threads[i];
  for (int k = 0; k < m.warps; ++k) {
    Warp& w = b.warps[k];
    if (w.slots == 0) continue;
    const Slot& s = w.slot[0];
    const uint64_t missing = s.mask & ~(s.arrived | w.gone);
    const int lane = missing ? __builtin_ctzll(missing) : 0;
    const Thread& other = lane_of(b, w, lane);
    Text text;
    if (s.kind == Kind::kMatrix) {
      const Thread& who = lane_of(b, w, __builtin_ctzll(s.arrived));
      text << "a matrix operation to which lane " << lane << " does not come";
      found(Finding::kDivergent, text, &who, who.pc, s.line);
      return;
    }
    text << "divergent " << name_of(s.kind) << ": lane " << lane << " is named in the mask of line " << static_cast<int64_t>(s.line) << " but ";
    if (other.state == State::kAtBarrier) text << "waits at the barrier of line " << static_cast<int64_t>(other.line);
    else if (other.state == State::kAtCollective) text << "waits at line " << static_cast<int64_t>(other.line);
    else text << "does not come";
    found(Finding::kDivergent, text, &lane_of(b, w, __builtin_ctzll(s.arrived)), 0, s.line);
    return;
  }
  Text text;
  text << "the barrier of line " << static_cast<int64_t>(b.barrier_line) << " waits for threads that do not come";
  found(Finding::kDivergent, text, at_barrier ? at_barrier : &b.threads[0], 0, b.barrier_line);
}

/// kWaiting: at the cluster's barrier, for other blocks.
enum class Turn { kDone, kSpinning, kStuck, kWaiting };

inline Turn run_block(Block& b) {
  m.block = &b;
  for (;;) {
    bool ran = false, moved = false;
    const int start = static_cast<int>(random64() % static_cast<uint64_t>(m.warps));
    for (int k = 0; k < m.warps; ++k) {
      Warp& w = b.warps[(start + k) % m.warps];
      const int turn = static_cast<int>(random64() >> 32) & (kWave - 1);
      const uint64_t low = (uint64_t{1} << turn) - 1;
      const uint64_t ready = w.ready;
      const uint64_t parts[] = {ready & ~low, ready & low};
      for (const uint64_t part : parts)
        for (uint64_t rest = part; rest; rest &= rest - 1) {
          const int lane = __builtin_ctzll(rest);
          if (!(w.ready >> lane & 1)) continue;
          run_thread(b, w, lane);
          ran = true;
          moved |= !lane_of(b, w, lane).spins;
        }
      if (!w.ready && w.slots > 0 && complete_converged(b, w)) ran = moved = true;
    }
#if defined(HONE_SIMT_ASAN)
    m.progress += moved;  // stores are not seen here: who waited and waits elsewhere now has heard something
#endif
    if (b.live == 0) return Turn::kDone;
    if (!ran) return b.at_cluster > 0 ? Turn::kWaiting : Turn::kStuck;
    if (!moved) return Turn::kSpinning;
  }
}

/// A thread comes to its block's barrier. Gives how many predicates held.
inline int come_to_barrier(int predicate, int line) {
  Block& b = *m.block;
  Thread& t = *m.thread;
  ++m.count;
  if (b.at_barrier == 0) {
    b.barrier_line = line;
  } else if (b.barrier_line != line) {
    Text text;
    text << "divergent barrier: this thread waits at line " << static_cast<int64_t>(line) << ", others of its block at line "
         << static_cast<int64_t>(b.barrier_line);
    found(Finding::kDivergent, text, &t, 0, line);
  }
  ++b.at_barrier;
  b.count += predicate != 0;
  t.state = State::kAtBarrier;
  t.line = line;
  if (b.at_barrier == b.live) {
    complete_barrier(b);
    m.warp->ready &= ~(uint64_t{1} << m.lane);
    return b.result;
  }
  to_scheduler(false);
  return b.result;
}

/// A lane comes to a collective of its warp. Mask 0: whoever is there.
inline uint64_t come_to_collective(int kind_number, uint64_t mask, uint64_t value, int param, int width, int line, const void* where) {
  Block& b = *m.block;
  Warp& w = *m.warp;
  Thread& t = *m.thread;
  const Kind kind = static_cast<Kind>(kind_number);
  ++m.count;
  t.line = line;
  t.pc = offset_of(where);
  if (mask && !(mask >> m.lane & 1)) {
    Text text;
    text << name_of(kind) << " is called by lane " << m.lane << ", which its mask does not name";
    found(Finding::kDivergent, text, &t, 0, line);
    lose_thread();
  }
  if (width < 1 || width > kWave || (width & (width - 1)) != 0) {
    Text text;
    text << "the width of " << name_of(kind) << " is " << width << ": a power of two up to " << kWave << " is needed";
    found(Finding::kUndefined, text, &t, 0, line);
    lose_thread();
  }
  t.value = value;
  t.param = param;
  t.width = width;
  t.state = State::kAtCollective;
  int i = 0;
  for (; i < w.slots; ++i) {
    const Slot& s = w.slot[i];
    if (s.kind == kind && s.mask == mask && (mask || s.line == line)) break;
  }
  if (i == w.slots) w.slot[w.slots++] = {mask, 0, kind, line};
  Slot& s = w.slot[i];
  s.arrived |= uint64_t{1} << m.lane;
  if (mask && (mask & ~(s.arrived | w.gone)) == 0) {
    complete(b, w, i);
    w.ready &= ~(uint64_t{1} << m.lane);
    return t.value;
  }
  to_scheduler(false);
  return t.value;
}

}  // namespace hone::simt
