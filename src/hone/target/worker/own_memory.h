// Memory that belongs to a CPU kernel alone: workspaces and scratch, each between pages that nobody may touch, and the
// variables of its threads.
#pragma once
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#if defined(HONE_SANITIZED_RUNNER)
extern "C" void __asan_poison_memory_region(const volatile void* at, size_t bytes);
extern "C" void __asan_unpoison_memory_region(const volatile void* at, size_t bytes);
#endif

namespace hone::target::worker {

inline constexpr size_t kHugePage = size_t{2} << 20;
inline size_t page() {
  static const auto bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

/// Bytes [from, to) of this process that a kernel may not touch, by the sanitizer's word; nothing without one.
inline void forbid_bytes([[maybe_unused]] std::byte* from, [[maybe_unused]] std::byte* to) {
#if defined(HONE_SANITIZED_RUNNER)
  __asan_poison_memory_region(from, static_cast<size_t>(to - from));
#endif
}
inline void allow_bytes([[maybe_unused]] std::byte* from, [[maybe_unused]] std::byte* to) {
#if defined(HONE_SANITIZED_RUNNER)
  __asan_unpoison_memory_region(from, static_cast<size_t>(to - from));
#endif
}

/// One workspace, or one thread's scratch.
class Space {
 public:
  /// False when there is no memory.
  bool map(int64_t bytes) {
    size_ = (static_cast<size_t>(std::max<int64_t>(bytes, 1)) + page() - 1) / page() * page();
    // On a huge page's boundary only what fills one: others would all meet in the same sets of a cache.
    const size_t boundary = size_ >= kHugePage ? kHugePage : page();
    void* reserve = mmap(nullptr, size_ + 3 * kHugePage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserve == MAP_FAILED) return false;
    const uintptr_t begin = (reinterpret_cast<uintptr_t>(reserve) + 2 * kHugePage) / boundary * boundary;
    void* memory = mmap(reinterpret_cast<void*>(begin), size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED) return false;
    begin_ = at_ = static_cast<std::byte*>(memory);
    return true;
  }

  /// Gives `bytes` of it, at its beginning or (to 64 bytes) its end; what is beside them is marked.
  std::byte* place(int64_t bytes, bool at_end, uint64_t mark) {
    const size_t used = (static_cast<size_t>(bytes) + 63) / 64 * 64;
    allow_bytes(begin_, begin_ + size_);
    at_ = begin_ + (at_end ? size_ - used : 0);
    bytes_ = static_cast<size_t>(bytes);
    pattern_.resize(page() + sizeof mark);
    for (size_t i = 0; i < pattern_.size(); ++i) pattern_[i] = static_cast<std::byte>(mark >> (8 * (i % sizeof mark)));
    std::memcpy(begin_, pattern_.data(), before());
    std::memcpy(at_ + bytes_, pattern_.data(), behind());
    forbid_bytes(begin_, at_);
    forbid_bytes(at_ + bytes_, begin_ + size_);
    return at_;
  }
  void fill(int value) { std::memset(at_, value, bytes_); }
  [[nodiscard]] std::byte* at() const { return at_; }
  /// Nobody wrote beside it.
  [[nodiscard]] bool intact() const {
#if defined(HONE_SANITIZED_RUNNER)
    return true;
#else
    return std::memcmp(begin_, pattern_.data(), before()) == 0 && std::memcmp(at_ + bytes_, pattern_.data(), behind()) == 0;
#endif
  }

 private:
  [[nodiscard]] size_t before() const { return static_cast<size_t>(at_ - begin_); }
  [[nodiscard]] size_t behind() const { return static_cast<size_t>(begin_ + size_ - at_) - bytes_; }

  std::byte* begin_ = nullptr;
  std::byte* at_ = nullptr;
  size_t size_ = 0, bytes_ = 0;
  std::vector<std::byte> pattern_;  // a page of it: less is never beside
};

struct ThreadIndex {
  unsigned long module, offset;
};
/// The loader's own, by another name here: a compiler with sanitizers knows __tls_get_addr by types of its own.
extern "C" void* address_in_thread(ThreadIndex* index) __asm__("__tls_get_addr");

/// The calling thread's variables of a loaded object, by its number for the loader (RTLD_DI_TLS_MODID); the C library makes room for them
/// when they are first looked at. (dlinfo() does not say where those are that have a fixed place in every thread, the only ones that
/// a kernel may have.)
inline void* thread_variables(size_t module) {
  ThreadIndex index{module, 0};
  return address_in_thread(&index);
}

inline void make_thread_locals(void* handle) {
  size_t module = 0;
  if (dlinfo(handle, RTLD_DI_TLS_MODID, &module) == 0 && module != 0) (void)thread_variables(module);
}

}  // namespace hone::target::worker
