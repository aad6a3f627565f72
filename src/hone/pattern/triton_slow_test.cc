// Every task of test/cases/pattern/ by plain loops in Triton and through every offer of the patterns, judged by the interpreter: a covering
// part of them in `make check`, all in `make check-long`. Skipped without Triton.
#include "hone/pattern/families_testing.h"

#include "hone/base/random.h"
#include "hone/pattern/judge_testing.h"
#include "hone/pattern/library.h"
#include "hone/pattern/plain.h"

namespace hone::pattern::triton_slow_cases {
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
  const auto judge = judge_testing::Judge::create(*task, toolchain);
  ASSERT_TRUE(judge) << judge.error().to_string();
  judge->expect_accepted(plain_triton(*task), "plain");
  std::vector<std::string> why_not;
  base::Rng rng(7);
  for (const Offer& offer : offers_triton(*task, why_not))
    for (int drawn = 0; drawn < 2; ++drawn) {
      kernel::Kernel kernel = offer.kernel;
      if (drawn)
        for (const auto& tunable : kernel.header.tunables) kernel.config[tunable.name] = tunable.values[rng.below(tunable.values.size())];
      judge->expect_accepted(kernel, offer.pattern + ": " + offer.action);
    }
}

std::string name_of_triton_case(const testing::TestParamInfo<Case>& info) { return families_testing::test_name(info.param); }
INSTANTIATE_TEST_SUITE_P(Cases, TritonFamilies, testing::ValuesIn(families_testing::covering_cases(families_testing::By::kTriton)), name_of_triton_case);
INSTANTIATE_TEST_SUITE_P(LongCases, TritonFamilies, testing::ValuesIn(families_testing::cases()), name_of_triton_case);

}  // namespace
}  // namespace hone::pattern::triton_slow_cases
