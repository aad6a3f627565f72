// Every task of test/cases/pattern/ through every offer in OpenCL C, or plain loops, judged by the checks that every
// candidate gets. Skips where there is no PoCL, which compiles for seconds: `make check` takes few cases that together show
// each pattern and type, `make check-long` the others.
#include "hone/base/random.h"
#include "hone/pattern/families_testing.h"
#include "hone/pattern/library.h"
#include "hone/pattern/opencl_testing.h"
#include "hone/pattern/plain_gpu.h"

namespace hone::pattern {
namespace {

using families_testing::Case;

Result<task::Task> task_of(const Case& c) { return families_testing::task_of(c, {{"192", "8", "4", "64"}, {"77", "5", "3", "41"}}); }

std::vector<Offer> offers_of(const task::Task& task) {
  std::vector<std::string> why_not;
  auto offers = offers_opencl(task, why_not);
  if (offers.empty()) offers.push_back({plain_opencl(task), "plain", "plain loops"});
  return offers;
}

class OpenClFamilies : public testing::TestWithParam<Case> {};

TEST_P(OpenClFamilies, EveryOfferIsAccepted) {
  const auto task = task_of(GetParam());
  ASSERT_TRUE(task) << task.error().to_string();
  const auto verifier = opencl_testing::verifier(*task);
  if (!verifier) GTEST_SKIP() << "no PoCL";
  base::Rng rng(7);
  for (const Offer& offer : offers_of(*task)) {
    opencl_testing::expect_accepted(*verifier, offer.kernel, offer.pattern + ": " + offer.action);
    // Once more, as another device would have it.
    kernel::Kernel drawn = offer.kernel;
    const auto draw = [&] {
      for (const auto& tunable : drawn.header.tunables) drawn.config[tunable.name] = tunable.values[rng.below(tunable.values.size())];
      return kernel::allowed(drawn.header, drawn.config, {}).value_or(false);
    };
    bool allowed = draw();
    for (int draws = 0; draws < 100 && !allowed; ++draws) allowed = draw();
    if (allowed) opencl_testing::expect_accepted(*verifier, drawn, offer.pattern + ", drawn");
  }
}

/// The patterns offered for it and the types of its inputs.
std::set<std::string> shown_by(const Case& c) {
  std::set<std::string> all;
  const auto task = task_of(c);
  if (!task) return {c.name};
  for (const Offer& offer : offers_of(*task)) all.insert(offer.pattern);
  for (const std::string& input : c.inputs) all.merge(base::testing::names_applied(input));
  return all;
}

std::vector<Case> cases(bool checked) { return base::testing::part_of(families_testing::cases(), checked, shown_by); }
std::string name_of_case(const testing::TestParamInfo<Case>& info) { return families_testing::test_name(info.param); }
INSTANTIATE_TEST_SUITE_P(Cases, OpenClFamilies, testing::ValuesIn(cases(true)), name_of_case);
INSTANTIATE_TEST_SUITE_P(LongCases, OpenClFamilies, testing::ValuesIn(cases(false)), name_of_case);

}  // namespace
}  // namespace hone::pattern
