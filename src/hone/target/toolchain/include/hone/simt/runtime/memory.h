// Every access of a kernel to memory: bounds, races, bytes that nobody wrote. The compiler calls in here
// (-fsanitize=thread instruments loads and stores; these are our own callbacks, not ThreadSanitizer's).
//
// Order is kept as a scalar clock, advanced at each synchronisation. A write at time t is ordered before what a
// thread does now when the thread has seen a synchronisation after t: of its warp, of its block, or by reading
// (atomic or volatile) what somebody released after t behind a fence. Coarser than vector clocks: some races
// between blocks go unnoticed, what is ordered is never called a race.
//
// In a launch with clusters each block's shared memory has a shadow of its own. A pointer to another block's (clusters.h)
// leads to where that block's memory lies while it does not run, and to that shadow.
#pragma once
#include "hone/simt/runtime/report.h"

namespace hone::simt {

enum class Access : uint8_t { kPlain, kVolatile, kAtomic };

inline void give_way(bool spins);

constexpr uint32_t kThreadBits = (1u << 24) - 1, kAtomicBit = 1u << 28, kLateBit = 1u << 31;
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

/// Whether what happened at `time` by `who` (and whoever else `level` counts in) is over for the running thread.
inline bool ordered(uint32_t who, uint32_t time, uint32_t level, bool shared) {
  const Thread& t = *m.thread;
  const Block& b = *m.block;
  if (time <= t.acquired || time <= b.acquired) return true;
  uint32_t apart = distance(who, m.me);
  if (apart == 3 && shared && m.cluster == 1) return true;
  if (cluster_ordered(who, time)) return true;
  if (apart == 3) return false;
  if (level > apart) apart = level;
  if (apart == 0) return true;
  if (apart <= 2 && (time <= b.time || time <= t.phase_time)) return true;
  return apart == 1 && time <= t.warp_time;
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
  if (conflicts_w && !ordered(c.w_who, c.w_time, level_of(c.w_who), shared)) {
    race(c.w_who, true, write, pc, c.w_pc, shared ? "shared memory" : "memory");
  }
  if (write) {
    const bool conflicts_r = c.r_time && (bytes_of(c.r_who) & bytes) && !(soft && (c.r_who & kAtomicBit));
    if (conflicts_r && !ordered(c.r_who, c.r_time, level_of(c.r_who), shared))
      race(c.r_who, false, true, pc, c.r_pc, shared ? "shared memory" : "memory");
    uint32_t both = bytes;
    if (distance(c.w_who, m.me) == 0 && c.w_time == m.clock) both |= bytes_of(c.w_who);
    c.w_time = m.clock;
    c.w_who = (m.me & kThreadBits) | both << 24 | (soft ? kAtomicBit : 0) | late;
    c.w_pc = static_cast<uint32_t>(pc);
    s.valid[word] = static_cast<uint8_t>((s.valid[word] | bytes) & 15);
  }
  if (read) {
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
    if (read && s.released[word] > m.thread->acquired) {
      m.thread->acquired = s.released[word];
      if (m.thread->acquired > m.block->pending_acquired) m.block->pending_acquired = m.thread->acquired;
    }
    if (write) {
      uint32_t fence = m.thread->fence > m.block->fence ? m.thread->fence : m.block->fence;
      if (shared && m.cluster == 1 && m.block->time > fence) fence = m.block->time;
      if (fence > s.released[word]) s.released[word] = fence;
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

inline const char* name_of(BufferKind kind) {
  switch (kind) {
    case BufferKind::kInput: return "an input";
    case BufferKind::kOutput: return "an output";
    default: return "a workspace";
  }
}

/// Not inside anything: says what lies nearest, and ends the thread.
[[noreturn]] __attribute__((noinline)) inline void outside(uintptr_t a, int64_t n, bool write, uint64_t pc) {
  Text text;
  text << (write ? "writes " : "reads ") << n << " bytes ";
  int64_t nearest = INT64_MAX, off = 0;
  const Buffer* best = nullptr;
  for (uint32_t i = 0; i < m.context->buffers; ++i) {
    const Buffer& b = m.context->buffer[i];
    const int64_t begin = static_cast<int64_t>(a) - reinterpret_cast<int64_t>(b.base);
    const int64_t far = begin < 0 ? -begin : begin - b.bytes;
    if (far < nearest) nearest = far, best = &b, off = begin;
  }
  if (best && nearest < (1 << 20)) {
    if (off < 0) text << -off << " bytes before ";
    else text << "at byte " << off << " of ";
    text << name_of(best->kind) << " of " << best->bytes << " bytes";
    text << " (buffer " << static_cast<int64_t>(best->index) << ")";
  } else {
    text << "at an address that belongs to nothing";
  }
  found(Finding::kOutOfBounds, text, m.thread, pc, 0);
  lose_thread();
}

[[noreturn]] __attribute__((noinline)) inline void misaligned(uintptr_t, int64_t n, uint64_t pc) {
  Text text;
  text << "an access of " << n << " bytes is not on a boundary of " << n << " bytes";
  found(Finding::kUndefined, text, m.thread, pc, 0);
  lose_thread();
}

/// Whether p leads into another block's shared memory, as map_shared gives it.
inline bool is_aside(const void* p) {
  return m.cluster > 1 && reinterpret_cast<uintptr_t>(p) - reinterpret_cast<uintptr_t>(m.aside) < static_cast<uintptr_t>(m.aside_bytes);
}
/// Another block's shared memory, or none of the cluster's.
inline void touch_other(const void* p, int64_t n, bool write, bool read, Access how, uint64_t pc) {
  const int64_t at = static_cast<const char*>(p) - m.aside, offset = at % m.aside_step;
  const Block &b = *m.block, &owner = m.blocks[at / m.aside_step];
  const Thread& t = *m.thread;
  Text text;
  text << (write ? "writes " : "reads ");
  Finding finding = Finding::kPhase;
  if (&owner == &b) {
    text << "its own shared memory through a pointer that another block made: the emulator has none";
    finding = Finding::kEmulator;
  } else if (owner.cluster != b.cluster) {
    text << "shared memory of a block of another cluster";
    finding = Finding::kOutOfBounds;
  } else if (offset + n > m.static_bytes + m.dynamic_bytes) {
    text << n << " bytes at byte " << offset << " of " << m.static_bytes + m.dynamic_bytes << " bytes of another block's shared memory";
    finding = Finding::kOutOfBounds;
  } else if (!owner.active) {
    text << "shared memory of a block of its cluster that has ended: a cluster barrier has to come before its end";
  } else if (t.cluster_time == 0 && b.cluster_time == 0 && t.acquired < owner.began && b.acquired < owner.began) {
    text << "shared memory of another block before the cluster's first barrier: that block may not have begun";
  } else {
    touch_range(owner.shadow, offset, n, write, read, how, pc, &owner);
    return;
  }
  // What a thread that was lost left undone is no news.
  if (finding != Finding::kPhase || !found_in(*b.cluster)) found(finding, text, m.thread, pc, 0);
  lose_thread();
}

inline void access(const void* p, int64_t n, bool write, bool read, Access how, const void* where) {
  if (!m.thread) return;
  const auto a = reinterpret_cast<uintptr_t>(p);
  // Its own variables: most accesses that are not to memory of the device.
  if (a - reinterpret_cast<uintptr_t>(m.stacks) < static_cast<uintptr_t>(m.stacks_end - m.stacks)) return;
  const uint64_t pc = offset_of(where);
  ++m.count;
  m.budget -= how == Access::kPlain ? 1 : 64;
  if (m.budget <= 0) give_way(how != Access::kPlain && read);
  if (how == Access::kPlain && write) ++m.progress;
  const auto shared = reinterpret_cast<uintptr_t>(m.shared);
  const auto in_shared = static_cast<int64_t>(a - shared);
  if (in_shared >= 0 && in_shared + n <= m.static_bytes + m.dynamic_bytes) {
    touch_range(m.shared_shadow, in_shared, n, write, read, how, pc, m.block);
    return;
  }
  if (in_shared >= 0 && in_shared < m.static_bytes + kMostDynamic) {
    Text text;
    text << (write ? "writes " : "reads ") << n << " bytes at byte " << in_shared - m.static_bytes << " of " << m.dynamic_bytes
         << " bytes of dynamic shared memory";
    found(Finding::kOutOfBounds, text, m.thread, pc, 0);
    lose_thread();
  }
  if (is_aside(p)) {
    touch_other(p, n, write, read, how, pc);
    return;
  }
  int i = m.last_buffer;
  const auto inside = [&](int k) {
    const Buffer& b = m.context->buffer[k];
    return a - reinterpret_cast<uintptr_t>(b.base) < static_cast<uintptr_t>(b.bytes);
  };
  if (i >= static_cast<int>(m.context->buffers) || !inside(i)) {
    for (i = 0; i < static_cast<int>(m.context->buffers); ++i)
      if (inside(i)) break;
    if (i == static_cast<int>(m.context->buffers)) {
      const auto image = reinterpret_cast<uintptr_t>(__ehdr_start);
      if (a >= image && a < shared) {
        if (!write) return;
        Text text;
        text << "writes a global variable, which would outlive the launch: state belongs in a workspace";
        found(Finding::kGlobal, text, m.thread, pc, 0);
        lose_thread();
      }
      outside(a, n, write, pc);
    }
    m.last_buffer = i;
  }
  const Buffer& b = m.context->buffer[i];
  const auto offset = static_cast<int64_t>(a - reinterpret_cast<uintptr_t>(b.base));
  if (offset + n > b.bytes || (write && b.kind == BufferKind::kInput)) {
    if (offset + n <= b.bytes) {
      Text text;
      text << "writes an input";
      found(Finding::kOutOfBounds, text, m.thread, pc, 0);
      lose_thread();
    }
    outside(a, n, write, pc);
  }
  if (m.shadow[i].cells) touch_range(m.shadow[i], offset, n, write, read, how, pc, nullptr);
}

/// An asynchronous copy to `to`, in words: it may write from now on, and nobody reads before its thread has waited and
/// written what has come.
inline void issue_copy(const void* to, int64_t bytes, const void* where) {
  if (m.thread && is_aside(to)) {
    Text text;
    text << "an asynchronous copy into another block's shared memory: it copies into its own";
    found(Finding::kUndefined, text, m.thread, offset_of(where), 0);
    lose_thread();
  }
  access(to, bytes, true, false, Access::kPlain, where);
  const auto in_shared = static_cast<const char*>(to) - m.shared;
  if (m.thread && in_shared >= 0 && in_shared + bytes <= m.static_bytes + m.dynamic_bytes)
    for (int64_t word = in_shared / 4; word < (in_shared + bytes) / 4; ++word) m.shared_shadow.valid[word] = kAwaited;
}

inline void aligned(const void* p, int64_t n, const void* where) {
  if (m.thread && (reinterpret_cast<uintptr_t>(p) & static_cast<uintptr_t>(n - 1)) != 0)
    misaligned(reinterpret_cast<uintptr_t>(p), n, offset_of(where));
}

}  // namespace hone::simt

#if !defined(HONE_SIMT_ASAN)
#define HONE_SIMT_HOOK(N)                                                                                          \
  HONE_SIMT_API void __tsan_read##N(const void* p) {                                                               \
    hone::simt::aligned(p, N, __builtin_return_address(0));                                                        \
    hone::simt::access(p, N, false, true, hone::simt::Access::kPlain, __builtin_return_address(0));                \
  }                                                                                                                \
  HONE_SIMT_API void __tsan_write##N(const void* p) {                                                              \
    hone::simt::aligned(p, N, __builtin_return_address(0));                                                        \
    hone::simt::access(p, N, true, false, hone::simt::Access::kPlain, __builtin_return_address(0));                \
  }                                                                                                                \
  HONE_SIMT_API void __tsan_unaligned_read##N(const void* p) {                                                     \
    hone::simt::access(p, N, false, true, hone::simt::Access::kPlain, __builtin_return_address(0));                \
  }                                                                                                                \
  HONE_SIMT_API void __tsan_unaligned_write##N(const void* p) {                                                    \
    hone::simt::access(p, N, true, false, hone::simt::Access::kPlain, __builtin_return_address(0));                \
  }                                                                                                                \
  HONE_SIMT_API void __tsan_volatile_read##N(const void* p) {                                                      \
    hone::simt::access(p, N, false, true, hone::simt::Access::kVolatile, __builtin_return_address(0));             \
  }                                                                                                                \
  HONE_SIMT_API void __tsan_volatile_write##N(const void* p) {                                                     \
    hone::simt::access(p, N, true, false, hone::simt::Access::kVolatile, __builtin_return_address(0));             \
    ++hone::simt::m.progress;                                                                                      \
  }                                                                                                                \
  HONE_SIMT_API void __tsan_unaligned_volatile_read##N(const void* p) { __tsan_volatile_read##N(p); }              \
  HONE_SIMT_API void __tsan_unaligned_volatile_write##N(const void* p) { __tsan_volatile_write##N(p); }
HONE_SIMT_HOOK(1)
HONE_SIMT_HOOK(2)
HONE_SIMT_HOOK(4)
HONE_SIMT_HOOK(8)
HONE_SIMT_HOOK(16)
#undef HONE_SIMT_HOOK

HONE_SIMT_API void __tsan_init() {}
HONE_SIMT_API void* __tsan_memcpy(void* to, const void* from, size_t n) {
  if (n > 0) {
    hone::simt::access(from, static_cast<int64_t>(n), false, true, hone::simt::Access::kPlain, __builtin_return_address(0));
    hone::simt::access(to, static_cast<int64_t>(n), true, false, hone::simt::Access::kPlain, __builtin_return_address(0));
  }
  return __builtin_memmove(to, from, n);
}
HONE_SIMT_API void* __tsan_memmove(void* to, const void* from, size_t n) { return __tsan_memcpy(to, from, n); }
HONE_SIMT_API void* __tsan_memset(void* to, int value, size_t n) {
  if (n > 0) hone::simt::access(to, static_cast<int64_t>(n), true, false, hone::simt::Access::kPlain, __builtin_return_address(0));
  return __builtin_memset(to, value, n);
}
#else
/// Called at every basic block: loops that wait for memory to change must let others run.
HONE_SIMT_API void __sanitizer_cov_trace_pc() {
  if (hone::simt::m.thread && --hone::simt::m.budget <= 0 && !hone::simt::m.held) hone::simt::give_way(true);
}
#endif
