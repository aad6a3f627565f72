// Barriers with phases (mbarrier) and bulk copies that arrive at them. A phase is complete when all its arrivals have come
// and all expected bytes are there; who waits asks for a phase by its parity. What happened before the arrivals is
// ordered before what a thread does after it has seen the phase complete; as everywhere here, by one clock for all.
//
// A bulk copy arrives as late as it may: when somebody asks for a phase of its barrier, one copy each time, drawn at
// random. Until then nobody may read or write where it goes.
//
// State is in the block, by the barrier's place. The word in shared memory holds a mark, so that plain stores to it show.
#pragma once
#include "hone/simt/runtime/schedule.h"

namespace hone::simt {

/// As prim_phases.h numbers them.
enum class PhaseOp : int32_t { kInit, kArrive, kTest, kInvalidate };

constexpr int64_t kBarrierBytes = 8, kBulkUnit = 16;
constexpr uint64_t kMark = 0x6d62617272696572, kNoMark = 0;
constexpr int64_t kMostArrivals = (1 << 20) - 1;
constexpr uint32_t kBlockLevel = 2u << 29;  ///< a copy's write is nobody's own: a thread that issued it must wait as all

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
inline Phases* barrier_at(int64_t offset) {
  Block& b = *m.block;
  for (int i = 0; i < b.phases_count; ++i)
    if (b.phases[i].offset == offset) return &b.phases[i];
  return nullptr;
}

/// The initialised barrier at p; ends the thread where there is none. `doing`: "arrives at", …
inline Phases& barrier_of(const void* p, const char* doing, const void* where) {
  const int64_t offset = shared_offset(p, kBarrierBytes);
  Phases* const found_here = offset < 0 ? nullptr : barrier_at(offset);
  Text text;
  if (!found_here) {
    text << doing << " a barrier that " << (offset < 0 ? "is not in shared memory" : "nobody has initialised");
    phase_finding(text, where);
  }
  if (*static_cast<const uint64_t*>(p) != kMark) {
    text << doing << " a barrier whose word was overwritten since it was initialised";
    phase_finding(text, where, found_here->pc);
  }
  return *found_here;
}

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
  if (const Phases* const old = barrier_at(offset)) {
    text << "initialises a barrier that is in use: it has to be invalidated first";
    phase_finding(text, where, old->pc);
  }
  if (b.phases_count == kMostPhases) {
    text << "the emulator has no room for more than " << kMostPhases << " barriers of a block";
    found(Finding::kEmulator, text, m.thread, offset_of(where), 0);
    lose_thread();
  }
  const auto arrivals = static_cast<uint32_t>(count);
  b.phases[b.phases_count++] = {offset, 0, arrivals, arrivals, 0, 0, 0, offset_of(where), 0, 0};
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

/// `bytes`: that the phase has to wait for besides.
inline void arrive(void* p, int64_t bytes, const void* where) {
  barrier_of(p, "arrives at", where);
  note(p, kBarrierBytes, true, true, Access::kAtomic, where);
  Phases& barrier = barrier_of(p, "arrives at", where);  // others may have run
  if (barrier.pending == 0) {
    Text text;
    text << "arrives at a barrier once more than the " << static_cast<int64_t>(barrier.count) << " arrivals of a phase";
    phase_finding(text, where, barrier.pc);
  }
  const Thread& t = *m.thread;
  const uint32_t acquired = t.acquired > m.block->acquired ? t.acquired : m.block->acquired;
  if (acquired > barrier.acquired) barrier.acquired = acquired;
  if (t.cluster_time > barrier.cluster_time) barrier.cluster_time = t.cluster_time, barrier.cluster_before = t.cluster_before;
  --barrier.pending;
  barrier.bytes += bytes;
  ++m.progress;
  complete_phase(barrier);
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
      found(Finding::kPhase, text, &b.threads[flight.who & 1023], flight.pc, 0, c.w_pc);
    }
    s.valid[word] = 15;
    c.w_time = m.clock;
    c.w_who = (flight.who & kThreadBits) | 15u << 24 | kBlockLevel;
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
    return 1;
  }
  t.waits_pc = offset_of(where);
  t.waits_for = static_cast<uint16_t>(&barrier - b.phases);
  give_way(true);
  return 0;
}

[[noreturn]] inline void copy_finding(const char* what, const void* where) {
  Text text;
  text << what;
  phase_finding(text, where);
}

/// A copy of `bytes` to shared memory is on its way; it arrives at the barrier at p.
inline void depart(void* to, int64_t bytes, const char* from, const TensorTile& tile, void* p, const void* where) {
  Text text;
  note(to, bytes, true, false, Access::kPlain, where);
  const int64_t offset = shared_offset(to, bytes);
  if (offset < 0) {
    text << "a bulk copy writes " << bytes << " bytes outside shared memory";
    found(Finding::kOutOfBounds, text, m.thread, offset_of(where), 0);
    lose_thread();
  }
  Block& b = *m.block;
  for (int i = 0; i < b.flights_count; ++i)
    if (offset < b.flights[i].offset + b.flights[i].bytes && b.flights[i].offset < offset + bytes) {
      text << "a bulk copy goes where another one has yet to arrive";
      phase_finding(text, where, b.flights[i].pc);
    }
  if (b.flights_count == kMostFlights) {
    text << "the emulator has no room for more than " << kMostFlights << " bulk copies on their way";
    found(Finding::kEmulator, text, m.thread, offset_of(where), 0);
    lose_thread();
  }
  const Phases& barrier = barrier_of(p, "copies to", where);
  b.flights[b.flights_count++] = {from, offset, bytes, barrier.offset, m.me, offset_of(where), tile};
#if !defined(HONE_SIMT_ASAN)
  for (int64_t word = offset / 4; word < (offset + bytes) / 4; ++word) m.shared_shadow.valid[word] = 0;
#endif
  ++m.progress;
}

/// `bytes` from global memory to shared memory, which arrive at the barrier.
inline void bulk_copy(void* to, const void* from, int64_t bytes, void* p, const void* where) {
  const auto all = reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from) | static_cast<uintptr_t>(bytes);
  if (all % kBulkUnit != 0 || bytes <= 0) {
    Text text;
    text << "a bulk copy of " << bytes << " bytes: addresses and length have to be multiples of " << kBulkUnit;
    phase_finding(text, where);
  }
  if (shared_offset(from, 1) >= 0 || is_aside(from)) copy_finding("a bulk copy reads shared memory: it copies from global memory", where);
  barrier_of(p, "copies to", where);
  note(from, bytes, false, true, Access::kPlain, where);
  depart(to, bytes, static_cast<const char*>(from), {}, p, where);
}

/// A tensor's tile from global memory to shared memory, swizzled, which arrives at the barrier.
inline void tensor_copy(void* to, const TensorTile& tile, void* p, const void* where) {
  constexpr uintptr_t kSwizzled = 1024;
  if (reinterpret_cast<uintptr_t>(to) % kSwizzled != 0) copy_finding("a copy of a tensor's tile goes to a multiple of 1024 bytes", where);
  if (tile.rows < 1 || tile.rows > 256) copy_finding("a tensor's tile has 1 to 256 rows", where);
  if ((reinterpret_cast<uintptr_t>(tile.from) | static_cast<uintptr_t>(tile.step)) % kBulkUnit != 0)
    copy_finding("a tensor that is copied in tiles begins on a multiple of 16 bytes, and so does each of its rows", where);
  if (shared_offset(tile.from, 1) >= 0 || is_aside(tile.from)) copy_finding("a tensor's tile is read from shared memory: it has to be global memory", where);
  barrier_of(p, "copies to", where);
  for (int64_t r = 0; r < tile.inside_rows && tile.inside_bytes > 0; ++r) note(tile.from + r * tile.step, tile.inside_bytes, false, true, Access::kPlain, where);
  depart(to, int64_t{tile.rows} * kTileRow, nullptr, tile, p, where);
}

/// What a thread that waits for this barrier lacks.
inline void describe(const Phases& barrier, Text& text) {
  text << ": phase " << static_cast<int64_t>(barrier.phase) << " of a barrier, to which ";
  if (barrier.pending > 0)
    text << static_cast<int64_t>(barrier.pending) << " of " << static_cast<int64_t>(barrier.count) << " arrivals do not come";
  else text << "all arrivals have come, but " << barrier.bytes << " bytes less than expected";
}

}  // namespace hone::simt
