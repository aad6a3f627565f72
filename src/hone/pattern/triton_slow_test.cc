// Every task of test/cases/pattern/ by plain loops in Triton and through every offer of the patterns, judged by the interpreter: a covering
// part of them in `make check`, the others in `make check-long`. Skipped without Triton.
#include "hone/pattern/families_testing.h"

#include "hone/base/random.h"
#include "hone/evaluate/evaluator.h"
#include "hone/pattern/library.h"
#include "hone/pattern/plain.h"

namespace hone::pattern {
namespace {

using families_testing::Case;

class TritonFamilies : public testing::TestWithParam<Case> {};

TEST_P(TritonFamilies, PlainLoopsAndEveryOfferAreAccepted) {
  const Case& c = GetParam();
  const auto task = families_testing::task_of(c, {{"96", "8", "4", "32"}, {"77", "5", "3", "41"}});
  ASSERT_TRUE(task) << task.error().to_string();
  auto triton = target::emulator_toolchain(kernel::Language::kTriton);
  if (!triton) GTEST_SKIP() << triton.error().to_string();
  const std::shared_ptr<target::Toolchain> toolchain = std::move(*triton);
  auto evaluator = evaluate::emulated_evaluator(*task, toolchain, {});
  ASSERT_TRUE(evaluator) << evaluator.error().to_string();
  const auto judge = [&](const kernel::Kernel& kernel, const std::string& what) {
    const auto screening = (*evaluator)->screen(kernel);
    ASSERT_TRUE(screening) << screening.error().to_string();
    EXPECT_TRUE(screening->verdict.accepted()) << what << ": " << evaluate::name_of(screening->verdict.kind) << ": " << screening->verdict.reason << "\n"
                                               << screening->verdict.detail << "\n" << kernel::with_config(kernel, kernel.config);
  };
  judge(plain_triton(*task), "plain");
  std::vector<std::string> why_not;
  base::Rng rng(7);
  for (const Offer& offer : offers_triton(*task, why_not))
    for (int drawn = 0; drawn < 2; ++drawn) {
      kernel::Kernel kernel = offer.kernel;
      if (drawn)
        for (const auto& tunable : kernel.header.tunables) kernel.config[tunable.name] = tunable.values[rng.below(tunable.values.size())];
      judge(kernel, offer.pattern + ": " + offer.action);
    }
}

std::string name_of_triton_case(const testing::TestParamInfo<Case>& info) { return families_testing::test_name(info.param); }
INSTANTIATE_TEST_SUITE_P(Cases, TritonFamilies, testing::ValuesIn(families_testing::cases(true, families_testing::By::kTriton)), name_of_triton_case);
INSTANTIATE_TEST_SUITE_P(LongCases, TritonFamilies, testing::ValuesIn(families_testing::cases(false, families_testing::By::kTriton)), name_of_triton_case);

}  // namespace
}  // namespace hone::pattern
