// The gate over many task families (families_run_testing.h): 19 more seeds.
#include "hone/evaluate/verify/families_run_testing.h"

namespace hone::evaluate {
namespace {

TEST(Families, honest_ones_are_accepted_and_reduced_ones_on_their_own_track_only) {
  testing::try_families(2, 20);
}

}  // namespace
}  // namespace hone::evaluate
