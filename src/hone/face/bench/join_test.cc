// Several benches as one table: whose row counts, and what makes no table.
#include "hone/face/bench/join.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hone/face/bench/testing/fake_bench.h"

namespace hone::face::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

State bench_of(const std::string& id, int64_t when, const std::vector<std::pair<std::string, double>>& tasks) {
  State state;
  state.id = id;
  state.created_unix_ms = when;
  state.updated_unix_ms = when + 5;
  state.command = "hone bench " + id;
  state.asked.suite = {"/suite/" + id};
  state.asked.workloads = {"full"};
  state.conditions.place = {"cuda:0", "a card", "NVRTC"};
  state.conditions.machine_json = "{}";
  for (const auto& [name, ratio] : tasks) {
    Entry entry;
    entry.name = name;
    if (ratio > 0) entry.row = testing::accepted_row(name, {{"eager", ratio}});
    state.entries.push_back(entry);
  }
  return state;
}

TEST(Join, TakesEachTaskOnceAndItsLastRow) {
  const State all = testing::must(joined({bench_of("b", 20, {{"softmax", 3}, {"gelu", 0}}), bench_of("a", 10, {{"softmax", 2}, {"gelu", 4}, {"add", 1}})}));
  std::vector<std::pair<std::string, double>> rows;
  for (const Entry& entry : all.entries) rows.emplace_back(entry.name, entry.row ? entry.row->speedups.front().ratio.median : 0);
  // What the later bench has not done yet is no reason to forget what the earlier has.
  EXPECT_THAT(rows, ElementsAre(std::pair("add", 1.0), std::pair("gelu", 4.0), std::pair("softmax", 3.0)));
  EXPECT_EQ(all.created_unix_ms, 10);
  EXPECT_EQ(all.updated_unix_ms, 25);
  EXPECT_EQ(all.command, "hone bench a; hone bench b");
  EXPECT_THAT(all.asked.suite, ElementsAre("/suite/a", "/suite/b"));
  EXPECT_EQ(all.id.size(), 12);
}

TEST(Join, TheOrderGivenDoesNotMatter) {
  const State a = bench_of("a", 10, {{"softmax", 2}}), b = bench_of("b", 20, {{"softmax", 3}});
  EXPECT_EQ(to_text(testing::must(joined({a, b}))), to_text(testing::must(joined({b, a}))));
}

TEST(Join, RowsOfTwoMachinesMakeNoTable) {
  const State a = bench_of("a", 10, {{"softmax", 2}});
  const auto refused = [&](auto change) {
    State b = bench_of("b", 20, {{"gelu", 3}});
    change(b);
    const auto all = joined({a, b});
    EXPECT_FALSE(all);
    return all ? "" : all.error().message;
  };
  EXPECT_THAT(refused([](State& b) { b.conditions.place.device = "another card"; }), HasSubstr("device: a has \"a card\", b has \"another card\""));
  EXPECT_THAT(refused([](State& b) { b.conditions.place.toolchain = "nvcc"; }), HasSubstr("toolchain"));
  EXPECT_THAT(refused([](State& b) { b.conditions.pytorch = "2.11"; }), HasSubstr("PyTorch"));
  EXPECT_THAT(refused([](State& b) { b.asked.workloads.clear(); }), HasSubstr("workloads"));
  EXPECT_THAT(refused([](State& b) { b.asked.track = "tf32"; }), HasSubstr("track"));
  EXPECT_THAT(refused([](State& b) { b.asked.options.opponents = "none"; }), HasSubstr("opponents"));
  EXPECT_THAT(refused([](State& b) { b.asked.options.languages = "triton"; }), HasSubstr("languages"));
  // Another card of the same kind, or another budget, is no difference.
  State b = bench_of("b", 20, {{"gelu", 3}});
  b.conditions.place.target = "cuda:1";
  b.asked.options.budget_seconds = 30;
  EXPECT_TRUE(joined({a, b}));
}

}  // namespace
}  // namespace hone::face::bench
