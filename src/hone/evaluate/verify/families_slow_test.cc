// The gate over many task families (families_run_testing.h): one seed. Shared out, as one processor alone would take
// minutes.
#include "hone/evaluate/verify/families_run_testing.h"

namespace hone::evaluate {
namespace {

constexpr size_t kShares = 4;

class Families : public ::testing::TestWithParam<size_t> {};

TEST_P(Families, honest_ones_are_accepted_and_reduced_ones_on_their_own_track_only) {
  testing::try_families(1, 1, GetParam(), kShares);
}

INSTANTIATE_TEST_SUITE_P(Shares, Families, ::testing::Range(size_t{0}, kShares));

}  // namespace
}  // namespace hone::evaluate
