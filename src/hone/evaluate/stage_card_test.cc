// A stage on a card that is none: large inputs are drawn there, and here what the oracle reads.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "hone/evaluate/stage_card_testing.h"

namespace hone::evaluate {
namespace {

/// Right answers to y = relu(x) + 1 are accepted, and wrong ones are not.
TEST(StageOnACard, TheOracleReadsWhatTheCardDrew) {
  // More elements than are compared whole.
  Played p("x = \"f32[M, N]\"", "y = relu(x) + 1", "M = 2200, N = 2001");
  const int slots[] = {0, 1};
  for (const Family family : {Family::kNormal, Family::kSparse}) {
    const int before = p.card->drawer.launches;
    p.stage->draw(0, family, 12345);
    EXPECT_GE(p.card->drawer.launches - before, 2) << "a launch a slot";
    EXPECT_EQ(p.input(0, 0), p.input(1, 0));
    p.stage->poison(slots);
    std::vector<float> right, wrong;
    for (const double x : p.input(0, 0)) right.push_back(static_cast<float>(std::max(x, 0.0)) + 1);
    for (const float y : right) wrong.push_back(y + 0.5F);
    p.put_output(0, right);
    p.put_output(1, wrong);
    const Verdict accepted = p.stage->check(0);
    EXPECT_TRUE(accepted.accepted()) << accepted.reason;
    EXPECT_EQ(p.stage->check(1).kind, VerdictKind::kWrong);
  }
}

TEST(StageOnACard, TheHostDrawsOnlyWhatIsRead) {
  Played p("x = \"f32[M, N]\"", "y = relu(x) + 1", "M = 2100, N = 2048");
  p.stage->draw(0, Family::kUniform, 7);
  const int slots[] = {0};
  p.stage->poison(slots);
  std::vector<float> right;
  for (const double x : p.input(0, 0)) right.push_back(static_cast<float>(x) + 1);
  p.put_output(0, right);
  EXPECT_TRUE(p.stage->check(0).accepted());
  // The other slot's copy on the host is never needed, and of this one's only the sample, whose places lie all over it.
  EXPECT_GT(p.parts_untouched(0), 525 + 525 / 3);
  EXPECT_LT(p.parts_untouched(0), 2 * 525);
}

TEST(StageOnACard, PoisonHasTheOracleReadAll) {
  Played p("x = \"f32[M, N]\"", "y = relu(x) + 1", "M = 1024, N = 1025");
  p.stage->draw(0, Family::kUniform, 7);
  const int slots[] = {0};
  p.stage->poison(slots);
  std::vector<float> values;
  for (const double x : p.input(0, 0)) values.push_back(static_cast<float>(x) + 1);
  values[77777] = NAN;
  p.put_output(0, values);
  const Verdict verdict = p.stage->check(0);
  EXPECT_EQ(verdict.kind, VerdictKind::kWrong);
  EXPECT_EQ(p.parts_untouched(0), 1024 * 1025 / 8192) << "the other slot's";
}

TEST(StageOnACard, WhereInfinitiesBelongAnswersAreOfTheWhole) {
  Played p("x = \"f32[M, N]\"", "y = 1 / relu(x)", "M = 2100, N = 2048");
  const int slots[] = {0};
  p.stage->draw(0, Family::kNormal, 7);
  p.stage->answer(slots);
  EXPECT_EQ(p.parts_untouched(0), 525) << "the other slot's: the sample has infinities";
  Played finite("x = \"f32[M, N]\"", "y = relu(x)", "M = 2100, N = 2048");
  finite.stage->draw(0, Family::kNormal, 7);
  finite.stage->answer(slots);
  EXPECT_GT(finite.parts_untouched(0), 525) << "a sample is enough";
}

TEST(StageOnACard, InfinitiesOutsideTheSampleAreLearntWhereTheyAreFound) {
  // One element in a million: not among those that are sampled.
  Played p("x = \"f32[M, N]\"", "y = where(x > 4.9, 1e38 * 1e38 * x, x)", "M = 2100, N = 2048");
  const int slots[] = {0};
  p.stage->draw(0, Family::kNormal, 7);
  p.stage->answer(slots);
  EXPECT_GT(p.parts_untouched(0), 525) << "a sample, as nobody knows yet";
  p.stage->poison(slots);
  std::vector<float> values;
  bool some = false;
  for (const double x : p.input(0, 0)) {
    values.push_back(x > 4.9 ? std::numeric_limits<float>::infinity() : static_cast<float>(x));
    some |= x > 4.9;
  }
  ASSERT_TRUE(some);
  p.put_output(0, values);
  const Verdict verdict = p.stage->check(0);
  ASSERT_TRUE(verdict.accepted()) << verdict.reason;
  p.stage->draw(0, Family::kNormal, 8);
  p.forget(0);
  p.stage->answer(slots);
  EXPECT_EQ(p.parts_untouched(0), 525) << "the other slot's";
}

TEST(StageOnACard, RowsThatAreReadWholeAreDrawnWhole) {
  Played p("x = \"f32[M, N]\", w = \"f32[N]\"", "y = sum(x * w, axis = 1)", "M = 1500, N = 1003");
  p.stage->draw(0, Family::kInteger, 7);
  const int slots[] = {0};
  p.stage->poison(slots);
  const auto x = p.input(0, 0), w = p.input(0, 1);
  std::vector<float> right(1500);
  for (size_t r = 0; r < 1500; ++r)
    for (size_t i = 0; i < 1003; ++i) right[r] += static_cast<float>(x[r * 1003 + i] * w[i]);
  p.put_output(0, right);
  const Verdict verdict = p.stage->check(0);
  EXPECT_TRUE(verdict.accepted()) << verdict.reason;
}

TEST(StageOnACard, ASymmetricMatrix) {
  Played p("s = { type = \"f32[D, D]\", structure = \"symmetric\" }", "y = relu(s)", "D = 1030");
  p.stage->draw(0, Family::kSparse, 3);
  const int slots[] = {0};
  p.stage->poison(slots);
  const auto s = p.input(0, 0);
  std::vector<float> right;
  for (size_t i = 0; i < s.size(); ++i) {
    ASSERT_EQ(s[i], s[i % 1030 * 1030 + i / 1030]);
    right.push_back(static_cast<float>(std::max(s[i], 0.0)));
  }
  p.put_output(0, right);
  const Verdict verdict = p.stage->check(0);
  EXPECT_TRUE(verdict.accepted()) << verdict.reason;
}

TEST(StageOnACard, IndicesAndATableThatTheHostDraws) {
  Played p("i = { type = \"i64[M]\", domain = \"index(V)\" }, t = { type = \"f32[V, D]\", domain = \"simplex\" }", "y = embedding(i, t)",
           "M = 600000, V = 150000, D = 8");
  p.stage->draw(0, Family::kNormal, 3);
  EXPECT_EQ(p.card->drawer.launches, 2) << "the indices, once a slot";
  const int slots[] = {0};
  p.stage->poison(slots);
  const auto i = p.input(0, 0), t = p.input(0, 1);
  std::vector<float> right;
  for (const double row : i)
    for (size_t d = 0; d < 8; ++d) right.push_back(static_cast<float>(t[static_cast<size_t>(row) * 8 + d]));
  p.put_output(0, right);
  const Verdict verdict = p.stage->check(0);
  EXPECT_TRUE(verdict.accepted()) << verdict.reason;
}

TEST(StageOnACard, AWrongReductionStopsIt) {
  Played p("x = \"f32[M, N]\"", "y = mean(x * x)", "M = 2100, N = 2048");
  p.stage->draw(0, Family::kNormal, 7);
  p.card->drawer.after_launch = [](std::span<const void* const> arguments) {
    if (arguments.size() != 11) return;  // fold_parts
    uint64_t values = 0;
    std::memcpy(&values, arguments[9], sizeof values);
    reinterpret_cast<double*>(values)[0] *= 1 + 1e-9;
  };
  const int slots[] = {0};
  EXPECT_DEATH(p.stage->answer(slots), "sum of node . comes to");
}

TEST(StageOnACard, OtherBitsStopIt) {
  Played p("x = \"f32[M, N]\"", "y = relu(x) + 1", "M = 1024, N = 1024");
  p.card->drawer.after_launch = [](std::span<const void* const> arguments) {
    uint64_t address = 0;
    int64_t total = 0;
    std::memcpy(&address, arguments[0], sizeof address);
    std::memcpy(&total, arguments[1], sizeof total);
    for (int64_t i = 0; i < total; i += 1024) reinterpret_cast<uint8_t*>(address)[4 * (i + 1023)] ^= 1;
  };
  EXPECT_DEATH(p.stage->draw(0, Family::kNormal, 1), "the card draws other bits");
}

TEST(StageOnACard, SmallInputsAreUploaded) {
  Played p("x = \"f32[M, N]\"", "y = relu(x) + 1", "M = 100, N = 100");
  p.stage->draw(0, Family::kNormal, 1);
  EXPECT_EQ(p.card->drawer.launches, 0);
  EXPECT_EQ(p.input(0, 0), p.input(1, 0));
  EXPECT_NE(p.input(0, 0)[0], 0);
}

}  // namespace
}  // namespace hone::evaluate
