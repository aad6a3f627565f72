// A stage on a card that is none, where a card has large reductions to do.
#include <gtest/gtest.h>

#include <cmath>

#include "hone/evaluate/stage_card_testing.h"

namespace hone::evaluate {
namespace {

/// The loss is the card's work; the host draws the blocks that are compared and the spot, and no more.
TEST(StageOnACard, ALossIsReducedOnTheCard) {
  Played p("x = \"f32[M, N]\", t = \"f32[M, N]\"", "y = mean((x - t) ** 2)", "M = 2100, N = 2048");
  p.stage->draw(0, Family::kNormal, 7);
  p.stage->begin_bounds();
  p.stage->end_bounds();
  const int slots[] = {0, 1};
  p.stage->poison(slots);
  const auto x = p.input(0, 0), t = p.input(0, 1);
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i) sum += (x[i] - t[i]) * (x[i] - t[i]);
  const auto right = static_cast<float>(sum / static_cast<double>(x.size()));
  p.put_output(0, {right});
  p.put_output(1, {right * 1.00001F});
  const Verdict accepted = p.stage->check(0);
  EXPECT_TRUE(accepted.accepted()) << accepted.reason;
  EXPECT_EQ(p.stage->check(1).kind, VerdictKind::kLessAccurate);
  EXPECT_GT(p.parts_untouched(0), 2 * 525 - 8);
  EXPECT_GT(p.parts_untouched(1), 2 * 525 - 8);
}

TEST(LongStageOnACard, StatisticsOfChannelsAreTheCardsAndTheSampleTheHosts) {
  Played p("x = \"f32[N, C, L]\", w = \"f32[C]\", b = \"f32[C]\"", "y = batch_norm(x, w, b)", "N = 16, C = 8, L = 40000");
  p.stage->draw(0, Family::kShifted, 7);
  const int slots[] = {0};
  p.stage->poison(slots);
  const auto x = p.input(0, 0), w = p.input(0, 1), b = p.input(0, 2);
  std::vector<float> right(x.size());
  for (size_t c = 0; c < 8; ++c) {
    const auto over = [&](auto what) {
      double sum = 0;
      for (size_t n = 0; n < 16; ++n)
        for (size_t l = 0; l < 40000; ++l) sum += what((n * 8 + c) * 40000 + l);
      return sum / (16 * 40000);
    };
    const double mean = over([&](size_t at) { return x[at]; });
    const double root = std::sqrt(over([&](size_t at) { return (x[at] - mean) * (x[at] - mean); }) + 1e-5);
    (void)over([&](size_t at) { return right[at] = static_cast<float>((x[at] - mean) / root * w[c] + b[c]); });
  }
  p.put_output(0, right);
  const Verdict accepted = p.stage->check(0);
  EXPECT_TRUE(accepted.accepted()) << accepted.reason;
  EXPECT_GT(p.parts_untouched(0), 625 + 100) << "of the slot that is checked, too";
}

}  // namespace
}  // namespace hone::evaluate
