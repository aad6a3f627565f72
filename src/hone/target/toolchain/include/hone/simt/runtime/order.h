// What one access means for a word of memory: whether its bytes were written, and whether it is ordered after those of
// other threads.
//
// Order is kept as a scalar clock, advanced at each synchronisation. A write at time t is ordered before what a
// thread does now when the thread has seen a synchronisation after t: of its warp, of its block, of its cluster,
// or by reading (atomic or volatile) what somebody released after t behind a fence. Coarser than vector clocks: some races
// between blocks go unnoticed, what is ordered is never called a race.
#pragma once
#include "hone/simt/runtime/report.h"

namespace hone::simt {

enum class Access : uint8_t { kPlain, kVolatile, kAtomic };

constexpr uint32_t kThreadBits = (1u << 24) - 1, kAtomicBit = 1u << 28, kLateBit = 1u << 31;
constexpr uint32_t kCopyLevel = 2;   ///< a bulk copy's write is nobody's own: a thread that issued it must wait as all
constexpr uint32_t bytes_of(uint32_t who) { return who >> 24 & 15; }
constexpr uint32_t level_of(uint32_t who) { return who >> 29 & 3; }
inline uint32_t warp_of(uint32_t who) { return (who & 1023) / kWave; }

/// How far apart two threads are: 0 the same, 1 of a warp, 2 of a block, 3 else.
inline uint32_t distance(uint32_t a, uint32_t b) {
  a &= kThreadBits, b &= kThreadBits;
  if (a == b) return 0;
  if (a >> 10 != b >> 10) return 3;
  return warp_of(a) == warp_of(b) ? 1 : 2;
}

/// The thread has come to its cluster's barrier, whose phase is not complete: what it does now that phase does not order.
inline bool is_late(const Thread& t) { return t.cluster_came && t.cluster_phase == m.block->cluster->phase; }

/// Whether the cluster's barrier orders what `who` of the cluster did at `time` before what the running thread does.
inline bool cluster_ordered(uint32_t who, uint32_t time) {
  const Thread& t = *m.thread;
  const Block& b = *m.block;
  const bool own = t.cluster_time > b.cluster_time;
  if (time > (own ? t.cluster_time : b.cluster_time)) return false;
  const uint32_t number = (who & kThreadBits) >> 10, rank = number & ((1u << m.rank_bits) - 1);
  if (number >> m.rank_bits != (b.number & 0x3FFF) >> m.rank_bits) return false;
  if (!(who & kLateBit) || time <= (own ? t.cluster_before : b.cluster_before)) return true;
  return time <= b.cluster->blocks[rank].covers;
}

/// Whether another block of the cluster, in whose own shared memory `who` of it read at `time`, or a copy landed, has come since to a barrier that the
/// running thread has waited for. That says what has been read there; what threads have written it does not bring along.
inline bool has_let_go(uint32_t who, uint32_t time, const Block* owner) {
  if (m.cluster == 1 || !owner || owner->cluster != m.block->cluster || level_of(who) == 3) return false;
  if ((who & kThreadBits) >> 10 != (owner->number & 0x3FFF)) return false;
  return time <= m.thread->reached[owner->rank] || time <= m.block->reached[owner->rank];
}

/// Whether what happened at `time` by `who` (and whoever else `level` counts in) is over for the running thread.
inline bool ordered(uint32_t who, uint32_t time, uint32_t level, bool shared) {
  const Thread& t = *m.thread;
  const Block& b = *m.block;
  if (time <= t.acquired || time <= b.acquired) return true;
  uint32_t apart = distance(who, m.me);
  if (apart == 3 && shared && m.cluster == 1) return true;
  if (level > apart) apart = level;
  if (apart == 0) return true;
  if (apart <= 2 && (time <= b.time || time <= t.phase_time)) return true;
  if (apart == 1 && time <= t.warp_time) return true;
  return cluster_ordered(who, time);
}

__attribute__((noinline)) inline void race(uint32_t other, bool other_writes, bool write, uint64_t pc, uint64_t other_pc, const char* where) {
  Text text;
  text << "a race on " << where << ": this thread " << (write ? "writes" : "reads") << " what ";
  const int number = static_cast<int>(other & 1023);
  const int64_t x = number % m.dims[0], y = number / m.dims[0] % m.dims[1], z = number / (m.dims[0] * m.dims[1]);
  if (distance(other, m.me) == 3) text << "thread (" << x << ", " << y << ", " << z << ") of another block ";
  else text << "thread (" << x << ", " << y << ", " << z << ") ";
  text << (other_writes ? "writes" : "reads") << ", with nothing between that orders them";
  found(Finding::kRace, text, m.thread, pc, 0, other_pc);
}

/// The copy on its way to a byte of shared memory; null: none.
inline const Flight* flight_to(const Block& b, int64_t offset) {
  for (int i = 0; i < b.flights_count; ++i)
    if (offset >= b.flights[i].offset && offset < b.flights[i].offset + b.flights[i].bytes) return &b.flights[i];
  return nullptr;
}

/// One word: `bytes` are those touched of its four. `owner`: the block whose shared memory it is; null: other memory.
inline void touch(const Shadow& s, int64_t word, uint32_t bytes, bool write, bool read, Access how, uint64_t pc, const Block* owner) {
  const bool shared = owner != nullptr;
  Cell& c = s.cells[word];
  const bool soft = how != Access::kPlain;
  const uint32_t near = distance(c.w_who, m.me) <= 2 ? c.released_near : 0;
  const uint32_t late = is_late(*m.thread) ? kLateBit : 0;
  if (read && (s.valid[word] & bytes) != bytes) {
    Text text;
    const Flight* const flight = shared ? flight_to(*owner, word * 4) : nullptr;
    const bool awaited = (s.valid[word] & kAwaited) != 0;
    if (flight) text << "reads shared memory before the asynchronous copy to it is there: a phase of its barrier has to be waited for";
    else if (awaited) text << "reads shared memory before the asynchronous copy to it is there: its group has to be waited for";
    else text << "reads " << (shared ? "shared memory" : "memory") << " that nothing has written";
    found(flight || awaited ? Finding::kPhase : Finding::kUninitialised, text, m.thread, pc, 0, flight ? flight->pc : awaited ? c.w_pc : 0);
    s.valid[word] = static_cast<uint8_t>((s.valid[word] | bytes) & 15);
  }
  const bool conflicts_w = c.w_time && (bytes_of(c.w_who) & bytes) && !(soft && (c.w_who & kAtomicBit));
  if (conflicts_w && !ordered(c.w_who, c.w_time, level_of(c.w_who), shared) && !(level_of(c.w_who) == kCopyLevel && has_let_go(c.w_who, c.w_time, owner))) {
    race(c.w_who, true, write, pc, c.w_pc, shared ? "shared memory" : "memory");
  }
  if (write) {
    const bool conflicts_r = c.r_time && (bytes_of(c.r_who) & bytes) && !(soft && (c.r_who & kAtomicBit));
    if (conflicts_r && !ordered(c.r_who, c.r_time, level_of(c.r_who), shared) && !has_let_go(c.r_who, c.r_time, owner))
      race(c.r_who, false, true, pc, c.r_pc, shared ? "shared memory" : "memory");
    uint32_t both = bytes;
    if (distance(c.w_who, m.me) == 0 && c.w_time == m.clock) both |= bytes_of(c.w_who);
    c.w_time = m.clock;
    c.w_who = (m.me & kThreadBits) | both << 24 | (soft ? kAtomicBit : 0) | late;
    c.w_pc = static_cast<uint32_t>(pc);
    s.valid[word] = static_cast<uint8_t>((s.valid[word] | bytes) & 15);
  }
  if (read) {
    s.valid[word] &= static_cast<uint8_t>(~kUnread);
    uint32_t level = 0, both = bytes;
    uint32_t atomic = soft ? kAtomicBit : 0, lateness = late;
    if (c.r_time && !(shared && m.cluster == 1 && distance(c.r_who, m.me) == 3) && !ordered(c.r_who, c.r_time, level_of(c.r_who), shared)) {
      const uint32_t apart = distance(c.r_who, m.me);
      level = level_of(c.r_who) > apart ? level_of(c.r_who) : apart;
      both |= bytes_of(c.r_who);
      atomic &= c.r_who & kAtomicBit;
      if (c.r_time > m.block->cluster->time) lateness |= c.r_who & kLateBit;
    } else if (c.r_time > m.block->time && distance(c.r_who, m.me) == 0) {
      both |= bytes_of(c.r_who);
      atomic &= c.r_who & kAtomicBit;
    }
    c.r_time = m.clock;
    c.r_who = (m.me & kThreadBits) | both << 24 | atomic | level << 29 | lateness;
    c.r_pc = static_cast<uint32_t>(pc);
  }
  if (soft) {
    const uint32_t seen = near > s.released[word] ? near : s.released[word];
    if (read && seen > m.thread->acquired) {
      m.thread->acquired = seen;
      if (m.thread->acquired > m.block->pending_acquired) m.block->pending_acquired = m.thread->acquired;
    }
    if (write) {
      uint32_t fence = m.thread->fence > m.block->fence ? m.thread->fence : m.block->fence;
      if (shared && m.cluster == 1 && m.block->time > fence) fence = m.block->time;
      if (fence > s.released[word]) s.released[word] = fence;
      c.released_near = m.thread->near_fence > fence ? m.thread->near_fence : fence;
    }
  }
}

inline void touch_range(const Shadow& s, int64_t offset, int64_t n, bool write, bool read, Access how, uint64_t pc, const Block* owner) {
  if (n == 4 && (offset & 3) == 0) {
    touch(s, offset >> 2, 15, write, read, how, pc, owner);
    return;
  }
  for (int64_t at = offset; at < offset + n;) {
    const int64_t word = at >> 2, end = (word + 1) * 4 < offset + n ? (word + 1) * 4 : offset + n;
    const uint32_t bytes = (1u << (end - word * 4)) - (1u << (at - word * 4));
    touch(s, word, bytes, write, read, how, pc, owner);
    at = end;
  }
}

// ---- what a card may show late: memory as it was -----------------------------------------------------------------

/// Memory holds what it holds again; before anything else is done than the read it was for.
inline void show_as_it_is() {
  for (int64_t i = 0; i < m.old_bytes; ++i) m.old_at[i] = m.old_now[i];
  m.old_bytes = 0;
}

/// Before an atomic or volatile write of whole words.
inline void keep_what_was(const Shadow& s, const char* base, int64_t offset, int64_t n) {
  for (int64_t word = offset >> 2; word < (offset + n) >> 2; ++word) __builtin_memcpy(&s.cells[word].was, base + word * 4, 4);
}
/// Behind it. `held`: whether somebody had written what was there.
inline void mark_unread(const Shadow& s, int64_t offset, int64_t n, bool held) {
  for (int64_t word = offset >> 2; word < (offset + n) >> 2; ++word) s.valid[word] |= held ? kUnread : kUnread | kHeldNothing;
}
inline bool is_written(const Shadow& s, int64_t offset, int64_t n) {
  for (int64_t at = offset; at < offset + n; ++at)
    if (!(s.valid[at >> 2] >> (at & 3) & 1)) return false;
  return true;
}

/// An atomic or volatile read, of whole words, of what one access of another block wrote, with nothing that orders it: half of the time the
/// first to read it finds what was there before, as it may on a card, whose threads do not see others' writes in the order in which
/// those were made, unless a fence stands between. Who looks until it is there finds it the next time.
inline bool show_as_it_was(const Shadow& s, char* base, int64_t offset, int64_t n, uint64_t pc) {
  if ((offset | n) & 3 || n > static_cast<int64_t>(sizeof m.old_now)) return false;
  const Cell& first = s.cells[offset >> 2];
  if (distance(first.w_who, m.me) != 3 || ordered(first.w_who, first.w_time, level_of(first.w_who), false)) return false;
  for (int64_t word = offset >> 2; word < (offset + n) >> 2; ++word) {
    const Cell& c = s.cells[word];
    if (!(s.valid[word] & kUnread) || c.w_time != first.w_time || distance(c.w_who, first.w_who) != 0) return false;
  }
  if (random64() >> 63) return false;
  if (s.valid[offset >> 2] & kHeldNothing) {
    race(first.w_who, true, false, pc, first.w_pc, "memory");
    return false;
  }
  m.old_at = base + offset, m.old_bytes = n;
  for (int64_t i = 0; i < n; ++i) {
    m.old_now[i] = base[offset + i];
    base[offset + i] = reinterpret_cast<const char*>(&s.cells[(offset + i) >> 2].was)[i & 3];
  }
  return true;
}

}  // namespace hone::simt
