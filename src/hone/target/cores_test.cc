#include "hone/target/cores.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>

namespace hone::target {
namespace {

TEST(CoresTest, every_cpu_is_of_one_core) {
  std::set<int> seen;
  for (const std::vector<int>& core : cores()) {
    EXPECT_FALSE(core.empty());
    for (const int cpu : core) EXPECT_TRUE(seen.insert(cpu).second) << cpu;
  }
  EXPECT_FALSE(seen.empty());
}

TEST(CoresTest, a_thread_keeps_to_what_it_is_told_and_others_do_not) {
  const auto before = cores();
  const int last = before.back().back();
  std::thread([&] {
    const int cpus[] = {last};
    ASSERT_TRUE(keep_to(cpus));
    EXPECT_EQ(cores(), (std::vector<std::vector<int>>{{last}}));
    std::thread([&] { EXPECT_EQ(cores(), (std::vector<std::vector<int>>{{last}})); }).join();
  }).join();
  EXPECT_EQ(cores(), before);
}

TEST(CoresTest, no_cpu_is_none_to_keep_to) { EXPECT_FALSE(keep_to({})); }

}  // namespace
}  // namespace hone::target
