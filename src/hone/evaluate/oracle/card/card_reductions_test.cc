// reduce.cu on this CPU, one thread after another, against the host's own loops.
#include "hone/evaluate/oracle/card/card_reductions.h"

#include "hone/evaluate/fake_card_testing.h"
#include "hone/evaluate/oracle/card/compile.h"
#include "hone/evaluate/oracle/card/reduce_cases_testing.h"

namespace hone::evaluate {
namespace {

using testing::Case;

std::unique_ptr<ReductionHelper> on_fake_card(FakeCard& card, Case& c, Coverage coverage) {
  std::vector<uint64_t> addresses;
  for (auto& data : c.data) addresses.push_back(reinterpret_cast<uint64_t>(data.data()));
  auto made = CardReductions::create(card, c.graph, c.task.track, std::move(coverage), std::move(addresses));
  EXPECT_TRUE(made) << made.error().to_string();
  return made ? std::move(*made) : nullptr;
}

void compare_on_fake_card(const std::vector<ReduceCase>& cases) {
  FakeCard card;
  for (const ReduceCase& r : cases) {
    compare_reductions(r, [&](Case& c, Coverage coverage) { return on_fake_card(card, c, std::move(coverage)); });
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(CardReductions, EveryOperationHasTheHostsValuesAndScales) { compare_on_fake_card(operation_cases()); }

TEST(CardReductions, TypesViewsAndAxesToo) { compare_on_fake_card(shape_cases()); }

TEST(CardReductions, OnEveryFamily) {
  for (const Family family : kAllFamilies) {
    SCOPED_TRACE(name_of(family));
    std::vector<ReduceCase> cases = shape_cases();
    for (ReduceCase& r : cases) r.family = family;
    compare_on_fake_card(cases);
  }
}

}  // namespace
}  // namespace hone::evaluate
