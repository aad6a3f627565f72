#include "hone/evaluate/verify/integer_bounds.h"

#include <gtest/gtest.h>

namespace hone::evaluate {
namespace {

DrawBounds bounds_of(const std::string& compute, const std::vector<std::string>& inputs) {
  const task::Task task = task::task_from_expressions(compute, inputs, {}).value();
  return draw_bounds(task, task::instantiate(task.primitive, task.workloads.front().bindings).value()).front();
}

TEST(IntegerBounds, CopiesHaveTheWholeType) {
  const DrawBounds bounds = bounds_of("y = flip(x, 0)", {"x=i32[100]"});
  EXPECT_GE(bounds.plain_bits, 31);
  EXPECT_GE(bounds.wrapping_bits, 31);
}

TEST(IntegerBounds, PlainOnesDoNotOverflow) {
  const DrawBounds product = bounds_of("y = x * x + 1", {"x=i32[100]"});
  EXPECT_EQ(product.plain_bits, 15);
  EXPECT_GE(product.wrapping_bits, 31);
  EXPECT_EQ(bounds_of("y = x * 3", {"x=i32[100]"}).plain_bits, 29);
  EXPECT_EQ(bounds_of("y = -x", {"x=i32[100]"}).plain_bits, 30);
  EXPECT_GE(bounds_of("y = sum(x, axis=0)", {"x=i32[1000]"}).plain_bits, 31);
}

TEST(IntegerBounds, TheOracleStaysExact) {
  EXPECT_EQ(bounds_of("y = sum(x, axis=0)", {"x=i64[1024]"}).plain_bits, 42);
  EXPECT_EQ(bounds_of("y = x * x", {"x=i64[10]"}).wrapping_bits, 26);
  EXPECT_EQ(bounds_of("y = pow(x, x)", {"x=i64[10]"}).wrapping_bits, 7);
}

TEST(IntegerBounds, FloatsHoldWhatBecomesOfIntegers) {
  EXPECT_EQ(bounds_of("y = f32(x) * 0.5", {"x=i32[10]"}).wrapping_bits, 24);
  EXPECT_GE(bounds_of("y = f32(x) * 0.5", {"x=i8[10]"}).plain_bits, 7);
}

TEST(IntegerBounds, TheLeastNumberIsNotDividedByWhatMayBeMinusOne) {
  EXPECT_TRUE(bounds_of("y = x // -1", {"x=i32[10]"}).symmetric);
  EXPECT_TRUE(bounds_of("y = x // (x + 1000)", {"x=i32[10]"}).symmetric);
  EXPECT_TRUE(bounds_of("y = x // 3 + x % sum(x, axis=0)", {"x=i32[10]"}).symmetric);
  EXPECT_FALSE(bounds_of("y = x // 16", {"x=i32[10]"}).symmetric);
  EXPECT_FALSE(bounds_of("y = x % -3", {"x=i32[10]"}).symmetric);
  EXPECT_FALSE(bounds_of("y = x + 3", {"x=i32[10]"}).symmetric);
}

TEST(IntegerBounds, WhatIntegersAreDividedByIsNotZero) {
  EXPECT_TRUE(bounds_of("y = 100 // x", {"x=i32[10]"}).nonzero);
  EXPECT_TRUE(bounds_of("y = 100 % i64(-x)", {"x=i32[10]"}).nonzero);
  EXPECT_FALSE(bounds_of("y = x // 3", {"x=i32[10]"}).nonzero);
  EXPECT_FALSE(bounds_of("y = 100.0 / f32(x)", {"x=i32[10]"}).nonzero);
}

}  // namespace
}  // namespace hone::evaluate
