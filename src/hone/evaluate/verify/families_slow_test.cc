// The gate over many task families (families_run_testing.h): one seed, half of the honest orders for each family. All
// orders, and more seeds, are families_long_test.cc's.
#include "hone/evaluate/verify/families_run_testing.h"

namespace hone::evaluate {
namespace {

// Two tests, so that two processors share them.
TEST(Families, honest_ones_are_accepted_and_reduced_ones_on_their_own_track_only_even) { testing::try_half_of_the_families(0); }

TEST(Families, honest_ones_are_accepted_and_reduced_ones_on_their_own_track_only_odd) { testing::try_half_of_the_families(1); }

}  // namespace
}  // namespace hone::evaluate
