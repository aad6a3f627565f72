// What contests find out, over many modelled ones.
#include "hone/evaluate/measure/contest_testing.h"

namespace hone::evaluate {
namespace {

// A library on a shared machine, half as slow again as the candidate: one of its processes in ten takes
// eight times as long. Costs as on softmax of 4096 x 4096, the time of one of three workloads in a run of
// 60 s: 0.4 of it for the promotion.
TEST(Contest, ALargeDifferenceIsCalledThroughRoughProcesses) {
  int called = 0;
  constexpr int kTrials = 200;
  for (uint64_t seed = 0; seed < kTrials; ++seed) {
    FakeArena a = arena({{.ns = 13e6, .cost_s = 0.07},
                         {.ns = 1.5e6, .start_s = 0.08, .luck = 0.08, .wild_share = 0.1, .wild = 8},
                         {.ns = 1.8e6, .start_s = 0.08, .luck = 0.08, .wild_share = 0.1, .wild = 8}}, seed);
    const ContestResult r = play(a, 3, options(8), seed);
    called += r.opponents[1].comparer->decision() == Comparison::kFaster;
  }
  EXPECT_GE(called, kTrials * 95 / 100) << called;
}

TEST(LongContest, EqualsAreRarelyCalled) {
  int called = 0;
  constexpr int kTrials = 300;
  for (uint64_t seed = 0; seed < kTrials; ++seed) {
    FakeArena a = arena({{.luck = 0.05}, {.wild_share = 0.1, .wild = 4}}, seed);
    const ContestResult r = play(a, 2, options(20), seed);
    for (const Standing& s : r.opponents) called += s.comparer->decision() == Comparison::kFaster;
  }
  EXPECT_LE(called, 2 * kTrials / 100) << called;
}

}  // namespace
}  // namespace hone::evaluate
