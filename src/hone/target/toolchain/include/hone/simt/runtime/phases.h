// Barriers with phases (mbarrier), and how the bulk copies of copies.h arrive at them. A phase is complete when all its arrivals have come
// and all expected bytes are there; who waits asks for a phase by its parity. What happened before the arrivals is
// ordered before what a thread does after it has seen the phase complete; as everywhere here, by one clock for all.
//
// A bulk copy arrives as late as it may: when somebody asks for a phase of its barrier, one copy each time, drawn at
// random. Until then nobody may read or write where it goes.
//
// In a cluster threads arrive at other blocks' barriers, and copies go to several blocks at a time: each has its copy on its way, which lands when
// its own threads ask for it.
//
// State is in the block, by the barrier's place. The word in shared memory holds a mark, so that plain stores to it show.
#pragma once
#include "hone/simt/runtime/schedule.h"

namespace hone::simt {

/// As prim_phases.h numbers them.
enum class PhaseOp : int32_t { kInit, kArrive, kTest, kInvalidate, kArriveAt };

constexpr int64_t kBarrierBytes = 8, kBulkUnit = 16;
constexpr uint64_t kMark = 0x6d62617272696572, kNoMark = 0;
constexpr int64_t kMostArrivals = (1 << 20) - 1;

[[noreturn]] inline void phase_finding(const Text& text, const void* where, uint32_t other_pc = 0) {
  found(Finding::kPhase, text, m.thread, offset_of(where), 0, other_pc);
  lose_thread();
}
inline void note(const void* p, int64_t n, bool write, bool read, Access how, const void* where) {
#if defined(HONE_SIMT_ASAN)
  static_cast<void>(p), static_cast<void>(n), static_cast<void>(write), static_cast<void>(read);
  static_cast<void>(how), static_cast<void>(where);
  if ((m.budget -= 64) <= 0) give_way(true);
#else
  access(p, n, write, read, how, where);
#endif
}

/// Where in shared memory `n` bytes at p lie; -1: they do not.
inline int64_t shared_offset(const void* p, int64_t n) {
  const int64_t offset = static_cast<const char*>(p) - m.shared;
  return offset >= 0 && offset + n <= m.static_bytes + m.dynamic_bytes ? offset : -1;
}
inline Phases* barrier_at(Block& b, int64_t offset) {
  for (int i = 0; i < b.phases_count; ++i)
    if (b.phases[i].offset == offset) return &b.phases[i];
  return nullptr;
}

/// The initialised barrier that `b` has where the running block has p; ends the thread where there is none. `doing`: "arrives at", …
inline Phases& barrier_of(Block& b, const void* p, const char* doing, const void* where) {
  const int64_t offset = shared_offset(p, kBarrierBytes);
  Phases* const found_here = offset < 0 ? nullptr : barrier_at(b, offset);
  Text text;
  if (!found_here) {
    text << doing << " a barrier that " << (offset < 0 ? "is not in shared memory" : &b == m.block ? "nobody has initialised" : "nobody of its block has initialised");
    phase_finding(text, where);
  }
  if (*reinterpret_cast<const uint64_t*>((&b == m.block ? m.shared : b.saved) + offset) != kMark) {
    text << doing << " a barrier whose word was overwritten since it was initialised";
    phase_finding(text, where, found_here->pc);
  }
  return *found_here;
}
inline Phases& barrier_of(const void* p, const char* doing, const void* where) { return barrier_of(*m.block, p, doing, where); }

inline void complete_phase(Phases& barrier) {
  if (barrier.pending > 0 || barrier.bytes != 0) return;
  ++barrier.phase;
  barrier.pending = barrier.count;
  barrier.time = m.clock++;
  ++m.progress;
}

inline void init_barrier(void* p, int64_t count, const void* where) {
  Text text;
  const int64_t offset = shared_offset(p, kBarrierBytes);
  if (offset < 0 || offset % kBarrierBytes != 0) {
    text << "a barrier has to be in shared memory at a multiple of " << kBarrierBytes << " bytes";
    phase_finding(text, where);
  }
  if (count < 1 || count > kMostArrivals) {
    text << "a barrier for " << count << " arrivals: 1 to " << kMostArrivals << " are possible";
    phase_finding(text, where);
  }
  Block& b = *m.block;
  if (const Phases* const old = barrier_at(b, offset)) {
    text << "initialises a barrier that is in use: it has to be invalidated first";
    phase_finding(text, where, old->pc);
  }
  if (b.phases_count == kMostPhases) {
    text << "the emulator has no room for more than " << kMostPhases << " barriers of a block";
    found(Finding::kEmulator, text, m.thread, offset_of(where), 0);
    lose_thread();
  }
  const auto arrivals = static_cast<uint32_t>(count);
  b.phases[b.phases_count++] = {offset, 0, arrivals, arrivals, 0, 0, 0, offset_of(where), 0, 0, {}};
  *static_cast<uint64_t*>(p) = kMark;
  note(p, kBarrierBytes, true, false, Access::kPlain, where);
}

inline void invalidate_barrier(void* p, const void* where) {
  Block& b = *m.block;
  Phases& barrier = barrier_of(p, "invalidates", where);
  for (int i = 0; i < b.flights_count; ++i)
    if (b.flights[i].barrier == barrier.offset) {
      Text text;
      text << "invalidates a barrier that an asynchronous copy has yet to arrive at";
      phase_finding(text, where, b.flights[i].pc);
    }
  barrier = b.phases[--b.phases_count];
  *static_cast<uint64_t*>(p) = kNoMark;
  note(p, kBarrierBytes, true, false, Access::kPlain, where);
}

/// One arrival, and `bytes` that the phase has to wait for besides.
inline void count_arrival(Phases& barrier, int64_t bytes, const void* where) {
  if (barrier.pending == 0) {
    Text text;
    text << "arrives at a barrier once more than the " << static_cast<int64_t>(barrier.count) << " arrivals of a phase";
    phase_finding(text, where, barrier.pc);
  }
  --barrier.pending;
  barrier.bytes += bytes;
  ++m.progress;
  complete_phase(barrier);
}
inline void arrive(void* p, int64_t bytes, const void* where) {
  barrier_of(p, "arrives at", where);
  note(p, kBarrierBytes, true, true, Access::kAtomic, where);
  Phases& barrier = barrier_of(p, "arrives at", where);  // others may have run
  const Thread& t = *m.thread;
  const uint32_t acquired = t.acquired > m.block->acquired ? t.acquired : m.block->acquired;
  if (acquired > barrier.acquired) barrier.acquired = acquired;
  if (t.cluster_time > barrier.cluster_time) barrier.cluster_time = t.cluster_time, barrier.cluster_before = t.cluster_before;
  count_arrival(barrier, bytes, where);
}
/// Arrives at what block `rank` of the cluster has at p: that says what has been read, and brings along nothing that was written (prim_phases.h).
inline void arrive_at(void* p, int64_t rank, const void* where) {
  void* const there = map_shared(p, static_cast<int>(rank), where);
  if (rank == m.block->rank) return arrive(p, 0, where);
  note(there, kBarrierBytes, true, true, Access::kAtomic, where);
  Phases& barrier = barrier_of(m.block->cluster->blocks[rank], p, "arrives at", where);
  barrier.reached[m.block->rank] = m.clock++;
  count_arrival(barrier, 0, where);
}

/// Piece c of 16 bytes of row r goes to c ^ (r % 8) of its row.
inline void land_tile(char* to, const TensorTile& tile) {
  fill_words(to, 0, int64_t{tile.rows} * kTileRow);
  for (int64_t r = 0; r < tile.inside_rows; ++r)
    for (int64_t k = 0; k < tile.inside_bytes; k += 2) {
      char* const at = to + r * kTileRow + (k / kBulkUnit ^ r % 8) * kBulkUnit + k % kBulkUnit;
      *reinterpret_cast<uint16_t*>(at) = *reinterpret_cast<const uint16_t*>(tile.from + r * tile.step + k);
      asm volatile("" ::: );
    }
}

/// Flight i is there.
inline void land(int i, Phases& barrier) {
  Block& b = *m.block;
  const Flight flight = b.flights[i];
  b.flights[i] = b.flights[--b.flights_count];
  char* const to = m.shared + flight.offset;
  if (flight.tile.rows > 0) land_tile(to, flight.tile);
  else
    for (int64_t k = 0; k < flight.bytes / 8; ++k) copy_words(to + 8 * k, flight.from + 8 * k, 8);
#if !defined(HONE_SIMT_ASAN)
  const Shadow& s = m.shared_shadow;
  for (int64_t word = flight.offset / 4; word < (flight.offset + flight.bytes) / 4; ++word) {
    Cell& c = s.cells[word];
    // In a cluster another block's read too early has been found already, and counts as having written.
    if (s.valid[word] && !(m.cluster > 1 && found_in(*b.cluster))) {
      Text text;
      text << "an asynchronous copy arrives where something was written since it was issued";
      Block& issuer = b.cluster->blocks[flight.rank];
      found_of(issuer, Finding::kPhase, text, issuer.threads[flight.who & 1023], 0, flight.pc, c.w_pc);
    }
    s.valid[word] = 15;
    c.w_time = m.clock;
    c.w_who = (b.number & 0x3FFF) << 10 | (flight.who & 1023) | 15u << 24 | kCopyLevel << 29;
    c.w_pc = flight.pc;
  }
#endif
  barrier.bytes -= flight.bytes;
  ++m.progress;
  complete_phase(barrier);
}

/// Whether the phase of this parity is complete; lets others run where it is not.
inline int test_phase(void* p, int64_t parity, const void* where) {
  barrier_of(p, "waits for", where);
  if (parity != 0 && parity != 1) {
    Text text;
    text << "waits for a phase of parity " << parity << ": phases are 0 and 1 in turn";
    phase_finding(text, where);
  }
  note(p, kBarrierBytes, false, true, Access::kAtomic, where);
  Phases& barrier = barrier_of(p, "waits for", where);
  Block& b = *m.block;
  Thread& t = *m.thread;
  const auto complete = [&] { return static_cast<int64_t>(barrier.phase & 1) != parity; };
  if (!complete()) {
    int mine = 0;
    for (int i = 0; i < b.flights_count; ++i) mine += b.flights[i].barrier == barrier.offset;
    if (mine > 0) {
      int which = static_cast<int>(random64() % static_cast<uint64_t>(mine));
      for (int i = 0; i < b.flights_count; ++i)
        if (b.flights[i].barrier == barrier.offset && which-- == 0) {
          land(i, barrier);
          break;
        }
    }
  }
  if (complete()) {
    if (barrier.time > t.phase_time) t.phase_time = barrier.time;
    if (barrier.acquired > t.acquired) t.acquired = barrier.acquired;
    if (barrier.cluster_time > t.cluster_time) t.cluster_time = barrier.cluster_time, t.cluster_before = barrier.cluster_before;
    if (m.cluster > 1) raise_reached(t.reached, barrier.reached, m.cluster, barrier.time);
    return 1;
  }
  t.waits_pc = offset_of(where);
  t.waits_for = static_cast<uint16_t>(&barrier - b.phases);
  give_way(true);
  return 0;
}

/// What a thread that waits for this barrier lacks.
inline void describe(const Phases& barrier, Text& text) {
  text << ": phase " << static_cast<int64_t>(barrier.phase) << " of a barrier, to which ";
  if (barrier.pending > 0)
    text << static_cast<int64_t>(barrier.pending) << " of " << static_cast<int64_t>(barrier.count) << " arrivals do not come";
  else text << "all arrivals have come, but " << barrier.bytes << " bytes less than expected";
}

}  // namespace hone::simt
