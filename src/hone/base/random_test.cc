#include "hone/base/random.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hone::base {
namespace {

// The known answers published with the generator.
TEST(Random, PhiloxMatchesItsAuthors) {
  using Words = std::array<uint32_t, 4>;
  EXPECT_EQ(philox(0, 0, 0), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox(~0ull, ~0ull, ~0ull), (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox(0x299f31d0a4093822, 0x85a308d3243f6a88, 0x0370734413198a2e),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, ReplaysFromSeedAndStream) {
  Rng a(7, 1), b(7, 1), other_stream(7, 2), other_seed(8, 1);
  const uint64_t first = a.next_u64();
  EXPECT_EQ(first, b.next_u64());
  EXPECT_NE(first, other_stream.next_u64());
  EXPECT_NE(first, other_seed.next_u64());
  EXPECT_NE(first, a.next_u64());
}

TEST(Random, UniformAndNormalHaveTheirMoments) {
  Rng rng(1);
  constexpr int kDraws = 100'000;
  double sum = 0, normal_sum = 0, normal_squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double u = rng.uniform(), z = rng.normal();
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    ASSERT_TRUE(std::isfinite(z));
    sum += u;
    normal_sum += z;
    normal_squares += z * z;
  }
  EXPECT_NEAR(sum / kDraws, 0.5, 0.005);
  EXPECT_NEAR(normal_sum / kDraws, 0, 0.02);
  EXPECT_NEAR(normal_squares / kDraws, 1, 0.03);
}

TEST(Random, BelowReachesEveryValue) {
  Rng rng(2);
  std::array<int, 6> seen{};
  for (int i = 0; i < 6000; ++i) ++seen.at(rng.below(6));
  for (const int count : seen) EXPECT_NEAR(count, 1000, 200);
  EXPECT_EQ(rng.below(1), 0u);
}

TEST(Random, SecretSeedsDiffer) { EXPECT_NE(secret_seed(), secret_seed()); }

}  // namespace
}  // namespace hone::base
