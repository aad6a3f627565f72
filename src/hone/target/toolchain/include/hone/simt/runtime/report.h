// What the emulator says when a kernel does what it may not: the finding of the smallest block and thread is
// kept; the launch goes on as far as that makes sense and then ends the process.
#pragma once
#include "hone/simt/runtime/state.h"

namespace hone::simt {

/// Text of bounded length without the C library, which a kernel's shared object may not use.
class Text {
 public:
  Text& operator<<(const char* s) {
    while (*s && n_ < sizeof(m.context->report->text) - 1) text_[n_++] = *s++;
    return *this;
  }
  Text& operator<<(int64_t v) {
    if (v < 0) *this << "-";
    return digits(v < 0 ? 0 - static_cast<uint64_t>(v) : static_cast<uint64_t>(v), 10);
  }
  Text& operator<<(int v) { return *this << static_cast<int64_t>(v); }
  Text& hex(uint64_t v) { return (*this << "0x").digits(v, 16); }
  void put(char* to) const {
    for (size_t i = 0; i < n_; ++i) to[i] = text_[i];
    to[n_] = 0;
  }

 private:
  Text& digits(uint64_t v, unsigned base) {
    char d[24];
    int n = 0;
    do d[n++] = "0123456789abcdef"[v % base]; while (v /= base);
    while (n > 0 && n_ < sizeof text_ - 1) text_[n_++] = d[--n];
    return *this;
  }
  char text_[sizeof(Report::text)] = {};
  size_t n_ = 0;
};

inline uint32_t offset_of(const void* pc) {
  return pc ? static_cast<uint32_t>(reinterpret_cast<uintptr_t>(pc) - reinterpret_cast<uintptr_t>(__ehdr_start)) : 0;
}

/// The block of the finding so far, by number.
inline int64_t found_block() {
  const Report& r = *m.context->report;
  return r.block[0] + m.grid[0] * (r.block[1] + m.grid[1] * r.block[2]);
}
inline bool found_in(const Block& b) { return m.found && found_block() == b.index; }
inline bool found_in(const Cluster& c) { return m.found && m.found_cluster == c.number; }

/// `thread`: whose doing it is; null: the block's.
inline void found(Finding finding, const Text& text, const Thread* thread, uint64_t pc, int32_t line, uint64_t other_pc = 0) {
  Report& r = *m.context->report;
  const Block& b = *m.block;
  if (m.found) {
    // In a cluster one block's threads that are lost are missed by the others behind its barrier.
    if (m.cluster > 1 && found_in(*b.cluster) && b.cluster->phase != m.found_phase) return;
    // Only what lies before is news.
    const int64_t before = found_block();
    const int64_t old = r.thread[0] + m.dims[0] * (r.thread[1] + m.dims[1] * r.thread[2]);
    const int64_t mine = thread ? thread_number(thread) : 0;
    if (b.index > before || (b.index == before && mine >= old)) return;
    // What follows from it is none: a thread that was lost has not written, nor does it come to barriers.
    if (b.index == before && (b.time != m.found_time || (finding == Finding::kUninitialised && r.finding != finding))) return;
  }
  m.found_time = b.time;
  m.found_cluster = b.cluster->number;
  m.found_phase = b.cluster->phase;
  m.found = true;
  r.launch = m.context->launch;
  r.block[0] = b.x, r.block[1] = b.y, r.block[2] = b.z;
  r.thread[0] = thread ? thread->x : 0, r.thread[1] = thread ? thread->y : 0, r.thread[2] = thread ? thread->z : 0;
  r.pc = pc, r.other_pc = other_pc, r.line = line, r.other_line = 0;
  text.put(r.text);
  r.finding = finding;
}

/// The running thread cannot go on.
[[noreturn]] inline void lose_thread();

}  // namespace hone::simt
