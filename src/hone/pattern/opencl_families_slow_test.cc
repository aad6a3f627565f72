// Every task of test/cases/pattern/ through every offer in OpenCL C, or plain loops, judged by the evaluator on a CPU: a
// covering part of them in `make check`, the others in `make check-long`. Skips where there is no PoCL.
#include "hone/base/random.h"
#include "hone/pattern/families_testing.h"
#include "hone/pattern/library.h"
#include "hone/pattern/opencl_testing.h"
#include "hone/pattern/plain_gpu.h"

namespace hone::pattern {
namespace {

using families_testing::Case;

class OpenClFamilies : public testing::TestWithParam<Case> {};

TEST_P(OpenClFamilies, EveryOfferIsAccepted) {
  const auto toolchain = opencl_testing::toolchain();
  if (!toolchain) GTEST_SKIP() << "no PoCL";
  const auto task = families_testing::task_of(GetParam(), {{"192", "8", "4", "64"}, {"77", "5", "3", "41"}});
  ASSERT_TRUE(task) << task.error().to_string();
  evaluate::EvaluatorOptions options;
  options.repetitions = 1;
  auto evaluator = evaluate::cpu_evaluator(*task, toolchain, options);
  ASSERT_TRUE(evaluator) << evaluator.error().to_string();
  std::vector<std::string> why_not;
  auto offers = offers_opencl(*task, why_not);
  if (offers.empty()) offers.push_back({plain_opencl(*task), "plain", "plain loops"});
  base::Rng rng(7);
  for (const Offer& offer : offers) {
    opencl_testing::expect_accepted(**evaluator, offer.kernel, offer.pattern + ": " + offer.action);
    // Once more, as another device would have it.
    kernel::Kernel drawn = offer.kernel;
    const auto draw = [&] {
      for (const auto& tunable : drawn.header.tunables) drawn.config[tunable.name] = tunable.values[rng.below(tunable.values.size())];
      return kernel::allowed(drawn.header, drawn.config, {}).value_or(false);
    };
    bool allowed = draw();
    for (int draws = 0; draws < 100 && !allowed; ++draws) allowed = draw();
    if (allowed) opencl_testing::expect_accepted(**evaluator, drawn, offer.pattern + ", drawn");
  }
}

std::string name_of_case(const testing::TestParamInfo<Case>& info) { return families_testing::test_name(info.param); }
INSTANTIATE_TEST_SUITE_P(Cases, OpenClFamilies, testing::ValuesIn(families_testing::cases(true)), name_of_case);
INSTANTIATE_TEST_SUITE_P(LongCases, OpenClFamilies, testing::ValuesIn(families_testing::cases(false)), name_of_case);

}  // namespace
}  // namespace hone::pattern
