// What a run says it gained, where nothing that is timed can be believed: scores are chained from yardstick to yardstick.
#include <gtest/gtest.h>

#include <cmath>

#include "hone/engine/testing/fake_run.h"

namespace hone::engine {
namespace {

using testing::Bench;
using testing::must;

/// Ratios off by up to a factor of ten, each time anew, but for the close looks, which have more pairs.
class NoisyEvaluator final : public evaluate::Evaluator {
 public:
  explicit NoisyEvaluator(std::unique_ptr<evaluate::Evaluator> quiet) : quiet_(std::move(quiet)) {}
  Result<target::BuildOutcome> build(const kernel::Kernel& kernel) override { return quiet_->build(kernel); }
  Result<evaluate::Screening> screen(const kernel::Kernel& kernel) override {
    HONE_TRY(evaluate::Screening screening, quiet_->screen(kernel));
    screening.score *= std::pow(10, 2 * testing::draw(fmt::format("noise {}", ++looks_)) - 1);
    return screening;
  }
  Result<evaluate::Screening> screen_closely(const kernel::Kernel& kernel) override { return quiet_->screen(kernel); }
  Status set_yardstick(const kernel::Kernel& kernel) override { return quiet_->set_yardstick(kernel); }
  Result<evaluate::Promotion> promote(const kernel::Kernel& kernel, const std::vector<evaluate::Opponent>& opponents) override { return quiet_->promote(kernel, opponents); }
  std::vector<double> bounds_ns() const override { return quiet_->bounds_ns(); }

 private:
  std::unique_ptr<evaluate::Evaluator> quiet_;
  int looks_ = 0;
};

TEST(Gain, is_measured_against_the_first_kernel_and_not_a_product_of_lucky_looks) {
  Bench bench;
  archive::Store store = bench.open();
  Services services = bench.services(store);
  services.evaluator = [make = services.evaluator]() -> Result<std::unique_ptr<evaluate::Evaluator>> {
    HONE_TRY(auto quiet, make());
    return std::make_unique<NoisyEvaluator>(std::move(quiet));
  };
  RunOptions options;
  options.budget_seconds = 0;
  options.budget_evaluations = 40;
  const RunResult result = must(start_run(bench.task, options, services));
  double chained = 0, first = 0, best = 0;
  for (const nlohmann::json& e : bench.events("screened")) chained = std::max(chained, e.at("score").get<double>());
  for (const kernel::Kernel& kernel : bench.all_kernels()) {
    if (kernel.hash() == bench.events("screened").front().at("kernel")) first = bench.truth.time_ns(kernel);
    if (kernel.hash() == result.champion) best = bench.truth.time_ns(kernel);
  }
  ASSERT_GT(chained, 100) << "the noise is there";
  const double gained = nlohmann::json::parse(result.summary_json).at("gain_over_first");
  // The champion may have raced against the yardstick in one noisy look.
  EXPECT_LT(gained, 10.1 * first / best);
  EXPECT_GT(gained, 0.09 * first / best);
  EXPECT_DOUBLE_EQ(bench.events("champion").front().at("score").get<double>(), gained);
  EXPECT_TRUE(replay_run(bench.info(), bench.task, services));
}

}  // namespace
}  // namespace hone::engine
