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

/// `file`: the kernels of test/diagnosis, each with what was measured of it on an H200. `share` of the first-named causes is right.
void name_the_faults(const char* file, double share) {
  const json kernels = json::parse(base::read_file(std::string(HONE_SOURCE_DIR) + "/test/cases/diagnose/" + file).value());
  ASSERT_GE(kernels.size(), 35);
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
  EXPECT_GE(right, static_cast<int>(share * static_cast<double>(kernels.size()))) << wrong;
}

TEST(CardRules, NameTheFaultThatAKernelWasMadeWith) { name_the_faults("card_metrics.json", 0.95); }

/// HONE_NCU=none: timed with stages left out, and counted by instructions of its own.
TEST(CardRules, NameItWithoutCountersToo) { name_the_faults("card_variants.json", 34.0 / 35); }

TEST(CardRules, WaitingForMemoryAsksForMoreOnItsWay) {
  const Diagnosis d = diagnose(counted({{"memory_stall_share", 0.9}}), {kRows, kConfig, {}});
  EXPECT_EQ(d.bottleneck, kFewBytes);
  ASSERT_FALSE(d.actions.empty());
  std::vector<std::string> tunables;
  for (const Action& a : d.actions)
    if (a.kind == Action::Kind::kTunable && a.cause == kFewBytes) tunables.push_back(a.to_string());
  EXPECT_THAT(tunables, ::testing::UnorderedElementsAre("VEC 4 -> 8", "UNROLL 2 -> 4", "WORDS 2 -> 4"));
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

/// Where nothing was counted, but kernels were timed with stages left out: what a stage saves, unless another explains it.
TEST(CardRules, StagesLeftOutTellWhatWaits) {
  struct Case {
    std::string_view expected;
    std::vector<std::pair<const char*, double>> metrics;
  };
  const Case cases[] = {
      {kFewBytes, {{"without_loads", 0.2}, {"without_memory", 0.15}, {"occupancy_modelled", 1.0}}},
      {kOccupancy, {{"without_loads", 0.2}, {"without_memory", 0.15}, {"occupancy_modelled", 0.06}}},
      {kUncoalesced, {{"without_loads", 0.2}, {"without_memory", 0.15}, {"without_spread", 0.3}, {"excess_sector_share", 0.8}}},
      {kRedundant, {{"without_loads", 0.3}, {"without_memory", 0.3}, {"l1_read_ratio", 12.0}}},
      {kBanks, {{"without_loads", 0.9}, {"without_memory", 0.8}, {"without_conflicts", 0.3}, {"shared_conflict_share", 0.9}}},
      {kBarriers, {{"without_loads", 0.9}, {"without_memory", 0.8}, {"without_barriers", 0.4}}},
      {kAtomics, {{"without_loads", 0.9}, {"without_memory", 0.9}, {"without_atomics", 0.2}}},
      {kDivergence, {{"without_loads", 0.95}, {"without_memory", 0.95}, {"lane_share", 0.1}}},
      {kArithmetic, {{"without_loads", 0.95}, {"without_memory", 0.95}, {"issue_share", 0.3}}},
      {kIssue, {{"without_loads", 0.95}, {"without_memory", 0.95}, {"issue_share", 0.9}}},
      {kSpills, {{"without_loads", 0.6}, {"without_memory", 0.5}, {"without_local", 0.4}, {"occupancy_modelled", 1.0}}},
      {kTail, {{"without_loads", 0.6}, {"without_memory", 0.5}, {"sm_active_share", 0.1}}},
  };
  for (const Case& c : cases) {
    Metrics m;
    for (const auto& [name, value] : {std::pair("time_ns", 1e6), {"light", 0.2}, {"memory_light", 0.2}, {"launches", 1.0}, {"lane_share", 1.0},
                                      {"occupancy_modelled", 1.0}, {"without_work", 0.01}})
      m.add({name, value, Origin::kMeasured, ""});
    for (const auto& [name, value] : c.metrics) m.add({name, value, Origin::kMeasured, ""});
    m.absent("dram_share", "there is no ncu");
    const Diagnosis found = diagnose(m, {kRows, kConfig, {}});
    EXPECT_EQ(found.bottleneck, c.expected) << found.says;
    ASSERT_FALSE(found.actions.empty()) << c.expected;
    EXPECT_FALSE(found.evidence.empty()) << c.expected;
    for (const Action& action : found.actions) EXPECT_LE(action.saved, 1 - found.light + 1e-9) << c.expected << ": " << action.to_string();
  }
}

/// A kernel none of whose stages costs anything has no known cause.
TEST(CardRules, NoStageLeftOutSavesAnything) {
  Metrics m;
  for (const auto& [name, value] : {std::pair("time_ns", 1e6), {"light", 0.2}, {"memory_light", 0.2}, {"launches", 1.0}, {"without_loads", 1.0}, {"without_memory", 1.0},
                                    {"without_work", 1.0}})
    m.measured(name, value, "");
  const Diagnosis found = diagnose(m, {kRows, kConfig, {}});
  EXPECT_EQ(found.bottleneck, kUnknown);
  EXPECT_THAT(found.says, ::testing::HasSubstr("no faster with any stage left out"));
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
