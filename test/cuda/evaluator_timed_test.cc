// The whole evaluator on the pretend card: hidden shapes, screening, promotion.
#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>

#include "hone/base/file.h"
#include "hone/evaluate/evaluator.h"
#include "hone/target/card.h"

namespace hone::evaluate {
namespace {

class CudaEvaluator : public testing::Test {
 protected:
  static void SetUpTestSuite() { setenv("HONE_CUDA_DRIVER", HONE_PRETEND_CUDA, 1); }
  void SetUp() override {
    auto toolchain = target::cuda_toolchain("sm_90a");
    if (!toolchain) GTEST_SKIP() << toolchain.error().to_string();
    auto card = target::Card::open("cuda:0");
    ASSERT_TRUE(card) << card.error().to_string();
    EvaluatorOptions options;
    options.max_pairs = 20;
    options.sampling_seconds = 2;
    auto made = card_evaluator(task_, std::move(*toolchain), *card, options);
    ASSERT_TRUE(made) << made.error().to_string();
    evaluator_ = std::move(*made);
  }
  static kernel::Kernel kernel(const std::string& name) {
    const std::string file = std::string(HONE_CUDA_TESTS) + "/pretend_" + name + ".cu";
    return kernel::parse_kernel(base::read_file(file).value(), file).value();
  }
  Screening screen(const std::string& name) {
    auto screening = evaluator_->screen(kernel(name));
    EXPECT_TRUE(screening) << screening.error().to_string();
    return screening ? *screening : Screening{};
  }

  task::Task task_ = task::parse_task(base::read_file(std::string(HONE_CUDA_TESTS) + "/negate.toml").value(), "negate.toml").value();
  std::unique_ptr<Evaluator> evaluator_;
};

TEST_F(CudaEvaluator, ScreensGoodAndBad) {
  const Screening good = screen("negate");
  EXPECT_TRUE(good.verdict.accepted()) << good.verdict.reason;
  ASSERT_EQ(good.median_ns.size(), 1);
  EXPECT_GT(good.median_ns[0], 0);
  EXPECT_EQ(good.score, 1) << "there is no yardstick";
  EXPECT_EQ(screen("wrong").verdict.kind, VerdictKind::kWrong);
  EXPECT_EQ(screen("partial").verdict.kind, VerdictKind::kWrong);
  const Verdict outside = screen("outside").verdict;
  EXPECT_EQ(outside.kind, VerdictKind::kOutOfBounds) << outside.reason;
  const Verdict far = screen("far").verdict;
  EXPECT_EQ(far.kind, VerdictKind::kOutOfBounds) << far.reason;
  EXPECT_THAT(far.reason, testing::HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"));
  EXPECT_TRUE(screen("negate").verdict.accepted()) << "after all of them";
}

TEST_F(CudaEvaluator, ScreensAgainstAYardstick) {
  ASSERT_TRUE(evaluator_->set_yardstick(kernel("negate")));
  const Screening slow = screen("slow");
  EXPECT_TRUE(slow.verdict.accepted()) << slow.verdict.reason;
  EXPECT_GT(slow.score, 0);
  EXPECT_LT(slow.score, 0.5);
}

TEST_F(CudaEvaluator, PromotesAgainstItselfAndSlower) {
  Opponent itself, slow;
  itself.name = "itself";
  itself.kernel = kernel("negate");
  slow.name = "slow";
  slow.kernel = kernel("slow");
  const auto promoted = evaluator_->promote(kernel("negate"), {itself, slow});
  ASSERT_TRUE(promoted) << promoted.error().to_string();
  ASSERT_TRUE(promoted->verdict.accepted()) << promoted->verdict.reason << promoted->verdict.detail;
  EXPECT_TRUE(promoted->bitwise_deterministic);
  EXPECT_THAT(promoted->absent, testing::IsEmpty());
  EXPECT_TRUE(promoted->sanitized_shapes > 0 || !promoted->sanitizers_absent.empty());
  ASSERT_EQ(promoted->workloads.size(), 1);
  const WorkloadResult& w = promoted->workloads[0];
  EXPECT_EQ(w.bytes, 2 * 65536 * 4);
  EXPECT_GT(w.memory_ns, 0);
  EXPECT_GT(w.hot_ns, 0);
  EXPECT_EQ(w.bound_by, "memory");
  ASSERT_EQ(w.opponents.size(), 2);
  EXPECT_EQ(w.opponents[0].opponent, "itself");
  EXPECT_GT(w.opponents[0].ratio.median, 0.5);
  EXPECT_LT(w.opponents[0].ratio.median, 2);
  EXPECT_EQ(w.opponents[1].comparison, Comparison::kFaster);
  EXPECT_GE(w.opponents[1].opponent_ns, 2e6);
}

TEST_F(CudaEvaluator, RefusesToPromoteABadKernel) {
  for (const char* name : {"wrong", "far"}) {
    const auto promoted = evaluator_->promote(kernel(name), {});
    ASSERT_TRUE(promoted) << promoted.error().to_string();
    EXPECT_FALSE(promoted->verdict.accepted()) << name;
  }
}

TEST_F(CudaEvaluator, NobodyRemembersAndEveryCallMayBeJudged) {
  for (const char* name : {"remembers", "sometimes"}) {
    const auto promoted = evaluator_->promote(kernel(name), {});
    ASSERT_TRUE(promoted) << promoted.error().to_string();
    EXPECT_EQ(promoted->verdict.kind, VerdictKind::kWrong) << name << ": " << promoted->verdict.reason;
  }
  const Screening remembers = screen("remembers");
  EXPECT_EQ(remembers.verdict.kind, VerdictKind::kWrong);
  EXPECT_THAT(remembers.verdict.reason, testing::HasSubstr("nearly the same inputs"));
}

}  // namespace
}  // namespace hone::evaluate
