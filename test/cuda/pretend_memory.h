// The memory of the pretend card: addresses are those of the process, and every segment of them knows who may touch
// it. One process, one card; callers hold pretend_driver's lock.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>

#include "hone/target/gpu/cuda_api.h"

namespace hone::pretend {

using target::cuda::Address;
using target::cuda::Handle;
using target::cuda::Result;

inline constexpr Result kInvalidValue = 1, kInvalidHandle = 400;
/// As on an H100.
inline constexpr size_t kGranularity = size_t{2} << 20, kMemory = size_t{80} << 30;

class Memory {
 public:
  /// Memory to be shared: an anonymous file.
  Result create(Handle& handle, size_t bytes);
  Result release(Handle handle);
  Result export_handle(int& fd, Handle handle);
  Result import_handle(Handle& handle, int fd);

  /// Addresses with nothing behind them.
  Result reserve(Address& address, size_t bytes);
  Result unreserve(Address address, size_t bytes);
  Result map(Address address, size_t bytes, Handle handle);
  Result unmap(Address address, size_t bytes);
  Result set_access(Address address, size_t bytes, bool writable);

  /// Of one's own, readable and writable.
  Result allocate(Address& address, size_t bytes);
  Result free(Address address);

  [[nodiscard]] size_t available() const { return kMemory - used_; }
  /// All of [address, address + bytes) may be read, or written.
  [[nodiscard]] bool allows(Address address, size_t bytes, bool write) const;
  /// Lies in memory of one's own that is larger than any cache.
  [[nodiscard]] bool only_flushes(Address address) const;

 private:
  struct Shared {
    int fd = -1;
    size_t bytes = 0;
    bool own = false;     ///< created here: counts as used
  };
  struct Range {
    size_t bytes = 0;
    enum class Kind : uint8_t { kOwn, kMapped } kind = Kind::kOwn;
    bool readable = false, writable = false;
  };
  std::map<Handle, Shared> shared_;
  std::map<Address, Range> ranges_;
  std::map<Address, size_t> reserved_;
  Handle next_ = 1;
  size_t used_ = 0;
};

}  // namespace hone::pretend
