// Large uploads to a card: several threads copy pieces into pinned memory from which the card fetches them, as the
// driver's own way for ordinary memory uses one thread and a seventh of the bus. Thread-safe; one upload at a time.
#pragma once
#include <cstddef>
#include <mutex>
#include <vector>

#include "hone/target/gpu/driver.h"

namespace hone::target {

class GpuUpload {
 public:
  explicit GpuUpload(gpu::Driver& driver) : driver_(driver) {}
  /// The card is entered: gives the pinned memory back.
  void release();

  /// Returns when all bytes have arrived. Enters the card in the calling thread.
  [[nodiscard]] gpu::Result upload(gpu::Address to, const void* from, size_t bytes);

 private:
  /// Half of its pinned memory is filled while the card reads the other.
  struct Lane {
    std::byte* half[2] = {};
    gpu::Stream stream[2] = {};
  };
  [[nodiscard]] gpu::Result add_lane();

  gpu::Driver& driver_;
  std::mutex mutex_;
  std::vector<Lane> lanes_;
};

}  // namespace hone::target
