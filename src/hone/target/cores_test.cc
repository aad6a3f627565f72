#include "hone/target/cores.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <thread>

#include "hone/target/cpu.h"

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

/// What a process that forks has of the cores in each of its children.
std::vector<std::vector<int>> in_a_child(size_t part, size_t of) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  (void)cpu_info();
  const pid_t child = fork();
  if (child == 0) {
    std::vector<int> cpus{keep_to_share(part, of), cpu_info().threads};
    for (const auto& core : cores()) cpus.insert(cpus.end(), core.begin(), core.end());
    const auto bytes = static_cast<ssize_t>(cpus.size() * sizeof(int));
    _exit(write(ends[1], cpus.data(), static_cast<size_t>(bytes)) == bytes ? 0 : 1);
  }
  close(ends[1]);
  std::vector<int> said(2 + CPU_SETSIZE);
  said.resize(static_cast<size_t>(std::max<ssize_t>(read(ends[0], said.data(), said.size() * sizeof(int)), 0)) / sizeof(int));
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return {{said.begin(), said.begin() + 2}, {said.begin() + 2, said.end()}};
}

TEST(CoresTest, processes_share_them_and_count_their_own) {
  const size_t all = cores().size();
  std::set<int> seen;
  for (size_t part = 0; part < all; ++part) {
    const auto said = in_a_child(part, all);
    EXPECT_EQ(said[0], (std::vector<int>{1, static_cast<int>(said[1].size())}));
    for (const int cpu : said[1]) EXPECT_TRUE(seen.insert(cpu).second) << cpu;
  }
  EXPECT_EQ(static_cast<int>(seen.size()), cpu_info().threads);
  // More processes than cores: all of them have all.
  const auto crowded = in_a_child(0, all + 1);
  EXPECT_EQ(crowded[0], (std::vector<int>{0, cpu_info().threads}));
}

TEST(CoresTest, no_cpu_is_none_to_keep_to) { EXPECT_FALSE(keep_to({})); }

}  // namespace
}  // namespace hone::target
