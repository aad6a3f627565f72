#include "hone/evaluate/oracle/number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace hone::evaluate {
namespace {

using task::DType;

double through(DType type, double value) {
  uint64_t memory = 0;
  double back = 0;
  store_doubles(type, &value, 1, &memory, 0);
  load_doubles(type, &memory, 0, 1, &back);
  return back;
}

TEST(Number, every_f16_and_bf16_reads_back_as_itself) {
  for (const DType type : {DType::kF16, DType::kBF16})
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
      const auto word = static_cast<uint16_t>(bits);
      double value = 0;
      load_doubles(type, &word, 0, 1, &value);
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(through(type, value)));
        continue;
      }
      uint16_t back = 0;
      store_doubles(type, &value, 1, &back, 0);
      ASSERT_EQ(back, word) << task::name_of(type);
    }
}

TEST(Number, known_values) {
  uint16_t one = 0x3C00;
  double value = 0;
  load_doubles(DType::kF16, &one, 0, 1, &value);
  EXPECT_EQ(value, 1);
  one = 0x3F80;
  load_doubles(DType::kBF16, &one, 0, 1, &value);
  EXPECT_EQ(value, 1);
}

TEST(Number, rounding_is_to_nearest_ties_to_even) {
  EXPECT_EQ(round_to(DType::kBF16, 1 + 0x1p-8), 1);
  EXPECT_EQ(round_to(DType::kBF16, 1 + 0x1p-8 + 0x1p-40), 1 + 0x1p-7);
  EXPECT_EQ(round_to(DType::kBF16, 1 + 3 * 0x1p-8), 1 + 0x1p-6);
  EXPECT_EQ(round_to(DType::kF16, 65519), 65504);
  EXPECT_EQ(round_to(DType::kF16, 65520), HUGE_VAL);
  EXPECT_EQ(round_to(DType::kF16, -0x1p-26), 0);
  EXPECT_EQ(round_to(DType::kF16, 3 * 0x1p-25), 0x1p-23);
  EXPECT_EQ(round_to(DType::kF32, 1 + 0x1p-25), 1);
  EXPECT_EQ(round_bits(1 + 0x1p-11, 11, -126), 1);
  EXPECT_EQ(round_bits(1 + 0x1p-10, 11, -126), 1 + 0x1p-10);
}

TEST(Number, integers_truncate_and_saturate) {
  EXPECT_EQ(through(DType::kI8, -2.9), -2);
  EXPECT_EQ(through(DType::kI8, 300), 127);
  EXPECT_EQ(through(DType::kI16, -1e9), -32768);
  EXPECT_EQ(through(DType::kI32, std::nan("")), 0);
  EXPECT_EQ(through(DType::kI64, 0x1p52 + 1), 0x1p52 + 1);
  EXPECT_EQ(through(DType::kBool, 0.5), 1);
}

}  // namespace
}  // namespace hone::evaluate
