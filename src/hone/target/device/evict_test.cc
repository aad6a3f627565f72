#include "hone/target/device/evict.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "hone/base/clock.h"

namespace hone::target {
namespace {

/// Nanoseconds of one dependent walk over the buffer's lines in a shuffled order, best of several:
/// `cold` evicts before each.
int64_t walk_ns(const std::vector<uint32_t>& next, bool cold) {
  int64_t best = INT64_MAX;
  for (int i = 0; i < 15; ++i) {
    if (cold && !evict(reinterpret_cast<const std::byte*>(next.data()), next.size() * sizeof(uint32_t))) ADD_FAILURE();
    const int64_t start = base::system_clock().now_ns();
    for (uint32_t at = next[0]; at != 0; at = next[at]) __asm__ volatile("" : "+r"(at));
    best = std::min(best, base::system_clock().now_ns() - start);
  }
  return best;
}

TEST(Evict, lines_leave_every_cache_and_keep_their_contents) {
  if (std::byte probe{}; !evict(&probe, 1)) GTEST_SKIP() << "this CPU has no instruction for it";
  constexpr uint32_t kLines = 256, kStep = 64 / sizeof(uint32_t);  // 16 KiB: any first-level cache holds it
  std::vector<uint32_t> next(kLines * kStep + kStep);
  for (uint32_t i = 0; i < kLines; ++i) next[i * kStep] = (i + 97) % kLines * kStep;  // one cycle: 97 is odd
  EXPECT_GT(walk_ns(next, true), 4 * walk_ns(next, false));
  for (uint32_t i = 0; i < kLines; ++i) EXPECT_EQ(next[i * kStep], (i + 97) % kLines * kStep);
}

}  // namespace
}  // namespace hone::target
