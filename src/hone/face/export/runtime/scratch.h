// Memory that a kernel works in: one block for each calling thread, which grows to what its largest
// call needed and is kept until the thread ends, because fresh pages cost more than most kernels.
// Throws std::bad_alloc where there is not enough.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include <new>

namespace runtime {

/// Where the parts of a block lie, each on a cache line of its own.
class Layout {
 public:
  /// The offset of `bytes` more.
  int64_t add(int64_t bytes) {
    const int64_t offset = bytes_;
    bytes_ += (bytes + 63) / 64 * 64;
    return offset;
  }
  int64_t bytes() const { return bytes_; }

 private:
  int64_t bytes_ = 0;
};

class Scratch {
 public:
  Scratch() = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { release(); }

  /// `bytes` on a 64-byte boundary, their contents unspecified.
  unsigned char* get(int64_t bytes) {
    if (bytes > bytes_) {
      release();
      memory_ = static_cast<unsigned char*>(::operator new(static_cast<size_t>(bytes), std::align_val_t{64}));
      bytes_ = bytes;
    }
    return memory_;
  }

 private:
  void release() {
    if (memory_) ::operator delete(memory_, std::align_val_t{64});
    memory_ = nullptr;
    bytes_ = 0;
  }

  unsigned char* memory_ = nullptr;
  int64_t bytes_ = 0;
};

/// The calling thread's block; the next call may overwrite it.
inline unsigned char* scratch(int64_t bytes) {
  static thread_local Scratch mine;
  return mine.get(bytes);
}

}  // namespace runtime
