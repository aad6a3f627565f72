// Takes from a candidate what it may have kept of its calls: the globals and thread-locals of its library are made again what
// they were when it had been loaded; workspaces and scratch are filled with words that nobody can foresee, NaN for every type
// of float. For the runner, before each batch, outside anybody's time.
#pragma once
#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "hone/target/worker/own_memory.h"

namespace hone::target::worker {

/// The writable memory of a shared object, as it was when this was made.
class Pristine {
 public:
  /// `handle` is dlopen's.
  void remember(void* handle) {
    const link_map* map = nullptr;
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || !map) return;
    base_ = map->l_addr;
    if (dlinfo(handle, RTLD_DI_TLS_MODID, &module_) != 0) return;
    dl_iterate_phdr([](dl_phdr_info* info, size_t, void* self) { return static_cast<Pristine*>(self)->take(*info); }, this);
  }
  /// Whether the library's own variables hold something of particular calls: a byte that is not what it was, and was something else again
  /// after earlier calls. What is made once and whatever the calls (a table at the first) is the same after all. Before restore_globals().
  bool keeps_of_calls() {
    for (Kept& kept : kept_) {
      if (std::memcmp(kept.at, kept.bytes.data(), kept.bytes.size()) == 0) continue;
      for (size_t i = 0; i < kept.bytes.size(); ++i) {
        if (kept.at[i] == kept.bytes[i] || kept.at[i] == kept.made[i]) continue;
        if (kept.made[i] != kept.bytes[i]) return true;
        kept.made[i] = kept.at[i];
      }
    }
    return false;
  }
  /// For the library's own variables; once.
  void restore_globals() const {
    for (const Kept& kept : kept_) std::memcpy(kept.at, kept.bytes.data(), kept.bytes.size());
  }
  /// For the calling thread's copies of its thread-local variables.
  void restore_thread() const {
    if (!thread_bytes_) return;
    void* const block = thread_variables(module_);
    std::memcpy(block, thread_image_.data(), thread_image_.size());
    std::memset(static_cast<char*>(block) + thread_image_.size(), 0, thread_bytes_ - thread_image_.size());
  }

 private:
  struct Kept {
    char* at;
    std::vector<char> bytes;
    std::vector<char> made;  ///< what calls made of it; its room is had now, for later there is none
  };

  int take(const dl_phdr_info& info) {
    if (info.dlpi_addr != base_) return 0;
    // What is written while loading only is read-only by now.
    uintptr_t read_only = 0, read_only_end = 0;
    for (int i = 0; i < info.dlpi_phnum; ++i)
      if (const auto& part = info.dlpi_phdr[i]; part.p_type == PT_GNU_RELRO)
        read_only = base_ + part.p_vaddr, read_only_end = (base_ + part.p_vaddr + part.p_memsz) / kPage * kPage;
    for (int i = 0; i < info.dlpi_phnum; ++i) {
      const auto& part = info.dlpi_phdr[i];
      const uintptr_t begin = base_ + part.p_vaddr, end = begin + part.p_memsz;
      if (part.p_type == PT_LOAD && (part.p_flags & PF_W) != 0) {
        keep(begin, std::min(end, std::max(begin, read_only)));
        keep(std::max(begin, read_only_end), end);
      } else if (part.p_type == PT_TLS) {
        thread_bytes_ = part.p_memsz;
        thread_image_.assign(reinterpret_cast<const char*>(begin), reinterpret_cast<const char*>(begin) + part.p_filesz);
      }
    }
    return 1;
  }
  void keep(uintptr_t begin, uintptr_t end) {
    if (begin >= end) return;
    const std::vector<char> bytes(reinterpret_cast<char*>(begin), reinterpret_cast<char*>(end));
    kept_.push_back({reinterpret_cast<char*>(begin), bytes, bytes});
  }

  static constexpr uintptr_t kPage = 4096;
  size_t module_ = 0;   ///< as the loader numbers those with thread-locals
  uintptr_t base_ = 0;
  std::vector<Kept> kept_;
  size_t thread_bytes_ = 0;
  std::vector<char> thread_image_;
};

/// Fills memory with one word again and again, of either sign in each half and NaN whichever type of float it is read as.
inline void fill_unforeseen(void* memory, int64_t bytes, uint64_t secret) {
  const uint64_t word = 0x7FF07FF07FF07FF0 | 0x0001000100010001 | (secret & 0x800F800F800F800F);
  auto* at = static_cast<char*>(memory);
  int64_t i = 0;
  for (; i + 8 <= bytes; i += 8) std::memcpy(at + i, &word, 8);
  std::memcpy(at + i, &word, static_cast<size_t>(bytes - i));
}

/// Where the frames of a call were; deep ones may have been deeper.
[[gnu::noinline]] inline void clear_dead_stack() {
  volatile uint64_t dead[(64 << 10) / sizeof(uint64_t)];
  for (volatile uint64_t& word : dead) word = 0;
}

}  // namespace hone::target::worker
