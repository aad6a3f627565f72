#include "hone/target/gpu/upload.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

namespace hone::target {
namespace {

constexpr size_t kPiece = size_t{4} << 20;   ///< bytes that a thread copies at a time
constexpr size_t kLarge = 8 * kPiece;        ///< less goes the driver's own way
constexpr unsigned kMostLanes = 6;           ///< a core copies about 8 GB/s, the bus of an H100 takes about 50

}  // namespace

void GpuUpload::release() {
  for (Lane& lane : lanes_)
    for (int h = 0; h < 2; ++h) {
      (void)driver_.synchronise(lane.stream[h]);
      (void)driver_.unpin(lane.half[h]);
    }
  lanes_.clear();
}

gpu::Result GpuUpload::add_lane() {
  Lane lane;
  for (int h = 0; h < 2; ++h) {
    void* half = nullptr;
    if (const gpu::Result result = driver_.pin(&half, kPiece); result != gpu::kSuccess) return result;
    lane.half[h] = static_cast<std::byte*>(half);
    if (const gpu::Result result = driver_.make_stream(&lane.stream[h]); result != gpu::kSuccess) return result;
  }
  lanes_.push_back(lane);
  return gpu::kSuccess;
}

gpu::Result GpuUpload::upload(gpu::Address to, const void* from, size_t bytes) {
  if (const gpu::Result result = driver_.enter(); result != gpu::kSuccess) return result;
  if (bytes < kLarge) {
    if (const gpu::Result result = driver_.upload(to, from, bytes); result != gpu::kSuccess) return result;
    // The call may return with the bytes still under way, and whoever reads them next is another process.
    return driver_.synchronise(nullptr);
  }
  const std::scoped_lock lock(mutex_);
  const unsigned wanted = std::clamp(std::thread::hardware_concurrency() / 2, 1U, kMostLanes);
  while (lanes_.size() < wanted)
    if (const gpu::Result result = add_lane(); result != gpu::kSuccess) return result;
  std::atomic<size_t> next{0};
  std::atomic<gpu::Result> wrong{gpu::kSuccess};
  const auto work = [&](const Lane& lane) {
    const auto fine = [&](gpu::Result result) {
      if (result != gpu::kSuccess) wrong = result;
      return result == gpu::kSuccess;
    };
    if (!fine(driver_.enter())) return;
    for (int h = 0;; h ^= 1) {
      const size_t at = next.fetch_add(kPiece, std::memory_order_relaxed);
      if (at >= bytes) break;
      const size_t length = std::min(kPiece, bytes - at);
      if (!fine(driver_.synchronise(lane.stream[h]))) return;
      std::memcpy(lane.half[h], static_cast<const std::byte*>(from) + at, length);
      if (!fine(driver_.upload(to + at, lane.half[h], length, lane.stream[h]))) return;
    }
    for (const gpu::Stream stream : lane.stream) (void)fine(driver_.synchronise(stream));
  };
  {
    std::vector<std::jthread> others;
    for (size_t l = 1; l < lanes_.size(); ++l) others.emplace_back([&, l] { work(lanes_[l]); });
    work(lanes_[0]);
  }
  return wrong;
}

}  // namespace hone::target
