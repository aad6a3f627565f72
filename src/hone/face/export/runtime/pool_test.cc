#include "hone/face/export/runtime/pool.h"

#include <gtest/gtest.h>

#include <chrono>
#include <set>

#include "hone/face/export/runtime/scratch.h"
#include "hone/target/toolchain/include/hone/cpu/plan.h"

namespace {

/// False when `condition` has not come true within 20 s.
template <class Condition>
bool eventually(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

TEST(Pool, RunsEveryBlockOnce) {
  for (const int64_t blocks : {1, 2, 7, 1000})
    for (const int64_t threads : {1, 2, 3, 8}) {
      std::vector<std::atomic<int>> runs(static_cast<size_t>(blocks));
      runtime::for_blocks(blocks, threads, [&](int64_t slot, int64_t begin, int64_t end) {
        EXPECT_GE(slot, 0);
        EXPECT_LT(slot, threads);
        for (int64_t i = begin; i < end; ++i) runs[static_cast<size_t>(i)].fetch_add(1);
      });
      for (const auto& count : runs) EXPECT_EQ(count.load(), 1);
    }
}

TEST(Pool, ThreadsAtWorkHaveSlotsOfTheirOwn) {
  for (int round = 0; round < 3; ++round) {
    std::atomic<int> arrived{0};
    std::mutex mutex;
    std::set<int64_t> slots;
    runtime::for_blocks(3, 3, [&](int64_t slot, int64_t, int64_t) {
      {
        const std::lock_guard<std::mutex> lock(mutex);
        slots.insert(slot);
      }
      arrived.fetch_add(1);
      EXPECT_TRUE(eventually([&] { return arrived.load() == 3; })) << "all three at once";
    });
    EXPECT_EQ(slots, (std::set<int64_t>{0, 1, 2}));
    // The next round finds helpers that look, then helpers that sleep.
    if (round == 1) std::this_thread::sleep_for(std::chrono::milliseconds(30));
  }
}

TEST(Pool, ReturnsAfterTheLastBlock) {
  for (const int wait_ms : {0, 50}) {
    std::atomic<bool> began{false}, ended{false};
    runtime::for_blocks(2, 2, [&](int64_t slot, int64_t, int64_t) {
      if (slot == 0) {
        EXPECT_TRUE(eventually([&] { return began.load(); }));
        return;
      }
      began.store(true);
      std::this_thread::sleep_for(std::chrono::milliseconds(wait_ms));
      ended.store(true);
    });
    EXPECT_TRUE(ended.load());
  }
}

TEST(Pool, CallsDoNotWaitForOneAnother) {
  std::atomic<bool> release{false};
  std::atomic<int> stuck{0};
  std::thread other([&] {
    runtime::for_blocks(2, 2, [&](int64_t, int64_t, int64_t) {
      stuck.fetch_add(1);
      EXPECT_TRUE(eventually([&] { return release.load(); }));
    });
  });
  EXPECT_TRUE(eventually([&] { return stuck.load() == 2; }));
  std::atomic<int64_t> done{0};
  runtime::for_blocks(100, 4, [&](int64_t, int64_t begin, int64_t end) { done.fetch_add(end - begin); });
  EXPECT_EQ(done.load(), 100);
  release.store(true);
  other.join();
}

TEST(Pool, CountsThreads) {
  EXPECT_EQ(runtime::thread_count(3), 3);
  EXPECT_GE(runtime::thread_count(0), 1);
  EXPECT_GE(runtime::thread_count(-1), 1);
  EXPECT_EQ(runtime::thread_count(1 << 20), runtime::kMostThreads);
}

TEST(Scratch, GrowsAndIsAligned) {
  for (const int64_t bytes : {1, 100, 64, 5000}) {
    unsigned char* memory = runtime::scratch(bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 64, 0u);
    memory[0] = memory[bytes - 1] = 1;
  }
  unsigned char* const mine = runtime::scratch(10);
  std::thread([mine] { EXPECT_NE(runtime::scratch(10), mine); }).join();
  runtime::Layout layout;
  EXPECT_EQ(layout.add(1), 0);
  EXPECT_EQ(layout.add(65), 64);
  EXPECT_EQ(layout.bytes(), 192);
}

TEST(Integer, RoundsAsPlansDo) {
  EXPECT_EQ(hone_floor_div(-7, 2), -4);
  EXPECT_EQ(hone_floor_div(7, -2), -4);
  EXPECT_EQ(hone_floor_div(-7, -2), 3);
  EXPECT_EQ(hone_mod(-7, 2), 1);
  EXPECT_EQ(hone_mod(7, -2), -1);
  EXPECT_EQ(hone_ceil_div(7, 2), 4);
  EXPECT_EQ(hone_ceil_div(-7, 2), -3);
  EXPECT_EQ(hone_ceil_div(7, -2), -3);
  EXPECT_EQ(hone_floor_div(7, 0), 0);
  EXPECT_EQ(hone_mod(7, 0), 0);
}

}  // namespace
