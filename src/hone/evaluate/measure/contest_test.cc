// The rules of a contest, on a modelled machine.
#include "hone/evaluate/measure/contest_testing.h"

namespace hone::evaluate {
namespace {

TEST(Contest, AClearOpponentIsCalledFromFiveProcessesAndLeaves) {
  FakeArena a = arena({{.ns = 3e6}, {.ns = 1.001e6}});
  const ContestResult r = play(a, 2, options(60));
  const Standing& clear = r.opponents[0];
  EXPECT_EQ(clear.comparer->decision(), Comparison::kFaster);
  EXPECT_EQ(clear.comparer->processes(), 5);
  EXPECT_EQ(clear.comparer->pairs(), 10);
  EXPECT_FALSE(a.running(kFirstOpponent));
  EXPECT_FALSE(clear.time_was_up);
  // What it left goes to the other, up to the cap.
  EXPECT_EQ(r.opponents[1].comparer->pairs(), 200);
  EXPECT_EQ(a.batches(kFirstOpponent + 1), 200);
  EXPECT_EQ(r.opponents[1].comparer->stop_reason(), StopReason::kCap);
}

TEST(Contest, EveryProcessIsFreshOnBothSides) {
  FakeArena a = arena({{.ns = 1.001e6}});
  const ContestResult r = play(a, 1, options(10));
  EXPECT_EQ(a.processes(kCandidate), r.opponents[0].comparer->processes());
  EXPECT_EQ(a.processes(kFirstOpponent), r.opponents[0].comparer->processes());
  EXPECT_EQ(a.deals, r.opponents[0].comparer->pairs());
}

TEST(Contest, TimeIsKept) {
  for (const double seconds : {3.0, 8.0, 20.0}) {
    FakeArena a = arena({{.ns = 1.001e6}, {.ns = 1.0e6, .start_s = 0.1}, {.ns = 1.02e6, .cost_s = 0.2}});
    const ContestResult r = play(a, 3, options(seconds));
    EXPECT_LE(r.seconds, seconds);
    EXPECT_GE(r.seconds, 0.8 * seconds) << "undecided, and time is left";
    for (const Standing& s : r.opponents) EXPECT_TRUE(s.time_was_up);
  }
}

TEST(Contest, OpponentsThatCostTheSameShareTheCandidatesSamples) {
  FakeArena a = arena({{.ns = 2e6}, {.ns = 3e6}, {.ns = 2.5e6}});
  ContestOptions rules = options(20);
  rules.companion_pairs = 6;
  const ContestResult r = play(a, 3, rules);
  for (const Standing& s : r.opponents) EXPECT_EQ(s.comparer->processes(), 5);
  EXPECT_EQ(a.processes(kCandidate), 5);
}

TEST(Contest, ASlowOpponentTakesItsShareAndNoMore) {
  // The ten that a call takes at least are half of the time.
  FakeArena a = arena({{.ns = 50e6, .cost_s = 1.2}, {.ns = 1.3e6}});
  const ContestResult r = play(a, 2, options(25));
  EXPECT_EQ(r.opponents[0].comparer->decision(), Comparison::kFaster);
  EXPECT_EQ(a.batches(kFirstOpponent), 10);
  EXPECT_EQ(r.opponents[1].comparer->decision(), Comparison::kFaster);
  EXPECT_LE(r.seconds, 25);
}

TEST(Contest, AnOpponentTooSlowForItsShareGetsOneLook) {
  FakeArena a = arena({{.ns = 500e6, .cost_s = 12}, {.ns = 1.3e6}});
  const ContestResult r = play(a, 2, options(24));
  EXPECT_EQ(a.batches(kFirstOpponent), 1);
  EXPECT_NEAR(r.opponents[0].comparer->ratio().median, 500, 50);
  EXPECT_EQ(r.opponents[0].comparer->decision(), Comparison::kInconclusive);
  EXPECT_TRUE(r.opponents[0].time_was_up);
  EXPECT_EQ(r.opponents[1].comparer->decision(), Comparison::kFaster);
}

TEST(Contest, APromisingComparisonGetsUpToThreeTimesTheTimeOfAHopelessOne) {
  // Both noisy; one is 25 % slower in truth, one is equal.
  double promising = 0, hopeless = 0;
  int leaning = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    FakeArena a = arena({{.ns = 1.25e6, .cost_s = 0.5, .luck = 0.25}, {.ns = 1e6, .cost_s = 0.5, .luck = 0.25}}, seed);
    const ContestResult r = play(a, 2, options(40), seed);
    // Only those that were promising to the end without being called compare shares cleanly.
    if (r.opponents[0].comparer->decision() != Comparison::kInconclusive || r.opponents[1].comparer->leaning() != Comparison::kInconclusive ||
        r.opponents[0].comparer->leaning() == Comparison::kInconclusive)
      continue;
    ++leaning;
    promising += r.opponents[0].seconds;
    hopeless += r.opponents[1].seconds;
    EXPECT_LE(r.opponents[0].seconds, 3.6 * r.opponents[1].seconds) << seed;
  }
  ASSERT_GE(leaning, 3);
  EXPECT_GT(promising, 1.3 * hopeless);
}

TEST(Contest, EverybodyGetsAFirstLookWithoutAnyTime) {
  FakeArena a = arena({{.ns = 3e6, .cost_s = 1}, {.ns = 2e6, .cost_s = 5}});
  const ContestResult r = play(a, 2, options(0));
  EXPECT_FALSE(r.candidate_failed);
  EXPECT_EQ(r.opponents[0].comparer->pairs(), 1);
  EXPECT_EQ(r.opponents[1].comparer->pairs(), 1);
  EXPECT_GE(r.companion_ratio.size(), 1u);
}

TEST(Contest, PreparingIsNotCounted) {
  FakeArena a = arena({{.ns = 1.3e6, .prepare_s = 40}});
  const ContestResult r = play(a, 1, options(8));
  EXPECT_EQ(r.opponents[0].comparer->decision(), Comparison::kFaster);
  EXPECT_LE(r.seconds, 8);
}

TEST(Contest, DrawingWhatTakesLongIsNotCounted) {
  FakeArena a = arena({{.ns = 1.3e6}});
  a.open_s = 40;
  const ContestResult r = play(a, 1, options(8));
  EXPECT_EQ(r.opponents[0].comparer->decision(), Comparison::kFaster);
  EXPECT_LE(r.seconds, 8);
  EXPECT_GE(a.seconds(), 40);
}

TEST(Contest, WithoutOpponentsTheCompanionIsMetTwelveTimes) {
  FakeArena a = arena({});
  const ContestResult r = play(a, 0, options(20));
  EXPECT_EQ(r.companion_ratio.size(), 12u);
  EXPECT_EQ(r.candidate_ns.size(), 12u);
  EXPECT_EQ(a.processes(kCandidate), 6);
}

TEST(Contest, ACallThatTheClockMadeIsNone) {
  // The candidate needs more cycles and had a faster clock; the other two opponents are slower by any measure.
  FakeArena a({{.mhz = 1980}, {}, {.ns = 1.2e6, .mhz = 1400}, {.ns = 1.2e6, .mhz = 1900}, {.ns = 1.2e6}}, 1);
  const ContestResult r = play(a, 3, options(30));
  for (const Standing& standing : r.opponents) EXPECT_EQ(standing.comparer->decision(), Comparison::kFaster);
  EXPECT_EQ(decision_of(r.opponents[0]), Comparison::kInconclusive);
  EXPECT_EQ(decision_of(r.opponents[1]), Comparison::kFaster);
  EXPECT_EQ(decision_of(r.opponents[2]), Comparison::kFaster);
  EXPECT_TRUE(r.opponents[2].cycle_ratio.empty());
  EXPECT_EQ(r.candidate_mhz, std::vector<double>(r.candidate_ns.size(), 1980));
}

TEST(Contest, WhoFailsIsOutAndTheOthersGoOn) {
  FakeArena a = arena({{.ns = 2e6, .fails_at = 6}, {.starts = false}, {.prepares = false}, {.ns = 2e6}});
  const ContestResult r = play(a, 4, options(30));
  EXPECT_FALSE(r.candidate_failed);
  EXPECT_TRUE(r.opponents[0].out);
  EXPECT_TRUE(r.opponents[1].out);
  EXPECT_TRUE(r.opponents[2].out);
  EXPECT_EQ(a.batches(kFirstOpponent), 7);
  EXPECT_EQ(a.processes(kFirstOpponent + 1), 1);
  EXPECT_EQ(a.processes(kFirstOpponent + 2), 0);
  EXPECT_EQ(r.opponents[3].comparer->decision(), Comparison::kFaster);
}

TEST(Contest, ACandidateThatFailsEndsIt) {
  std::vector<Model> all(3);
  all[0].fails_at = 9;
  FakeArena a(all, 1);
  const ContestResult r = play(a, 1, options(30));
  EXPECT_TRUE(r.candidate_failed);
  EXPECT_EQ(a.batches(kCandidate), 10);
  all[0] = {.starts = false};
  FakeArena b(all, 1);
  EXPECT_TRUE(play(b, 1, options(30)).candidate_failed);
  EXPECT_EQ(b.batches(kCandidate), 0);
}

TEST(Contest, AnInterruptIsPassedOn) {
  FakeArena a = arena({{}});
  a.interrupted_at = 3;
  base::Rng rng(1);
  const auto result = contest(a, 1, options(30), rng);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::kInterrupted);
}

}  // namespace
}  // namespace hone::evaluate
