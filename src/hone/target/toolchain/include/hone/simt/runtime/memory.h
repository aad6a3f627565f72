// Every access of a kernel to memory: bounds, races, bytes that nobody wrote. The compiler calls in here
// (-fsanitize=thread instruments loads and stores; these are our own callbacks, not ThreadSanitizer's).
//
// In a launch with clusters each block's shared memory has a shadow of its own. A pointer to another block's (clusters.h)
// leads to where that block's memory lies while it does not run, and to that shadow.
#pragma once
#include "hone/simt/runtime/order.h"

namespace hone::simt {

inline void give_way(bool spins);

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
  show_as_it_is();
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
  const Shadow& s = m.shadow[i];
  if (!s.cells) return;
  if (how == Access::kPlain) return touch_range(s, offset, n, write, read, how, pc, nullptr);
  const uint32_t acquired = m.thread->acquired, pending = m.block->pending_acquired;
  const bool held = is_written(s, offset, n);
  const bool old = read && !write && show_as_it_was(s, b.base, offset, n, pc);
  const bool kept = write && ((offset | n) & 3) == 0;
  if (kept) keep_what_was(s, b.base, offset, n);
  touch_range(s, offset, n, write, read, how, pc, nullptr);
  if (kept) mark_unread(s, offset, n, held);
  if (old) m.thread->acquired = acquired, m.block->pending_acquired = pending;
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

/// What this launch wrote last to words of outputs and workspaces at p: each(cell) for those that it wrote.
template <class Each>
inline void each_written(const void* p, int64_t n, Each each) {
  for (uint32_t i = 0; i < m.context->buffers; ++i) {
    const Buffer& b = m.context->buffer[i];
    const int64_t offset = static_cast<const char*>(p) - b.base;
    if (offset < 0 || offset + n > b.bytes || !m.shadow[i].cells) continue;
    for (int64_t word = offset >> 2; word <= (offset + n - 1) >> 2; ++word)
      if (m.shadow[i].cells[word].w_time > m.began) each(m.shadow[i].cells[word]);
    return;
  }
}

/// A load by way of the cache for what no thread writes while the kernel runs: it may hold what was there before.
inline void read_only(const void* p, int64_t n, const void* where) {
  if (!m.thread) return;
  each_written(p, n, [&](const Cell& c) {
    Text text;
    text << "reads by __ldg what this launch writes: that is for memory which stays as it is while a kernel runs";
    found(Finding::kUndefined, text, m.thread, offset_of(where), 0, c.w_pc);
  });
}

/// Before an atomic access that is one for its block alone: beside another block's it is a plain one.
inline void for_the_block(const void* p, int64_t n, const void* where) {
  if (!m.thread) return;
  each_written(p, n, [&](const Cell& c) {
    if (distance(c.w_who, m.me) == 3 && !ordered(c.w_who, c.w_time, level_of(c.w_who), false)) race(c.w_who, true, true, offset_of(where), c.w_pc, "memory");
  });
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
