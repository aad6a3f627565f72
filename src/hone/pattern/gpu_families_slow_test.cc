// Every task of test/cases/pattern/ that a GPU pattern covers, on both emulators: a covering part of them
// in `make check`, each on one of the two, and all in `make check-long`.
#include "hone/pattern/families_testing.h"

#include "hone/base/random.h"
#include "hone/pattern/judge_testing.h"
#include "hone/pattern/library.h"
#include "hone/target/simt_device.h"

namespace hone::pattern::gpu_families_slow_cases {
namespace {

using families_testing::Case;

class GpuFamilies : public testing::TestWithParam<Case> {};

TEST_P(GpuFamilies, EveryOfferIsAccepted) {
  const Case& c = GetParam();
  const auto task = families_testing::task_of(c, {{"20", "5", "3", "12"}});
  ASSERT_TRUE(task) << task.error().to_string();
  auto simt = target::simt_toolchain();
  if (!simt) GTEST_SKIP() << simt.error().to_string();
  const std::shared_ptr<target::Toolchain> toolchain = std::move(*simt);
  const auto judge = judge_testing::Judge::create(*task, toolchain);
  ASSERT_TRUE(judge) << judge.error().to_string();
  base::Rng rng(7);
  for (const kernel::Language language : {kernel::Language::kCuda, kernel::Language::kHip}) {
    std::vector<std::string> why_not;
    const auto offers = offers_gpu(*task, language, why_not);
    std::vector<std::string> expected = c.gpu;
    if (language == kernel::Language::kCuda) expected.insert(expected.end(), c.cuda.begin(), c.cuda.end());
    for (const std::string& wanted : expected)
      EXPECT_TRUE(std::any_of(offers.begin(), offers.end(), [&](const Offer& o) { return o.pattern == wanted; }))
          << wanted << "; " << fmt::format("{}", fmt::join(why_not, "; "));
    // CUDA takes each pattern at its defaults, in `make check` the first; HIP, the same text on wider waves, the first at drawn values,
    // in `make check` for other cases than CUDA.
    const bool cuda = language == kernel::Language::kCuda;
    const bool all = base::testing::in_long_part();
    if (!base::testing::takes_item(cuda ? 0 : 1, 2)) continue;
    for (const Offer& offer : offers) {
      kernel::Kernel kernel = offer.kernel;
      const auto draw = [&] {
        for (const auto& tunable : kernel.header.tunables) kernel.config[tunable.name] = tunable.values[rng.below(tunable.values.size())];
        return kernel::allowed(kernel.header, kernel.config, target::simt_limits(*target::simt_device(language))).value_or(false);
      };
      for (int draws = 0; !cuda && draws < 100 && !draw(); ++draws) {}
      judge->expect_accepted(kernel, offer.pattern + ": " + offer.action);
      if (!cuda || !all) break;
    }
  }
}

std::string name_of_case(const testing::TestParamInfo<Case>& info) { return families_testing::test_name(info.param); }
INSTANTIATE_TEST_SUITE_P(Cases, GpuFamilies, testing::ValuesIn(base::testing::one_of_each(2, families_testing::covering_cases(families_testing::By::kGpu))), name_of_case);
INSTANTIATE_TEST_SUITE_P(LongCases, GpuFamilies, testing::ValuesIn(families_testing::cases()), name_of_case);

}  // namespace
}  // namespace hone::pattern::gpu_families_slow_cases
