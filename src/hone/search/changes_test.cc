#include "hone/search/changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hone/base/random.h"

namespace hone::search {
namespace {

using diagnose::Metrics, diagnose::Role;

kernel::Header header() {
  return kernel::parse_kernel(R"(/* hone
language = "cuda"
tunables = { VEC = [1, 2, 4], STAGES = [1, 2], UNROLL = [1, 2, 4] }
constraints = ["VEC * UNROLL <= 8"]
[[launch]]
kernel = "f"
grid = ["1"]
block = ["32"]
args = ["x"]
*/
)", "test")
      ->header;
}

Metrics kernel_that_waits(double share) {
  Metrics metrics;
  metrics.measured("memory_stall_share", share, "");
  metrics.measured("dram_share", 0.4, "");
  metrics.measured("light", 0.5, "");
  return metrics;
}

/// Wider loads help who waits for memory, as much as it waits, and hurt who does not; unrolling does nothing.
Changes learnt(int changes) {
  base::Rng rng(7);
  Changes all;
  for (int i = 0; i < changes; ++i) {
    const double share = rng.uniform();
    all.add(kernel_that_waits(share), Role::kVector, 1, 2, share - 0.5);
    all.add(kernel_that_waits(share), Role::kVector, 2, 1, 0.5 - share);
    all.add(kernel_that_waits(share), Role::kUnroll, 1, 2, 0);
  }
  return all;
}

double effect_of(const std::vector<tune::Effect>& effects, const std::string& tunable, int64_t to) {
  for (const tune::Effect& e : effects)
    if (e.tunable == tunable && e.to == to) return e.log_gain;
  ADD_FAILURE() << "nothing is said of " << tunable << " -> " << to;
  return 0;
}

TEST(ChangesTest, what_a_change_does_depends_on_the_metrics) {
  const Changes changes = learnt(150);
  const kernel::Config config = {{"VEC", 2}, {"STAGES", 1}, {"UNROLL", 1}};
  const auto waiting = changes.expect(kernel_that_waits(0.9), header(), config, {}), busy = changes.expect(kernel_that_waits(0.1), header(), config, {});
  EXPECT_GT(effect_of(waiting, "VEC", 4), 0.15);
  EXPECT_LT(effect_of(waiting, "VEC", 1), -0.15);
  EXPECT_LT(effect_of(busy, "VEC", 4), -0.15);
  EXPECT_GT(effect_of(busy, "VEC", 1), 0.15);
  EXPECT_NEAR(effect_of(waiting, "UNROLL", 2), 0, 0.05);
}

/// That counters were not read does not mean that they were zero: another forest speaks, of what else is known.
TEST(ChangesTest, of_kernels_without_counters_what_is_known_without_them) {
  base::Rng rng(7);
  Changes changes;
  const auto kernel = [](double share, double lanes) {
    Metrics metrics;
    if (share >= 0) metrics.measured("memory_stall_share", share, ""), metrics.measured("dram_share", 0.4, "");
    metrics.measured("lane_share", lanes, "");
    return metrics;
  };
  // Wider loads help who waits, and hurt who does not; unrolling helps where lanes are idle, and counters say nothing of that.
  for (int i = 0; i < 150; ++i) {
    const double share = rng.uniform(), lanes = rng.uniform();
    changes.add(kernel(share, lanes), Role::kVector, 2, 4, share - 0.5);
    changes.add(kernel(share, lanes), Role::kUnroll, 1, 2, 0.5 - lanes);
  }
  const kernel::Config config = {{"VEC", 2}, {"STAGES", 1}, {"UNROLL", 1}};
  const auto counted = changes.expect(kernel(0.1, 0.1), header(), config, {}), uncounted = changes.expect(kernel(-1, 0.1), header(), config, {});
  EXPECT_LT(effect_of(counted, "VEC", 4), -0.15);
  EXPECT_NEAR(effect_of(uncounted, "VEC", 4), 0, 0.1);
  EXPECT_GT(effect_of(uncounted, "UNROLL", 2), 0.15);
}

TEST(ChangesTest, says_nothing_of_what_it_has_not_seen_or_constraints_exclude) {
  const auto effects = learnt(150).expect(kernel_that_waits(0.9), header(), {{"VEC", 4}, {"STAGES", 1}, {"UNROLL", 2}}, {});
  for (const tune::Effect& e : effects) {
    EXPECT_NE(e.tunable, "STAGES");
    EXPECT_FALSE(e.tunable == "UNROLL" && e.to == 4) << "16 > 8";
  }
  EXPECT_EQ(effects.size(), 3U);
  EXPECT_TRUE(learnt(5).expect(kernel_that_waits(0.9), header(), {{"VEC", 1}, {"STAGES", 1}, {"UNROLL", 1}}, {}).empty());
}

}  // namespace
}  // namespace hone::search
