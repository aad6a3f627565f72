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

/// Of each float of one byte (OFP8, table 1) what its bits say, and every midpoint of two neighbours goes to the even one.
TEST(Number, floats_of_one_byte_read_back_as_themselves_and_round_to_even) {
  for (const DType type : {DType::kF8E4M3, DType::kF8E5M2}) {
    double before = -1;
    for (int bits = 0; bits < 0x80; ++bits) {
      const auto byte = static_cast<uint8_t>(bits), negative = static_cast<uint8_t>(bits | 0x80);
      double value = 0, other = 0;
      load_doubles(type, &byte, 0, 1, &value);
      load_doubles(type, &negative, 0, 1, &other);
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(through(type, value)) && std::isnan(other));
        continue;
      }
      EXPECT_EQ(value, -other);
      if (std::isinf(value)) continue;
      EXPECT_EQ(through(type, value), value);
      EXPECT_LT(before, value);
      if (bits > 0) {
        EXPECT_EQ(round_to(type, (before + value) / 2), bits % 2 == 0 ? value : before) << task::name_of(type) << bits;
        EXPECT_EQ(round_to(type, std::nextafter((before + value) / 2, value)), value);
      }
      before = value;
    }
    EXPECT_EQ(before, task::largest(type));
    for (const double beyond : {before * 1.5, HUGE_VAL}) {
      EXPECT_EQ(through(type, beyond), before);
      EXPECT_EQ(through(type, -beyond), -before);
    }
  }
  const uint8_t e4m3[] = {0x01, 0x08, 0x38, 0x7E, 0x7F}, e5m2[] = {0x01, 0x04, 0x3C, 0x7B, 0x7C};
  double values[5];
  load_doubles(DType::kF8E4M3, e4m3, 0, 5, values);
  EXPECT_TRUE(values[0] == 0x1p-9 && values[1] == 0x1p-6 && values[2] == 1 && values[3] == 448 && std::isnan(values[4]));
  load_doubles(DType::kF8E5M2, e5m2, 0, 5, values);
  EXPECT_TRUE(values[0] == 0x1p-16 && values[1] == 0x1p-14 && values[2] == 1 && values[3] == 57344 && std::isinf(values[4]));
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
