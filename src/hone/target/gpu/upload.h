// Large uploads to a card: several threads copy pieces into pinned memory from which the card fetches them, as the
// driver's own way for ordinary memory uses one thread and a seventh of the bus. Thread-safe; one upload at a time.
#pragma once
#include <cstddef>
#include <mutex>
#include <vector>

#include "hone/target/gpu/cuda_api.h"

namespace hone::target {

class GpuUpload {
 public:
  explicit GpuUpload(const cuda::Api& api) : api_(api) {}
  /// The context is current: gives the pinned memory back.
  void release();

  /// Returns when all bytes have arrived. `context` is made current in the calling thread.
  [[nodiscard]] cuda::Result upload(cuda::Context context, cuda::Address to, const void* from, size_t bytes);

 private:
  /// Half of its pinned memory is filled while the card reads the other.
  struct Lane {
    std::byte* half[2] = {};
    cuda::Stream stream[2] = {};
  };
  [[nodiscard]] cuda::Result add_lane();

  const cuda::Api& api_;
  std::mutex mutex_;
  std::vector<Lane> lanes_;
};

}  // namespace hone::target
