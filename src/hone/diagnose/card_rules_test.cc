// The rules for cards: on the metrics of kernels made slow in one known way each (test/diagnosis), as they were measured
// on an H200, and on what each rule says by itself.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "hone/base/file.h"
#include "hone/diagnose/rules.h"

namespace hone::diagnose {
namespace {

using nlohmann::json;

kernel::Header header_with(std::vector<kernel::Tunable> tunables) {
  kernel::Header header;
  header.language = kernel::Language::kCuda;
  header.tunables = std::move(tunables);
  return header;
}
const kernel::Header kPlain = header_with({});
const kernel::Header kRows = header_with({{"THREADS", {256, 128, 512}}, {"VEC", {4, 1, 2, 8}}, {"WORDS", {2, 1, 4}}, {"UNROLL", {2, 1, 4}}});
const kernel::Config kConfig = {{"THREADS", 256}, {"VEC", 4}, {"WORDS", 2}, {"UNROLL", 2}};

/// A kernel that has nothing to wait for but `metrics`.
Metrics counted(std::initializer_list<std::pair<const char*, double>> metrics) {
  Metrics all;
  for (const auto& [name, value] : {std::pair("time_ns", 1e6), {"light", 0.3}, {"memory_light", 0.3}, {"sm_active_share", 1.0}, {"dram_share", 0.3},
                                    {"lane_share", 1.0}, {"launches", 1.0}, {"occupancy_limit", 1.0}})
    all.measured(name, value, "");
  for (const auto& [name, value] : metrics) all.measured(name, value, "");
  return all;
}

TEST(CardRules, NameTheFaultThatAKernelWasMadeWith) {
  const json kernels = json::parse(base::read_file(std::string(HONE_SOURCE_DIR) + "/test/cases/diagnose/card_metrics.json").value());
  ASSERT_GE(kernels.size(), 24);
  int right = 0;
  std::string wrong;
  for (const auto& [name, one] : kernels.items()) {
    Metrics metrics;
    for (const auto& [metric, value] : one["metrics"].items()) metrics.measured(metric, value.get<double>(), "");
    const Diagnosis found = diagnose(metrics, {kPlain, {}, {}});
    const auto expected = one["expect"].get<std::vector<std::string>>();
    if (std::find(expected.begin(), expected.end(), found.bottleneck) != expected.end()) ++right;
    else wrong += "\n  " + name + ": " + found.bottleneck + ", " + found.says;
    EXPECT_FALSE(found.evidence.empty()) << name;
    ASSERT_FALSE(found.actions.empty()) << name;
    EXPECT_GT(found.actions.front().gain, 1.05) << name;
    for (const Action& action : found.actions) EXPECT_LE(action.saved, 1 - found.light + 1e-9) << name << ": " << action.to_string();
  }
  EXPECT_GE(right, static_cast<int>(0.95 * static_cast<double>(kernels.size()))) << wrong;
}

TEST(CardRules, WaitingForMemoryAsksForMoreOnItsWay) {
  const Diagnosis d = diagnose(counted({{"memory_stall_share", 0.9}}), {kRows, kConfig, {}});
  EXPECT_EQ(d.bottleneck, kFewBytes);
  ASSERT_FALSE(d.actions.empty());
  std::vector<std::string> tunables;
  for (const Action& a : d.actions)
    if (a.kind == Action::Kind::kTunable && a.cause == kFewBytes) tunables.push_back(a.to_string());
  EXPECT_THAT(tunables, testing::UnorderedElementsAre("VEC 4 -> 8", "UNROLL 2 -> 4", "WORDS 2 -> 4"));
}

TEST(CardRules, FewWarpsByRegistersAsksForFewerOfThem) {
  Metrics m = counted({{"memory_stall_share", 0.9}, {"occupancy_limit", 0.125}, {"limited_by_registers", 1}});
  const Diagnosis d = diagnose(m, {kRows, kConfig, {}});
  EXPECT_EQ(d.bottleneck, kOccupancy);
  const auto action = std::find_if(d.actions.begin(), d.actions.end(), [](const Action& a) { return a.cause == kOccupancy && a.kind == Action::Kind::kTunable; });
  ASSERT_NE(action, d.actions.end());
  EXPECT_LT(action->to, action->from);
}

TEST(CardRules, NothingCountedGoesByCodeAndPlan) {
  Metrics m;
  m.measured("time_ns", 1e6, "");
  m.measured("light", 0.3, "");
  m.measured("hot_share", 0.5, "");
  m.modelled("occupancy_modelled", 1, "");
  m.modelled("waves", 0.1, "");
  m.absent("dram_share", "there is no ncu");
  EXPECT_EQ(diagnose(m, {kRows, kConfig, {}}).bottleneck, kTail);
  m.add({"waves", 20, Origin::kModelled, ""});
  EXPECT_EQ(diagnose(m, {kRows, kConfig, {}}).bottleneck, kUnknown);
  m.modelled("spill_bytes", 400, "");
  EXPECT_EQ(diagnose(m, {kRows, kConfig, {}}).bottleneck, kSpills);
  m.modelled("code_load_bytes", 2, "");
  m.add({"spill_bytes", 0, Origin::kModelled, ""});
  EXPECT_EQ(diagnose(m, {kRows, kConfig, {}}).bottleneck, kFewBytes);
}

TEST(CardRules, AtTheSpeedOfLightNothingIsProposed) {
  const Diagnosis d = diagnose(counted({{"light", 0.95}, {"memory_stall_share", 0.9}}), {kRows, kConfig, {}});
  EXPECT_EQ(d.bottleneck, kLight);
  EXPECT_TRUE(d.actions.empty());
  Metrics untimed;
  EXPECT_EQ(diagnose(untimed, {kRows, kConfig, {}}).bottleneck, kUnknown);
}

}  // namespace
}  // namespace hone::diagnose
