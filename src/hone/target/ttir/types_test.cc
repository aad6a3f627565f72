#include "hone/target/ttir/types.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace hone::target::ttir {
namespace {

float of(uint64_t lane) { return std::bit_cast<float>(static_cast<uint32_t>(lane)); }

TEST(TtirTypes, EveryPatternOf16And8BitsComesBack) {
  for (const Elem elem : {Elem::kF16, Elem::kBF16, Elem::kF8E4, Elem::kF8E5})
    for (uint64_t bits = 0; bits < uint64_t{1} << bits_of(elem); ++bits) {
      const uint64_t lane = from_memory(bits, elem);
      if (std::isnan(of(lane))) {
        EXPECT_TRUE(std::isnan(of(from_memory(to_memory(lane, elem), elem)))) << bits;
        continue;
      }
      EXPECT_EQ(to_memory(lane, elem), bits);
      EXPECT_EQ(rounded(of(lane), elem), of(lane)) << bits;
    }
}

TEST(TtirTypes, RoundsToTheNearestAndTiesToEven) {
  EXPECT_EQ(rounded(1.0f + 0x1p-8f, Elem::kBF16), 1.0f);
  EXPECT_EQ(rounded(1.0f + 3 * 0x1p-8f, Elem::kBF16), 1.0f + 4 * 0x1p-8f);
  EXPECT_EQ(rounded(1.0f + 0x1p-11f, Elem::kF16), 1.0f);
  EXPECT_EQ(rounded(65519.0f, Elem::kF16), 65504.0f);
  EXPECT_TRUE(std::isinf(rounded(65520.0f, Elem::kF16)));
  EXPECT_EQ(rounded(0x1p-25f, Elem::kF16), 0.0f);
  EXPECT_EQ(rounded(0x1.8p-25f, Elem::kF16), 0x1p-24f);
  EXPECT_EQ(rounded(447.0f, Elem::kF8E4), 448.0f);
  EXPECT_TRUE(std::isnan(rounded(500.0f, Elem::kF8E4)));
}

TEST(TtirTypes, IntegersKeepTheirSign) {
  EXPECT_EQ(static_cast<int64_t>(from_memory(0xff, Elem::kI8)), -1);
  EXPECT_EQ(wrapped(int64_t{1} << 31, Elem::kI32), std::numeric_limits<int32_t>::min());
  EXPECT_EQ(from_memory(3, Elem::kI1), 1u);
}

}  // namespace
}  // namespace hone::target::ttir
