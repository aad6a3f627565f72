// Numbers at which something changes: that they are found, in tasks and in sources, and met on both sides.
#include "hone/evaluate/verify/telling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "hone/task/task.h"

namespace hone::evaluate {
namespace {

task::Task elementwise(const std::string& compute, const std::string& input = "f32[L]", const std::string& output = "f32[L]") {
  const auto task = task::parse_task("name = \"t\"\ninputs = { x = \"" + input + "\" }\noutputs = { y = \"" + output + "\" }\ncompute = \"y = " + compute +
                                     "\"\nworkloads = [ { L = 64 } ]\n", "telling");
  EXPECT_TRUE(task) << task.error().to_string();
  return *task;
}

std::vector<double> points_of(const task::Task& task) {
  return turning_points(task::instantiate(task.primitive, task.workloads.front().bindings).value()).front();
}

bool has_near(const std::vector<double>& all, double point) {
  return std::ranges::any_of(all, [&](double found) { return std::abs(found - point) <= 0x1p-20 * std::abs(point); });
}

struct TurnCase {
  const char *compute, *output;
  std::vector<double> expected;
};

TEST(Telling, PointsAreWhereSomethingTurns) {
  const TurnCase cases[] = {
      {"exp(x)", "f32[L]", {88.7228394, -87.3365479}},
      {"log(x)", "f32[L]", {1.0}},
      {"tanh(x)", "f32[L]", {9.01091385, -9.01091385}},
      {"relu6(x)", "f32[L]", {6.0}},
      {"sigmoid(x)", "f32[L]", {-87.3365479}},
      {"acos(x)", "f32[L]", {1.0}},
      {"sqrt(x - 3)", "f32[L]", {3.0}},
      {"cast(x * x, f16)", "f16[L]", {255.968748, -255.968748}},
      {"where(x > 7, x, 0)", "f32[L]", {7.0}},
      {"sin(x)", "f32[L]", {}},
  };
  for (const TurnCase& c : cases) {
    const auto points = points_of(elementwise(c.compute, "f32[L]", c.output));
    for (const double expected : c.expected) EXPECT_TRUE(has_near(points, expected)) << c.compute << " " << expected;
    EXPECT_LE(points.size(), 200u) << c.compute;
  }
}

TEST(Telling, OfAFunctionOfSeveralInputsItsOwn) {
  const auto task = task::parse_task("name = \"t\"\ninputs = { x = \"f32[B, D]\" }\noutputs = { y = \"f32[B, D]\" }\ncompute = \"y = exp(x - max(x, axis=-1, keepdims=true))\"\n"
                                     "workloads = [ { B = 4, D = 64 } ]\n", "telling");
  ASSERT_TRUE(task) << task.error().to_string();
  EXPECT_FALSE(is_elementwise(task->primitive));
  EXPECT_TRUE(has_near(points_of(*task), -87.3365479));
  EXPECT_TRUE(is_elementwise(elementwise("exp(x)").primitive));
}

TEST(Telling, NumbersOfASourceAreRead) {
  const auto numbers = numbers_in("if (x1 < -87.33f && y > 1e-3) z = .5f * w2 + 0x1p-20 + 12 / v[0] - 3.e2 + bits(0x42c80000u);");
  for (const double expected : {87.33, -87.33, 1e-3, 0.5, 0x1p-20, 12.0, 300.0, 100.0}) EXPECT_TRUE(has_near(numbers, expected)) << expected;
  EXPECT_FALSE(has_near(numbers, 1));  // of x1
  EXPECT_FALSE(has_near(numbers, 2));  // of w2
  EXPECT_TRUE(numbers_in("abc x9 0").empty());
}

TEST(Telling, ValuesLieOnBothSidesOfPoints) {
  task::InputSpec spec;
  spec.type.dtype = task::DType::kF32;
  DrawBounds bounds;
  bounds.any_size = true;
  const Telling telling = telling_of(spec, bounds, {-87.33}, true, true);
  std::vector<float> values(4096, 1.0F);
  base::Rng rng(3);
  put_beside(std::as_writable_bytes(std::span(values)), task::DType::kF32, telling, rng);
  const auto within = [&](double from, double to) { return std::ranges::count_if(values, [&](float v) { return double{v} > from && double{v} < to; }); };
  EXPECT_GT(within(-87.3365, -87.33), 200);
  EXPECT_GT(within(-87.33, -87.3235), 200);
  EXPECT_GT(within(-87.33005, -87.33), 20);
  EXPECT_GT(std::ranges::count(values, 1.0F), 300);
}

TEST(Telling, WhatADomainAndATargetDoNotHaveIsNotDrawn) {
  task::InputSpec spec;
  spec.type.dtype = task::DType::kF32;
  spec.domain = task::Domain::kPositive;
  DrawBounds bounds;
  bounds.any_size = true;
  for (const bool denormals : {false, true}) {
    const Telling telling = telling_of(spec, bounds, {-3, 0x1p-126, 1e30}, true, denormals);
    std::vector<float> values(4096, 1.0F);
    base::Rng rng(5);
    put_beside(std::as_writable_bytes(std::span(values)), task::DType::kF32, telling, rng);
    EXPECT_GT(*std::ranges::min_element(values), 0.0F);
    EXPECT_LT(*std::ranges::max_element(values), 0x1p60F);
    EXPECT_EQ(std::ranges::any_of(values, [](float v) { return v < 0x1p-126F; }), denormals);
  }
  spec.domain = task::Domain::kIndex;
  EXPECT_TRUE(telling_of(spec, bounds, {3}, true, true).points.empty());
}

}  // namespace
}  // namespace hone::evaluate
