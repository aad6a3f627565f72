// Every task of test/cases/pattern/ through every offer of the patterns, and by plain loops, judged: a covering part of
// them in `make check`, without the plain loops, and all in `make check-long`.
#include "hone/pattern/families_testing.h"

#include "hone/base/random.h"
#include "hone/pattern/judge_testing.h"
#include "hone/pattern/library.h"

namespace hone::pattern::families_slow_cases {
namespace {

using families_testing::Case;

class Families : public testing::TestWithParam<Case> {};

TEST_P(Families, EveryOfferIsAccepted) {
  const Case& c = GetParam();
  const auto task = families_testing::task_of(c, {{"192", "8", "4", "64"}, {"77", "5", "3", "41"}});
  ASSERT_TRUE(task) << task.error().to_string();
  const auto judge = judge_testing::Judge::create(*task);
  ASSERT_TRUE(judge) << judge.error().to_string();
  const bool all = base::testing::in_long_part();
  if (all) judge->expect_accepted(naive_cpp(*task), "plain loops");
  std::vector<std::string> why_not;
  const auto offers = offers_cpp(*task, why_not);
  base::Rng rng(7);
  for (const std::string& wanted : c.patterns)
    EXPECT_TRUE(std::any_of(offers.begin(), offers.end(), [&](const Offer& o) { return o.pattern == wanted; }))
        << wanted << "; " << fmt::format("{}", fmt::join(why_not, "; "));
  // At defaults and at drawn values; in `make check` the first at its defaults and the last at drawn ones.
  for (const Offer& offer : offers)
    for (int drawn = 0; drawn < 2; ++drawn) {
      if (!all && &offer != (drawn ? &offers.back() : &offers.front())) continue;
      kernel::Kernel kernel = offer.kernel;
      if (drawn)
        for (const auto& tunable : kernel.header.tunables)
          kernel.config[tunable.name] = tunable.values[rng.below(tunable.values.size())];
      judge->expect_accepted(kernel, offer.pattern + ": " + offer.action);
    }
}

std::string name_of_case(const testing::TestParamInfo<Case>& info) { return families_testing::test_name(info.param); }
INSTANTIATE_TEST_SUITE_P(Cases, Families, testing::ValuesIn(base::testing::one_of_each(2, families_testing::covering_cases(families_testing::By::kCpu))), name_of_case);
INSTANTIATE_TEST_SUITE_P(LongCases, Families, testing::ValuesIn(families_testing::cases()), name_of_case);

}  // namespace
}  // namespace hone::pattern::families_slow_cases
