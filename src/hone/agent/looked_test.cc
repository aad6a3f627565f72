// What prompts say of kernels that were looked at: times, ratios and how they came about, errors, settings.
#include "hone/agent/looked.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::agent {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Judged accepted(double score, double ns, const std::string& yardstick, kernel::Config config = {}) {
  Judged judged;
  judged.accepted = true;
  judged.verdict = "accepted";
  judged.score = score;
  judged.light = 1e6 / ns;
  judged.source = "source";
  judged.config = std::move(config);
  judged.yardstick = yardstick;
  judged.screening.median_ns = {ns};
  judged.screening.ratio = {1.5};
  judged.screening.ratio_low = {1.25};
  judged.screening.ratio_high = {1.75};
  judged.screening.repetitions = 3;
  return judged;
}

Judged refused(kernel::Config config) {
  Judged judged;
  judged.verdict = "wrong";
  judged.reason = "y is off";
  judged.source = "source";
  judged.config = std::move(config);
  return judged;
}

/// On an emulator every right kernel has the score 1, which is no speed.
TEST(Looked, where_nobody_takes_times_none_is_spoken_of) {
  Looked looked({{"tiny", 0}});
  Judged judged = accepted(1, 1e6, "", {{"BLOCK", 256}});
  judged.screening.median_ns.clear();
  judged.screening.verdict.accuracy = evaluate::Accuracy{"y", "normal", "V=9", 1e-8, 2e-8, 8e-8};
  looked.add("a", judged);
  judged.config = {{"BLOCK", 128}};
  looked.add("b", judged);
  EXPECT_THAT(looked.facts("a", "b"), HasSubstr("right on everything that was tried; nothing is timed here"));
  EXPECT_THAT(looked.facts("a", "b"), HasSubstr("largest error 1e-08"));
  EXPECT_EQ(looked.settings("source", "a", "b", 1000), "- BLOCK=256 (as above): right\n- other settings that are right: 1\n");
  Judged wrong = refused({{"BLOCK", 64}});
  looked.add("c", wrong);
  EXPECT_EQ(looked.facts("c", "b"), "nothing was measured yet\n");
}

TEST(Looked, says_time_bound_and_ratio_with_their_noise) {
  Looked looked({{"small", 1e6}});
  looked.add("a", accepted(1, 4e6, ""));
  looked.add("b", accepted(2, 2e6, "a"));
  const std::string text = looked.facts("b", "b");
  EXPECT_THAT(text, HasSubstr("small: 2 ms a call, caches cold, median of 3"));
  EXPECT_THAT(text, HasSubstr("the bound is 1 ms, so 50 % of the bound's speed"));
  EXPECT_THAT(text, HasSubstr("1.5 times the speed of the run's yardstick then, side by side (3 pairs: 1.25 to 1.75)"));
  EXPECT_EQ(looked.brief("b"), "2 ms a call, 50 % of the bound's speed");
  EXPECT_EQ(looked.facts("c", "b"), "nothing was measured yet\n");
}

TEST(Looked, says_how_a_ratio_to_the_best_came_about) {
  Looked looked({{"small", 1e6}});
  looked.add("first", accepted(1, 8e6, ""));
  looked.add("second", accepted(2, 4e6, "first"));
  looked.add("best", accepted(4, 2e6, "first"));
  looked.add("later", accepted(3, 3e6, "best"));
  looked.add("old", accepted(1, 8e6, "older"));
  EXPECT_THAT(looked.facts("later", "best"), HasSubstr("0.75 times the speed of the best of the run (measured side by side)"));
  EXPECT_THAT(looked.facts("first", "best"), HasSubstr("0.25 times the speed of the best of the run (measured side by side)"));
  EXPECT_THAT(looked.facts("second", "best"), HasSubstr("0.5 times the speed of the best of the run (each timed beside the same third kernel)"));
  EXPECT_THAT(looked.facts("old", "best"), HasSubstr("through several kernels in between, so not exact"));
  EXPECT_THAT(looked.facts("best", "best"), Not(HasSubstr("best of the run (")));
}

TEST(Looked, says_errors_and_what_they_may_be) {
  Looked looked({{"small", 1e6}});
  Judged judged = accepted(1, 4e6, "");
  judged.screening.verdict.accuracy = {"y", "sparse", "B=3 S=7", 1.25e-7, 2.5e-7, 1e-6, 1e-8, 4e-8};
  judged.screening.at_size = {"y", "normal", "B=64 S=512", 3e-8, 6e-8, 2.4e-7, 1e-9, 8e-9};
  looked.add("a", judged);
  const std::string text = looked.facts("a", "a");
  EXPECT_THAT(text, HasSubstr("nearest to its bound: output y, sparse inputs, B=3 S=7: largest error 1.25e-07 of at most 1e-06 (the anchor's own: 2.5e-07), "
                              "rms 1e-08 of at most 4e-08"));
  EXPECT_THAT(text, HasSubstr("at the workloads' own shapes: output y, normal inputs, B=64 S=512: largest error 3e-08 of at most 2.4e-07"));
}

TEST(Looked, lists_settings_best_first_within_a_limit) {
  Looked looked({{"small", 1e6}});
  for (int rows = 1; rows <= 20; ++rows) looked.add("k" + std::to_string(rows), accepted(rows, 20e6 / rows, "k20", {{"ROWS", rows}}));
  for (int rows = 21; rows <= 25; ++rows) looked.add("k" + std::to_string(rows), refused({{"ROWS", rows}}));
  const std::string text = looked.settings("source", "k18", "k20", 400);
  EXPECT_LT(text.find("ROWS=20: 1 ms a call"), text.find("ROWS=19: 1.053 ms a call"));
  EXPECT_THAT(text, HasSubstr("ROWS=18 (as above)"));
  EXPECT_THAT(text, HasSubstr("0.95 times the speed of the best"));
  EXPECT_THAT(text, HasSubstr("; the best of the run"));
  EXPECT_THAT(text, Not(HasSubstr("ROWS=1:")));
  EXPECT_THAT(text, HasSubstr("slower ones left out"));
  EXPECT_THAT(text, HasSubstr("ROWS=21: refused, wrong: y is off"));
  EXPECT_THAT(text, HasSubstr("2 more were refused"));
  EXPECT_LT(text.size(), 800U);
  EXPECT_EQ(looked.fastest("source"), "k20");
  EXPECT_EQ(looked.settings("another", "", "k20", 400), "none was tried yet\n");
}

}  // namespace
}  // namespace hone::agent
