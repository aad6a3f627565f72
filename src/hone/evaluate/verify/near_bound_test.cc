// The decision near a bound: rarely wrong, the same whenever it is asked for again.
#include "hone/evaluate/verify/near_bound.h"

#include <gtest/gtest.h>

#include <cmath>

#include "hone/base/random.h"

namespace hone::evaluate {
namespace {

/// Draws of a kernel whose error is `share` of the bound in the middle, with the spread of largest errors.
NearBound::Says decided(double share, uint64_t seed) {
  base::Rng rng(seed);
  NearBound question;
  NearBound::Says says = NearBound::Says::kMore;
  while (says == NearBound::Says::kMore) {
    double normal = -6;
    for (int i = 0; i < 12; ++i) normal += rng.uniform();
    question.add(share * std::exp(0.15 * normal));
    says = question.says();
  }
  EXPECT_LE(question.draws(), 30);
  return says;
}

int refused_of_200(double share) {
  int refused = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) refused += decided(share, seed) == NearBound::Says::kBeyond;
  return refused;
}

TEST(NearBound, WhatIsWithinIsHardlyEverRefusedAndWhatIsBeyondAlways) {
  EXPECT_EQ(refused_of_200(0.85), 0);
  EXPECT_LE(refused_of_200(1.0), 2);
  EXPECT_GE(refused_of_200(1.25), 198);
  EXPECT_EQ(refused_of_200(1.6), 200);
}

TEST(NearBound, ANarrowBandIsInQuestion) {
  const auto verdict = [](VerdictKind kind, double error) {
    Verdict v;
    v.kind = kind;
    v.accuracy = Accuracy{"y", "normal", "", error, 0.3, 1, 0, 1};
    return v;
  };
  EXPECT_FALSE(is_near_bound(verdict(VerdictKind::kAccepted, 0.7)));
  EXPECT_TRUE(is_near_bound(verdict(VerdictKind::kAccepted, 0.9)));
  EXPECT_TRUE(is_near_bound(verdict(VerdictKind::kLessAccurate, 1.3)));
  EXPECT_FALSE(is_near_bound(verdict(VerdictKind::kLessAccurate, 3)));
  EXPECT_FALSE(is_near_bound(verdict(VerdictKind::kWrong, 1.1)));
  EXPECT_FALSE(is_near_bound({}));
}

}  // namespace
}  // namespace hone::evaluate
