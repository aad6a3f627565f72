#include "hone/evaluate/verify/bounds.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "hone/base/random.h"
#include "hone/evaluate/oracle/testing.h"
#include "hone/evaluate/verify/gate_testing.h"
#include "hone/task/graph/op_table.h"

namespace hone::evaluate {
namespace {

using testing::Case;
using task::DType;

/// Judges an answer to output 0, given as doubles, on every family; empty when all accept it.
/// `answer` sees the case with its inputs drawn.
using Answerer = std::function<std::vector<double>(const Case&)>;

std::optional<std::string> judged(Case& c, const Answerer& answer,
                                  std::span<const Family> families = kAllFamilies) {
  uint64_t seed = 100;
  Bounds bounds(c.task, c.graph, seed, 1);
  for (const Family family : families) {
    c.draw_all(family, ++seed);
    const Oracle oracle = c.oracle();
    GateOptions options;
    const Reference reference = make_reference(c.graph, oracle, c.task.track, 0,
                                               plan_boxes(c.graph, 0, options), options.threads);
    const Bound bound = bounds.of(0, family, reference.anchor);
    const std::vector<double> values = answer(c);
    std::vector<uint8_t> out(values.size() * static_cast<size_t>(task::size_of(c.output_type())));
    store_doubles(c.output_type(), values.data(), static_cast<int64_t>(values.size()), out.data(), 0);
    const OutputError error = compare_output(c.graph, 0, reference, out.data(), options.threads);
    if (auto why = judge(error, bound, "y")) return std::string(name_of(family)) + ": " + *why;
  }
  return std::nullopt;
}

std::vector<float> floats(const Case& c, size_t input) {
  const auto count = static_cast<size_t>(task::element_count(c.shape(input)));
  std::vector<double> wide(count);
  load_doubles(c.task.inputs[input].type.dtype, c.data[input].data(), 0,
               static_cast<int64_t>(count), wide.data());
  return {wide.begin(), wide.end()};
}

std::vector<double> honest_softmax(const Case& c, float (*exponential)(float)) {
  const auto x = floats(c, 0);
  std::vector<double> y(x.size());
  const auto rows = static_cast<size_t>(c.shape(0)[0]), n = x.size() / rows;
  for (size_t r = 0; r < rows; ++r) {
    float most = -HUGE_VALF, sum = 0;
    for (size_t i = 0; i < n; ++i) most = std::max(most, x[r * n + i]);
    for (size_t i = n; i-- > 0;) sum += exponential(x[r * n + i] - most);
    for (size_t i = 0; i < n; ++i) y[r * n + i] = exponential(x[r * n + i] - most) * (1.0F / sum);
  }
  return y;
}

TEST(Gate, an_honest_softmax_passes_and_a_sloppy_exponential_does_not) {
  Case c("y = softmax(x, axis=-1)", {"x=f32[16,200]"});
  EXPECT_EQ(judged(c, [](const Case& k) {
              return honest_softmax(k, [](float v) { return std::exp(v); });
            }),
            std::nullopt);
  EXPECT_NE(judged(c, [](const Case& k) {
              return honest_softmax(k, [](float v) { return std::exp(v) * (1 + 1e-5F * std::sin(v)); });
            }),
            std::nullopt);
}

TEST(Gate, a_one_pass_variance_is_refused_on_shifted_inputs) {
  Case c("y = var(x, axis=1, correction=0)", {"x=f32[8,512]"});
  const auto two_pass = [](const Case& k) {
    const auto x = floats(k, 0);
    std::vector<double> y(8);
    for (size_t r = 0; r < 8; ++r) {
      float mean = 0, sum = 0;
      for (size_t b = 0; b < 512; b += 32) {
        float part = 0;
        for (size_t i = b; i < b + 32; ++i) part += x[r * 512 + i];
        mean += part;
      }
      mean /= 512;
      for (size_t b = 0; b < 512; b += 32) {
        float part = 0;
        for (size_t i = b; i < b + 32; ++i) part += (x[r * 512 + i] - mean) * (x[r * 512 + i] - mean);
        sum += part;
      }
      y[r] = sum / 512;
    }
    return y;
  };
  const auto one_pass = [](const Case& k) {
    const auto x = floats(k, 0);
    std::vector<double> y(8);
    for (size_t r = 0; r < 8; ++r) {
      float sum = 0, square = 0;
      for (size_t i = 0; i < 512; ++i) sum += x[r * 512 + i], square += x[r * 512 + i] * x[r * 512 + i];
      y[r] = square / 512 - (sum / 512) * (sum / 512);
    }
    return y;
  };
  EXPECT_EQ(judged(c, two_pass), std::nullopt);
  const Family shifted[] = {Family::kShifted};
  EXPECT_NE(judged(c, one_pass, shifted), std::nullopt);
}

TEST(Gate, half_precision_elementwise_is_refused) {
  Case c("y = x * w + x", {"x=f32[64,64]", "w=f32[64]"});
  const auto rounded = [](DType type) {
    return [type](const Case& k) {
      const auto x = floats(k, 0), w = floats(k, 1);
      std::vector<double> y(x.size());
      for (size_t i = 0; i < x.size(); ++i)
        y[i] = static_cast<float>(round_to(type, x[i]) * round_to(type, w[i % 64])) + x[i];
      return y;
    };
  };
  EXPECT_EQ(judged(c, rounded(DType::kF32)), std::nullopt);
  EXPECT_NE(judged(c, rounded(DType::kBF16)), std::nullopt);
  EXPECT_NE(judged(c, rounded(DType::kF16)), std::nullopt);
}

TEST(Gate, nan_and_poison_are_refused_and_counted) {
  Case c("y = x + 1.0", {"x=f32[1000]"});
  const Family normal[] = {Family::kNormal};
  EXPECT_NE(judged(c, [](const Case& k) {
              auto x = floats(k, 0);
              std::vector<double> y(x.size());
              for (size_t i = 0; i < x.size(); ++i) y[i] = x[i] + 1.0F;
              y[500] = std::nan("");
              return y;
            }, normal),
            std::nullopt);
  for (const DType type : {DType::kF64, DType::kF32, DType::kBF16, DType::kF16, DType::kI64,
                           DType::kI32, DType::kI16, DType::kI8, DType::kBool})
    for (const uint64_t random : {uint64_t{0x9E3779B97F4A7C15}, uint64_t{0xA5A5A5A5A5A5A5A5}, ~uint64_t{0}}) {
      const PoisonPattern pattern = poison_pattern(type, random);
      std::vector<uint8_t> data(1001 * static_cast<size_t>(task::size_of(type)));
      EXPECT_EQ(count_poison(type, pattern, data.data(), 1001, 2), 0) << task::name_of(type);
      fill_poison(type, pattern, data.data(), 1001, 2);
      EXPECT_EQ(count_poison(type, pattern, data.data(), 1001, 2), 1001) << task::name_of(type);
      EXPECT_EQ(count_unwritten(type, pattern, data.data(), 1001, 2), 1001) << task::name_of(type);
      const double one = 1;
      store_doubles(type, &one, 1, data.data(), 7);
      EXPECT_EQ(count_poison(type, pattern, data.data(), 1001, 2), 1000) << task::name_of(type);
      if (!task::is_float(type)) continue;
      const double nan = std::nan("");
      store_doubles(type, &nan, 1, data.data(), 8);
      EXPECT_EQ(count_poison(type, pattern, data.data(), 1001, 2), 1000) << task::name_of(type);
      EXPECT_EQ(count_unwritten(type, pattern, data.data(), 1001, 2), 999) << task::name_of(type) << ": a NaN that was computed";
    }
}

/// Whether the answers to given inputs are accepted: of `y = …` over x (and z) in f32.
class GateByClass : public ::testing::Test {
 protected:
  static bool accepts(const std::string& compute, const std::vector<std::vector<double>>& inputs, const std::vector<float>& answer) {
    std::vector<std::string> types;
    for (size_t i = 0; i < inputs.size(); ++i) types.push_back(fmt::format("{}=f32[{}]", i == 0 ? "x" : "z", inputs[i].size()));
    Case c(compute, types);
    for (size_t i = 0; i < inputs.size(); ++i) c.set(i, inputs[i]);
    const Oracle oracle = c.oracle();
    const Reference reference = make_reference(c.graph, oracle, c.task.track, 0, {whole(c.output_shape())}, 1);
    const Bound bound = bound_of(c.graph, c.task.track, 0, {reference.anchor}, 4);
    return !judge(compare_output(c.graph, 0, reference, answer.data(), 1), bound, "y");
  }
  static constexpr float kInf = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();
};

TEST_F(GateByClass, WhatOverflowsIsInfinite) {
  EXPECT_TRUE(accepts("y = exp(x)", {{100, -1000}}, {kInf, 0}));
  EXPECT_FALSE(accepts("y = exp(x)", {{100, -1000}}, {0, 0}));
  EXPECT_FALSE(accepts("y = exp(x)", {{100, -1000}}, {3.4028234e38F, 0}));
  EXPECT_FALSE(accepts("y = exp(x)", {{100, -1000}}, {kNan, 0}));
  EXPECT_FALSE(accepts("y = x * 1e30", {{-1e20, 1}}, {kInf, 1e30F}));
}

TEST_F(GateByClass, WhatIsNoNumberIsNan) {
  EXPECT_TRUE(accepts("y = sqrt(x)", {{-4, 4}}, {kNan, 2}));
  EXPECT_FALSE(accepts("y = sqrt(x)", {{-4, 4}}, {0, 2}));
  EXPECT_FALSE(accepts("y = sqrt(x)", {{-4, 4}}, {kInf, 2}));
  EXPECT_TRUE(accepts("y = log(x)", {{0, 1}}, {-kInf, 0}));
  EXPECT_FALSE(accepts("y = log(x)", {{0, 1}}, {-100, 0}));
}

TEST_F(GateByClass, NonFiniteInputsGoWhereTheFormulasSay) {
  EXPECT_TRUE(accepts("y = max(x, axis=0, keepdims=true)", {{1, kNan, 3}}, {kNan}));
  EXPECT_FALSE(accepts("y = max(x, axis=0, keepdims=true)", {{1, kNan, 3}}, {3}));
  EXPECT_TRUE(accepts("y = sum(x, axis=0, keepdims=true)", {{1, kInf, 3}}, {kInf}));
  EXPECT_FALSE(accepts("y = sum(x, axis=0, keepdims=true)", {{1, kInf, 3}}, {kNan}));
  EXPECT_TRUE(accepts("y = logsumexp(x, axis=0, keepdims=true)", {{-kInf, -kInf}}, {-kInf}));
  EXPECT_FALSE(accepts("y = logsumexp(x, axis=0, keepdims=true)", {{-kInf, -kInf}}, {kNan}));
  EXPECT_TRUE(accepts("y = softmax(x, axis=0)", {{-kInf, 0, 0}}, {0, 0.5F, 0.5F}));
  EXPECT_FALSE(accepts("y = softmax(x, axis=0)", {{-kInf, 0, 0}}, {kNan, kNan, kNan}));
  EXPECT_FALSE(accepts("y = softmax(x, axis=0)", {{kNan, 0, 0}}, {0, 0.5F, 0.5F}));
}

TEST_F(GateByClass, RoundingDecidesAboutPolesOfComputedValues) {
  // The exact difference is 0, that of rounded products may be a few units.
  EXPECT_TRUE(accepts("y = 1 / (x * z - x * z * 1.0)", {{0.1}, {0.3}}, {1e9F}));
  EXPECT_TRUE(accepts("y = log(softmax(x, axis=0))", {{0, -20000}}, {0, -20000}));
  EXPECT_TRUE(accepts("y = log(softmax(x, axis=0))", {{0, -20000}}, {0, -kInf}));
  // So may a better formula about what overflows on the way; numbers made of that are judged as ever.
  EXPECT_TRUE(accepts("y = log(exp(x) + 1.0)", {{2000, 0}}, {2000, 0.6931472F}));
  EXPECT_FALSE(accepts("y = 1.0 / (exp(x) + 1.0)", {{2000, 0}}, {0.1F, 0.5F}));
}

TEST(Gate, WhatIsDividedByAnOverflowMayBeZero) {
  // Each exponential is a number of f32, their sum is not: the anchor has 0 where the exact quotient is 1e-18. That is no measure of what others
  // may have, and 0 is no less right than the quotient.
  for (const char* const compute : {"y = exp(x) / sum(exp(x))", "y = exp(x) * reciprocal(sum(exp(x)))", "y = x * 1e-10 * rsqrt(sum(exp(x)))"}) {
    Case c(compute, {"x=f32[5]"});
    c.set(0, {88.5, 88.6, 88.6, 47, 47});
    const Reference reference = make_reference(c.graph, c.oracle(), c.task.track, 0, {whole(c.output_shape())}, 1);
    EXPECT_LE(reference.anchor.max, 0x1p-23) << compute;
    const Bound bound = bound_of(c.graph, c.task.track, 0, {reference.anchor}, 4);
    const auto refused = [&](const std::vector<float>& found) { return judge(compare_output(c.graph, 0, reference, found.data(), 1), bound, "y").has_value(); };
    EXPECT_FALSE(refused({0, 0, 0, 0, 0})) << compute;
    EXPECT_TRUE(refused({0, 0, 0, 0, 1e-3F})) << compute;
    EXPECT_TRUE(refused({0, 0, 0, 0, std::nanf("")})) << compute;
  }
  // What a root makes of an infinity is one.
  Case c("y = x / sqrt(sum(x * x))", {"x=f32[2]"});
  c.set(0, {3e19, 4e19});
  const Reference reference = make_reference(c.graph, c.oracle(), c.task.track, 0, {whole(c.output_shape())}, 1);
  EXPECT_EQ(reference.anchor.count, 0);
}

TEST_F(GateByClass, WhatOverflowedStaysSoHoweverSmallItIsMade) {
  // The squares' sum is beyond f32 and their mean is not: who divides the sum has 0, who adds up quotients 1e-19.
  const std::vector<std::vector<double>> inputs = {std::vector<double>(64, 6e18)};
  for (const char* const compute : {"y = rsqrt(mean(x * x) + 1e-5)", "y = rsqrt(sum(x * x) * 0.015625 + 1e-5)"})
    for (const float found : {0.0F, 1.6666667e-19F}) EXPECT_TRUE(accepts(compute, inputs, {found})) << compute << found;
  const std::vector<std::vector<double>> smaller = {std::vector<double>(64, 6e17)};
  EXPECT_TRUE(accepts("y = rsqrt(mean(x * x) + 1e-5)", smaller, {1.6666667e-18F}));
  EXPECT_FALSE(accepts("y = rsqrt(mean(x * x) + 1e-5)", smaller, {0}));
}

TEST_F(GateByClass, WhatMayOverflowMayBecomeNaN) {
  // The exponential is the last but a few of f32's numbers here: a library's may be infinite, and the quotient or the product with zero NaN.
  constexpr double kNearlyInfinite = 88.722839, kFar = 87;
  const float nan = std::nanf("");
  EXPECT_TRUE(accepts("y = exp(x) / (exp(x) + 1.0)", {{kNearlyInfinite, 0}}, {nan, 0.5F}));
  EXPECT_FALSE(accepts("y = exp(x) / (exp(x) + 1.0)", {{kFar, 0}}, {nan, 0.5F}));
  EXPECT_FALSE(accepts("y = exp(x) / (exp(x) + 1.0)", {{kNearlyInfinite, 0}}, {1, 0.6F}));
  EXPECT_TRUE(accepts("y = exp(x) * floor(x / 1000.0)", {{kNearlyInfinite, 0}}, {nan, 0}));
  EXPECT_FALSE(accepts("y = exp(x) * floor(x / 1000.0)", {{kFar, 0}}, {nan, 0}));
}

TEST_F(GateByClass, NothingIsAskedBehindAnOverflowOfARecurrence) {
  // 1e45 is infinite in f32, in which -1e-10 * inf + 1 stays so; the exact -1e35 does too where it is kept in more.
  const std::vector<std::vector<double>> inputs = {{0, 1e20, -1e-10, 1e10, 1}, {1e25, 0, 1, 0, 1}};
  EXPECT_TRUE(accepts("y = linear_scan(x, z, axis=0)", inputs, {1e25F, kInf, -kInf, -kInf, -kInf}));
  EXPECT_TRUE(accepts("y = linear_scan(x, z, axis=0)", inputs, {1e25F, kInf, -1e35F, -kInf, -kInf}));
  EXPECT_TRUE(accepts("y = linear_scan(x, z, axis=0)", inputs, {1e25F, kInf, kInf, kNan, 5}));
  EXPECT_FALSE(accepts("y = linear_scan(x, z, axis=0)", inputs, {1e25F, -kInf, -kInf, -kInf, -kInf}));
  EXPECT_FALSE(accepts("y = linear_scan(x, z, axis=0)", inputs, {1e25F, 1, -kInf, -kInf, -kInf}));
  // Nor where this goes on beyond the range of doubles.
  const std::vector<std::vector<double>> far = {std::vector<double>(12, -1e38), std::vector<double>(12, 1e30)};
  std::vector<float> answer(12, kInf);
  answer[0] = 1e30F, answer[1] = -kInf;
  EXPECT_TRUE(accepts("y = linear_scan(x, z, axis=0)", far, answer));
}

TEST_F(GateByClass, NothingIsAskedOfAProductThatHangsOnItsOrder) {
  const auto product = [](const std::vector<double>& x, float answer) { return accepts("y = prod(x, axis=0, keepdims=true)", {x}, {answer}); };
  // From the left infinite, from the right a number; with a zero or what becomes one, NaN.
  for (const float found : {1e30F, kInf, kNan}) EXPECT_TRUE(product({1e30, 1e30, 1e-30}, found)) << found;
  for (const float found : {0.0F, kNan}) EXPECT_TRUE(product({1e30, 1e30, 0}, found)) << found;
  for (const float found : {1e-10F, 0.0F}) EXPECT_TRUE(product({1e-30, 1e-30, 1e30, 1e20}, found)) << found;
  EXPECT_TRUE(product(std::vector<double>(400, -1e30), kInf)) << "beyond the oracle's own range";
  // In any order the same.
  for (const float found : {0.0F, kNan, -kInf}) EXPECT_FALSE(product({1e30, 1e30, 2}, found)) << found;
  for (const float found : {1.0F, kNan}) EXPECT_FALSE(product({1e-30, 1e-30, 2}, found)) << found;
  for (const float found : {1.0F, kNan}) EXPECT_FALSE(product({1e10, 0, 1e10}, found)) << found;
  EXPECT_FALSE(product({kInf, 0, 2}, kInf));
  EXPECT_FALSE(product({1e10, 1e10, 1e10}, 2e30F));
  EXPECT_TRUE(accepts("y = cumprod(x, axis=0)", {{1e30, 1e30, 1e-30, 1e-30}}, {1e30F, kInf, kNan, 0}));
  EXPECT_FALSE(accepts("y = cumprod(x, axis=0)", {{1e30, 1e30, 1e-30, 1e-30}}, {1e30F, 1, kNan, 0}));
  EXPECT_FALSE(accepts("y = cumprod(x, axis=0)", {{2, 3, 4, 5}}, {2, 6, 24, 121}));
}

TEST_F(GateByClass, TheSignOfAZeroMayDecideAboutThatOfAnInfinity) {
  EXPECT_TRUE(accepts("y = 1 / maximum(x, 0.0)", {{-0.0, 1}}, {-kInf, 1}));
  EXPECT_TRUE(accepts("y = 1 / maximum(x, 0.0)", {{-0.0, 1}}, {kInf, 1}));
  EXPECT_FALSE(accepts("y = 1 / maximum(x, 0.0)", {{-0.0, 1}}, {kNan, 1}));
}

TEST(Gate, AnElementThatHangsOnRoundingIsFiniteAllTheSame) {
  Case c("y = embedding(argmax(x * 3.0, axis=-1), t)", {"x=f32[1,2]", "t=f32[2,1]"});
  c.set(0, {1, 1});
  c.set(1, {5, 6});
  const Reference reference = make_reference(c.graph, c.oracle(), c.task.track, 0, {whole(c.output_shape())}, 1);
  const Bound bound = bound_of(c.graph, c.task.track, 0, {reference.anchor}, 4);
  const float finite = 6, nan = std::nanf("");
  EXPECT_EQ(judge(compare_output(c.graph, 0, reference, &finite, 1), bound, "y"), std::nullopt);
  EXPECT_NE(judge(compare_output(c.graph, 0, reference, &nan, 1), bound, "y"), std::nullopt);
}

TEST(Gate, SamplesHoldCornersAndEnds) {
  Case c("y = x + 1.0", {"x=f32[3000,3000]"});
  for (const uint64_t seed : {1, 2, 3}) {
    GateOptions options;
    options.sample_seed = seed;
    options.edges = 1024;
    std::set<task::Shape> single;
    int64_t last_column = 0;
    for (const Box& box : plan_boxes(c.graph, 0, options))
      if (box.count() == 1) single.insert(box.start), last_column += box.start[1] == 2999;
    for (const task::Shape& corner : {task::Shape{0, 0}, {0, 2999}, {2999, 0}, {2999, 2999}}) EXPECT_TRUE(single.contains(corner));
    EXPECT_GT(std::ssize(single), 500);
    EXPECT_GT(last_column, 20);
  }
}

TEST(Gate, poison_is_no_number_and_nobody_can_foresee_it) {
  base::Rng rng(5);
  for (const DType type : {DType::kF64, DType::kF32, DType::kBF16, DType::kF16}) {
    std::set<uint64_t> seen;
    for (int i = 0; i < 100; ++i) {
      const PoisonPattern pattern = poison_pattern(type, rng.next_u64());
      seen.insert(pattern.bits);
      double value = 0;
      load_doubles(type, &pattern.bits, 0, 1, &value);
      EXPECT_TRUE(std::isnan(value)) << task::name_of(type) << " " << pattern.bits;
      // Nor where payloads are looked for alone, without the exponent.
      const PoisonPattern bits{pattern.bits, 0};
      EXPECT_EQ(count_poison(type, bits, &pattern.bits, 1, 1), 1);
    }
    EXPECT_GT(seen.size(), 50U) << task::name_of(type);
  }
  for (int i = 0; i < 100; ++i) {
    const uint64_t bits = poison_pattern(DType::kBool, rng.next_u64()).bits;
    EXPECT_TRUE(bits > 1 && bits < 256) << bits;
  }
}

TEST(Gate, an_exact_number_is_rounded_to_few_bits_in_one_way) {
  const auto judged = [](const std::string& compute, const std::string& type, double x, double found) {
    Case c(compute, {"x=" + type + "[2]"});
    c.set(0, {x, 0});
    const Reference reference = make_reference(c.graph, c.oracle(), c.task.track, 0, {whole(c.output_shape())}, 1);
    const double values[] = {found, 0};
    uint8_t out[16];
    store_doubles(c.graph.graph.node(c.graph.graph.outputs[0]).type.dtype, values, 2, out, 0);
    const Bound bound = bound_of(c.graph, c.task.track, 0, {reference.anchor}, 4);
    return judge(compare_output(c.graph, 0, reference, out, 1), bound, "y") == std::nullopt;
  };
  // Halves go to even; the least denormal is none of zero's; a copy copies.
  EXPECT_TRUE(judged("y = f8e4m3(x)", "f32", 17, 16));
  EXPECT_FALSE(judged("y = f8e4m3(x)", "f32", 17, 18));
  EXPECT_FALSE(judged("y = f8e4m3(x)", "f32", 0x1p-9, 0));
  EXPECT_FALSE(judged("y = bf16(relu(x))", "f32", 257, 258));
  EXPECT_FALSE(judged("y = x", "f16", 1, 1 + 0x1p-10));
  // By way of f32 twice, or where roundings of what was computed may decide, one step is forgiven.
  EXPECT_TRUE(judged("y = bf16(x)", "f64", 257, 258));
  EXPECT_TRUE(judged("y = f8e4m3(x * 3)", "f32", 17.0F / 3, 16));
  EXPECT_TRUE(judged("y = f8e4m3(x * 3)", "f32", 17.0F / 3, 18));
  EXPECT_FALSE(judged("y = f8e4m3(x * 3)", "f32", 17.2F / 3, 16));
  EXPECT_FALSE(judged("y = f8e5m2(x * 3)", "f32", 9.1F / 3, 8));
  // 1.6257 in fp32, 1.625 in bf16, which is the middle between two bytes.
  EXPECT_TRUE(judged("y = f8e5m2(silu(x))", "bf16", 1.875, 1.5));
  EXPECT_TRUE(judged("y = f8e5m2(silu(x))", "bf16", 1.875, 1.75));
}

TEST(Gate, what_is_only_moved_is_the_number_that_it_was) {
  const auto judged = [](const std::string& compute, const std::string& type, double x, double found, task::Track track = task::Track::kStrict) {
    Case c(compute, {"x=" + type + "[1,1]"});
    c.task.track = track;
    c.set(0, {x});
    const Reference reference = testing::reference_of(c);
    uint8_t out[8];
    store_doubles(c.output_type(), &found, 1, out, 0);
    return judge(compare_output(c.graph, 0, reference, out, 1), bound_of(c.graph, c.task.track, 0, {reference.anchor}, 4), "y") == std::nullopt;
  };
  constexpr double kWhole = 16777215, kWide = 0x1p50 + 1;
  for (const char* moved : {"y = x", "y = x.T", "y = flip(x, axis=[0])", "y = max(x, axis=1)", "y = sort(x, axis=1)", "y = where(x > 0.0, x, 0.0)", "y = abs(-x)", "y = concat([x, x], axis=0)[1:]"}) {
    EXPECT_TRUE(judged(moved, "f32", kWhole, kWhole)) << moved;
    EXPECT_FALSE(judged(moved, "f32", kWhole, kWhole - 1)) << moved;
    EXPECT_TRUE(judged(moved, "f64", kWide, kWide)) << moved;
    EXPECT_FALSE(judged(moved, "f64", kWide, kWide - 1)) << moved;
  }
  EXPECT_TRUE(judged("y = f64(x)", "f32", kWhole, kWhole));
  EXPECT_FALSE(judged("y = f64(x)", "f32", kWhole, kWhole - 1));
  // Where something is computed, rounded or may be, and where hardware takes a number for zero, as before.
  EXPECT_TRUE(judged("y = x * 3.0", "f32", 5592405, kWhole - 1));
  EXPECT_TRUE(judged("y = f32(x)", "f64", kWhole + 0.5, kWhole));
  EXPECT_TRUE(judged("y = x.T", "f32", kWhole, kWhole - 1, task::Track::kTf32));
  EXPECT_TRUE(judged("y = max(x, axis=1)", "f32", 0x1p-130, 0));
}

TEST(Gate, one_sum_that_fp32_holds_is_rounded_to_16_bits_in_one_way) {
  const auto judged = [](const std::string& compute, const std::string& type, double a, double b, double found) {
    Case c(compute, {"a=" + type + "[1]", "b=" + type + "[1]"});
    c.set(0, {a});
    c.set(1, {b});
    const Reference reference = testing::reference_of(c);
    uint8_t out[8];
    store_doubles(c.output_type(), &found, 1, out, 0);
    return judge(compare_output(c.graph, 0, reference, out, 1), bound_of(c.graph, c.task.track, 0, {reference.anchor}, 4), "y") == std::nullopt;
  };
  constexpr double kStep = 0x1p-10;  // of f16 behind 1
  EXPECT_TRUE(judged("y = a + b", "f16", 1, 0x1.8p-11, 1 + kStep));
  EXPECT_FALSE(judged("y = a + b", "f16", 1, 0x1.8p-11, 1)) << "cut off";
  EXPECT_FALSE(judged("y = relu(a - b)", "f16", 1, -0x1p-11, 1 + kStep)) << "a half goes to even";
  EXPECT_FALSE(judged("y = bf16(a * b)", "f32", 257, 1, 258));
  // What fp32 does not hold is rounded twice by who computes there; of two roundings, and of sums below what some hardware has, nothing is said.
  EXPECT_TRUE(judged("y = a + b", "bf16", 256, 0x1p-30, 258));
  EXPECT_TRUE(judged("y = a * b + b", "f16", 1, 0x1.8p-11, 0x1.8p-10 + 0x1p-20));
  EXPECT_TRUE(judged("y = a + b", "bf16", 0x1p-126, 0x1p-133, 0x1p-126));
}

TEST(Gate, results_below_the_smallest_normal_may_be_flushed) {
  Case c("y = x * 0.5", {"x=f32[2]"});
  c.set(0, {0x1p-126, 1});
  const Oracle oracle = c.oracle();
  const Reference reference = make_reference(c.graph, oracle, c.task.track, 0,
                                             {whole(c.output_shape())}, 1);
  const float flushed[] = {0, 0.5F}, wrong[] = {0x1p-124F, 0.5F};
  const Bound bound = bound_of(c.graph, c.task.track, 0, {reference.anchor}, 4);
  EXPECT_EQ(judge(compare_output(c.graph, 0, reference, flushed, 1), bound, "y"), std::nullopt);
  EXPECT_NE(judge(compare_output(c.graph, 0, reference, wrong, 1), bound, "y"), std::nullopt);

  // A copy, too, though it rounds nothing: to zero, and nowhere else. f16's are never flushed.
  for (const auto& [type, smallest] : {std::pair{std::string("f32"), 0x1p-126}, {std::string("f16"), 0x1p-14}}) {
    Case copy("y = relu(x)", {"x=" + type + "[2]"});
    copy.set(0, {smallest / 2, 1});
    const Reference exact = make_reference(copy.graph, copy.oracle(), copy.task.track, 0,
                                           {whole(copy.output_shape())}, 1);
    const auto refused = [&](double value) {
      const double values[] = {value, 1};
      uint8_t out[8];
      store_doubles(copy.output_type(), values, 2, out, 0);
      return judge(compare_output(copy.graph, 0, exact, out, 1), bound_of(copy.graph, copy.task.track, 0, {{}}, 4), "y").has_value();
    };
    EXPECT_EQ(refused(0), type == "f16");
    EXPECT_TRUE(refused(smallest / 4));
    EXPECT_FALSE(refused(smallest / 2));
  }
}

TEST(Gate, the_usual_silu_passes_where_its_exponential_overflows) {
  Case c("y = silu(x) * w", {"x=f32[200]", "w=f32[200]"});
  const Family large[] = {Family::kLarge};
  EXPECT_EQ(judged(c, [](const Case& k) {
              const auto x = floats(k, 0), w = floats(k, 1);
              std::vector<double> y(x.size());
              for (size_t i = 0; i < x.size(); ++i) y[i] = x[i] * (1.0F / (1.0F + std::exp(-x[i]))) * w[i];
              return y;
            }, large),
            std::nullopt);
  // -90 is where 1 + exp(-x) is infinite while the result, -7e-38, is still normal.
  c.set(0, std::vector<double>(200, -90.0));
  const Reference reference = make_reference(c.graph, c.oracle(), c.task.track, 0, {whole(c.output_shape())}, 1);
  const std::vector<float> zeros(200, 0.0F);
  EXPECT_EQ(judge(compare_output(c.graph, 0, reference, zeros.data(), 1),
                  bound_of(c.graph, c.task.track, 0, {reference.anchor}, 4), "y"), std::nullopt);
}

TEST(Gate, what_the_declared_types_cannot_hold_is_not_judged) {
  // 300 * 300 is beyond f16, and silu of an infinity is no number; of the sum that fits, much is asked.
  Case c("y = silu(linear(x, w))", {"x=f16[2,1]", "w=f16[1,1]"});
  c.set(0, {-300, -3});
  c.set(1, {300});
  const Reference reference = make_reference(c.graph, c.oracle(), c.task.track, 0, {whole(c.output_shape())}, 1);
  const auto refused = [&](double first, double second) {
    const double values[] = {first, second};
    uint8_t out[4];
    store_doubles(c.output_type(), values, 2, out, 0);
    return judge(compare_output(c.graph, 0, reference, out, 1), bound_of(c.graph, c.task.track, 0, {reference.anchor}, 4), "y").has_value();
  };
  EXPECT_FALSE(refused(std::nan(""), 0));
  EXPECT_FALSE(refused(0, 0));
  EXPECT_TRUE(refused(0, std::nan("")));
  EXPECT_TRUE(refused(0, 1));
}

TEST(Gate, an_infinity_may_stand_for_the_last_numbers_of_a_type_where_answers_are_off_by_more) {
  // Terms of 7e7, of factors that were rounded to f16, leave 65152: what is rounded away of them reaches beyond 65504. Of a number by
  // itself it does not.
  Case c("y = x @ (w * s)", {"x=f16[1,3]", "w=f16[3,1]", "s=f16[3,1]"});
  c.set(2, {1, 1, 1});
  const double kInfinity = std::numeric_limits<double>::infinity();
  const auto refused = [&](std::vector<double> x, std::vector<double> w, double found) {
    c.set(0, x);
    c.set(1, w);
    const Reference reference = make_reference(c.graph, c.oracle(), c.task.track, 0, {whole(c.output_shape())}, 1);
    uint8_t out[2];
    store_doubles(c.output_type(), &found, 1, out, 0);
    return judge(compare_output(c.graph, 0, reference, out, 1), bound_of(c.graph, c.task.track, 0, {reference.anchor}, 4), "y").has_value();
  };
  EXPECT_FALSE(refused({8192, -8192, 16288}, {8192, 8192, 4}, 65152));
  EXPECT_FALSE(refused({8192, -8192, 16288}, {8192, 8192, 4}, kInfinity));
  EXPECT_TRUE(refused({8192, -8192, 16288}, {8192, 8192, 4}, -kInfinity));
  EXPECT_TRUE(refused({0, 0, 10240}, {1, 1, 4}, kInfinity));
}

TEST(Gate, the_message_names_the_worst_element) {
  Case c("y = x * 2.0", {"x=f32[10]"});
  c.set(0, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  const Reference reference = make_reference(c.graph, c.oracle(), c.task.track, 0,
                                             {whole(c.output_shape())}, 1);
  float y[10];
  for (int i = 0; i < 10; ++i) y[i] = 2.0F * static_cast<float>(i + 1);
  y[6] = 15;
  const OutputError error = compare_output(c.graph, 0, reference, y, 1);
  EXPECT_EQ(error.worst_index, 6);
  const auto why = judge(error, bound_of(c.graph, c.task.track, 0, {reference.anchor}, 4), "y");
  ASSERT_TRUE(why);
  EXPECT_NE(why->find("element 6: expected 14, found 15"), std::string::npos) << *why;
}

TEST(Gate, boxes_cover_small_outputs_and_sample_large_ones_evenly) {
  Case small("y = softmax(x, axis=-1)", {"x=f32[100,1000]"});
  int64_t covered = 0;
  for (const Box& box : plan_boxes(small.graph, 0, {})) covered += box.count();
  EXPECT_EQ(covered, 100000);

  // Rows come whole where a reduction forces them; over many seeds every row is as likely.
  Case large("y = softmax(x, axis=-1)", {"x=f32[64,4096]"});
  GateOptions options;
  options.full_limit = 1000;
  options.sample_elements = 16 * 4096;
  std::vector<int> hits(64, 0);
  for (options.sample_seed = 0; options.sample_seed < 400; ++options.sample_seed)
    for (const Box& box : plan_boxes(large.graph, 0, options)) {
      EXPECT_EQ(box.extent.back(), 4096);
      for (int64_t r = 0; r < box.extent[0]; ++r) ++hits[static_cast<size_t>(box.start[0] + r)];
    }
  for (size_t row = 1; row + 1 < hits.size(); ++row) EXPECT_NEAR(hits[row], 400.0 * 16 / 64, 45) << row;
  // The ends are in every sample.
  EXPECT_EQ(hits.front(), 400);
  EXPECT_EQ(hits.back(), 400);
}

TEST(Gate, dear_elements_come_in_boxes_of_few) {
  // A row of a million products: sixteen boxes of 256 rows would be all of the answer, and take seconds.
  const task::Task task = task::task_from_expressions("y = a @ x", {"a=f32[2048,1048576]", "x=f32[1048576,1]"}, {}).value();
  const task::ConcreteGraph dear = task::instantiate(task.primitive, {}).value();
  GateOptions options;
  options.sample_seed = 7;
  const auto boxes = plan_boxes(dear, 0, options);
  EXPECT_GE(boxes.size(), 16u);
  int64_t rows = 0;
  for (const Box& box : boxes) rows += box.count();
  EXPECT_GE(rows, 16);
  EXPECT_LE(rows, 2048 / 4);
}

TEST(Gate, draws_are_averaged_and_never_below_the_floor) {
  Case c("y = x * 2.0", {"x=f32[100]"});
  OutputError a, b;
  a.max = 4e-6, a.rms = 2e-6, a.count = 100;
  b.max = 2e-6, b.rms = 0, b.count = 100;
  const Bound bound = bound_of(c.graph, c.task.track, 0, {a, b}, 4);
  EXPECT_DOUBLE_EQ(bound.max, 12e-6);
  EXPECT_DOUBLE_EQ(bound.rms, 4e-6);
  const Bound floor = bound_of(c.graph, c.task.track, 0, {{}}, 4);
  EXPECT_EQ(floor.max, 0x1p-23);
  EXPECT_EQ(floor.rms, 0x1p-24);
}

TEST(Gate, few_elements_are_pooled_over_draws) {
  Case c("y = sum(x, axis=1)", {"x=f32[2,100]"});
  OutputError a, b;
  a.max = 4e-6, a.rms = 3e-6, a.count = 2;
  b.max = 2e-6, b.rms = 1e-6, b.count = 2;
  const Bound bound = bound_of(c.graph, c.task.track, 0, {a, b}, 4);
  EXPECT_DOUBLE_EQ(bound.max, 16e-6);
  EXPECT_DOUBLE_EQ(bound.rms, 4e-6 * std::sqrt(5));
  // One element's mean square is its maximum.
  const Bound floor = bound_of(c.graph, c.task.track, 0, {{}}, 4);
  EXPECT_EQ(floor.max, 0x1p-23);
  EXPECT_EQ(floor.rms, 0x1p-23);
}

TEST(Gate, what_one_rounding_moves_alike_counts_as_one) {
  const auto floor_of = [](const std::string& compute) {
    Case c(compute, {"x=f32[64,100]"});
    return bound_of(c.graph, c.task.track, 0, {{}}, 4).rms;
  };
  // One mean and one deviation for all elements; none; 64; no sum, but a maximum, which does not round.
  EXPECT_EQ(floor_of("y = (x - mean(x)) / sqrt(var(x) + 1e-5)"), 0x1p-23);
  EXPECT_EQ(floor_of("y = relu(x)"), 0x1p-24);
  EXPECT_EQ(floor_of("y = layer_norm(x)"), 0x1p-24);
  EXPECT_EQ(floor_of("y = x - max(x)"), 0x1p-24);
}

TEST(Gate, the_floor_of_sixteen_units_is_for_products_alone) {
  const auto floor_of = [](const std::string& compute, const std::vector<std::string>& inputs) {
    Case c(compute, inputs);
    return bound_of(c.graph, c.task.track, 0, {{}}, 4).max;
  };
  EXPECT_EQ(floor_of("y = softmax(x @ w)", {"x=f32[32,64]", "w=f32[64,32]"}), 0x1p-20);
  EXPECT_EQ(floor_of("y = relu(conv1d(x, w))", {"x=f32[2,4,50]", "w=f32[8,4,3]"}), 0x1p-20);
  EXPECT_EQ(floor_of("y = conv_transpose1d(x, w)", {"x=f32[2,4,50]", "w=f32[4,8,3]"}), 0x1p-20);
  for (const std::string compute : {"y = softmax(x)", "y = layer_norm(x)", "y = sum(x, axis=1)", "y = cumsum(x, axis=1)",
                                    "y = avg_pool1d(x, 3)", "y = logsumexp(x, axis=2)"})
    EXPECT_EQ(floor_of(compute, {"x=f32[4,32,64]"}), 0x1p-23) << compute;
  EXPECT_EQ(floor_of("y = x @ w", {"x=bf16[32,64]", "w=bf16[64,32]"}), 0x1p-7);
  EXPECT_EQ(floor_of("y = exp(x)", {"x=f64[32]"}), 0x1p-43);
}

TEST(Gate, bounds_are_never_below_those_of_normal_inputs) {
  // Products of a few small integers are exact: without the normal draws the floor alone would be left.
  Case c("y = cumprod(x, axis=1)", {"x=f32[64,12]"});
  Bounds bounds(c.task, c.graph, 5, 1);
  EXPECT_EQ(bounds.further_anchors(0, Family::kInteger).size(), 3);
  for (const OutputError& error : bounds.further_anchors(0, Family::kInteger)) EXPECT_EQ(error.max, 0);
  const Bound normal = bound_of(c.graph, c.task.track, 0, bounds.further_anchors(0, Family::kNormal), 4);
  EXPECT_GT(normal.max, 0x1p-23);
  EXPECT_EQ(bounds.of(0, Family::kInteger, {}).max, normal.max);
  Case one("y = sum(x)", {"x=f32[64,20]"});
  Bounds few(one.task, one.graph, 5, 1);
  EXPECT_EQ(few.further_anchors(0, Family::kNormal).size(), 15);
}

/// One output element of f16 from elements of f16, judged when the program's own roundings are taken, and when `found` is.
OutputError judged_f16(const std::string& compute, const std::vector<std::vector<double>>& inputs, double found) {
  std::vector<std::string> types(inputs.size(), "");
  for (size_t i = 0; i < inputs.size(); ++i) types[i] = fmt::format("{}=f16[1,1]", std::string(1, static_cast<char>('a' + i)));
  Case c(compute, types);
  for (size_t i = 0; i < inputs.size(); ++i) c.set(i, inputs[i]);
  const Reference reference = make_reference(c.graph, c.oracle(), c.task.track, 0, plan_boxes(c.graph, 0, {}), 1);
  uint16_t out = 0;
  store_doubles(DType::kF16, &found, 1, &out, 0);
  return compare_output(c.graph, 0, reference, &out, 1);
}

TEST(Gate, where_f16_ends_an_honest_program_may_be_on_either_side) {
  // 65515: nearer to 65504 than to what would be next. A sum in another order is as likely beyond.
  EXPECT_EQ(judged_f16("y = a @ b", {{255.875}, {256.0}}, HUGE_VAL).non_finite, 0);
  EXPECT_EQ(judged_f16("y = a @ b", {{255.875}, {256.0}}, 65504).non_finite, 0);
  EXPECT_GT(judged_f16("y = a @ b", {{250.0}, {256.0}}, HUGE_VAL).max, 20 * task::unit_roundoff(DType::kF16));
  // Whatever follows from it.
  EXPECT_EQ(judged_f16("y = gelu(a @ b)", {{-255.875}, {256.0}}, NAN).non_finite, 0);
  EXPECT_EQ(judged_f16("y = gelu(a @ b)", {{-250.0}, {256.0}}, NAN).non_finite, 1);
}

TEST(Gate, WhatTypesOfTheProgramRoundAwayIsNotJudged) {
  // x * x is below f16's least number: who rounds it, as the program's types say, divides by zero.
  for (const double found : {1.0, HUGE_VAL, double(NAN)}) EXPECT_EQ(judged_f16("y = a / sqrt(a * a) + 0.0 * b", {{1e-5}, {1.0}}, found).non_finite, 0) << found;
  EXPECT_EQ(judged_f16("y = a / sqrt(a * a) + 0.0 * b", {{1e-1}, {1.0}}, HUGE_VAL).non_finite + judged_f16("y = a / sqrt(a * a) + 0.0 * b", {{1e-1}, {1.0}}, NAN).non_finite, 1);
  // Beyond its end, an infinity that meets its like.
  EXPECT_EQ(judged_f16("y = a * b - a * b * 0.5", {{1000.0}, {1000.0}}, NAN).non_finite, 0);
}

TEST(Gate, what_decides_is_the_bound_wherever_it_matters) {
  for (const auto& [compute, input] : std::vector<std::pair<std::string, std::string>>{
           {"y = softmax(x)", "x=f32[64,300]"}, {"y = cumprod(x, axis=1)", "x=f32[64,12]"}, {"y = sum(x)", "x=f32[64,20]"},
           {"y = bf16(exp(x))", "x=f32[400,100]"}, {"y = sum(x, axis=1)", "x=f32[300,70]"}}) {
    Case c(compute, {input});
    Bounds known(c.task, c.graph, 5, 1);
    for (const Family family : kAllFamilies) {
      c.draw_all(family, 7);
      const Reference reference = make_reference(c.graph, c.oracle(), c.task.track, 0, plan_boxes(c.graph, 0, {}), 1);
      const Bound bound = known.of(0, family, reference.anchor);
      for (const double share : {0.0, 0.1, 0.4, 0.79, 0.81, 0.99, 1.01, 3.0})
        for (const bool rms_alone : {false, true}) {
          OutputError error = reference.anchor;
          error.max = rms_alone ? 0 : share * bound.max;
          error.rms = share * bound.rms;
          Bounds fresh(c.task, c.graph, 5, 1);
          double nearest = 1;
          const Bound decided = fresh.deciding(0, family, reference.anchor, error, nearest);
          EXPECT_LE(decided.max, bound.max) << compute << ", " << name_of(family);
          EXPECT_LE(decided.rms, bound.rms) << compute << ", " << name_of(family);
          const auto far_within = [&](const Bound& of) { return error.max < Bounds::kFarWithin * of.max && error.rms < Bounds::kFarWithin * of.rms; };
          EXPECT_EQ(far_within(decided), far_within(bound)) << compute << ", " << name_of(family) << ", " << share;
          if (error.max > 0) {
            Bounds another(c.task, c.graph, 5, 1);
            nearest = 0;
            EXPECT_EQ(another.deciding(0, family, reference.anchor, error, nearest).max, bound.max) << "it is the nearest so far";
            EXPECT_EQ(nearest, error.max / bound.max);
          }
          if (!far_within(bound)) {
            EXPECT_EQ(decided.max, bound.max) << compute << ", " << name_of(family) << ", " << share;
          }
        }
    }
  }
}

/// Mismatches of int64 indices in output 0.
int64_t mismatches(const Case& c, const std::vector<int64_t>& indices) {
  const Oracle oracle = c.oracle();
  const Reference reference =
      make_reference(c.graph, oracle, c.task.track, 0, {whole(c.output_shape())}, 1);
  return compare_output(c.graph, 0, reference, indices.data(), 1).mismatches;
}

TEST(Gate, indices_are_judged_by_the_value_at_them) {
  Case c("y = argmax(x, axis=1)", {"x=f32[2,4]"});
  c.set(0, {1, 3, 3, 2, -1, -2, -1, -1});
  EXPECT_EQ(mismatches(c, {1, 0}), 0);
  EXPECT_EQ(mismatches(c, {2, 3}), 0);
  EXPECT_EQ(mismatches(c, {0, 1}), 2);
  EXPECT_EQ(mismatches(c, {4, -1}), 2);  // outside

  Case down("y = cast(argmin(x, axis=0, keepdims=true), i64)", {"x=f32[3,2]"});
  down.set(0, {1, 5, 1, 4, 2, 4});
  EXPECT_EQ(mismatches(down, {1, 2}), 0);
  EXPECT_EQ(mismatches(down, {2, 0}), 2);
}

TEST(Gate, computed_values_may_tie_within_their_rounding) {
  // 0.1 + 0.2 and 0.3 agree in fp64 to a rounding only; fp32 cannot tell them apart.
  Case c("y = argmax(x * 3.0 + w, axis=0)", {"x=f32[3]", "w=f32[3]"});
  c.set(0, {0.1, 0.3, 0.2});
  c.set(1, {0.6, 0, 0.1});
  EXPECT_EQ(mismatches(c, {0}), 0);
  EXPECT_EQ(mismatches(c, {1}), 0);
  EXPECT_EQ(mismatches(c, {2}), 1);
}

TEST(Gate, sure_values_make_room_for_unsure_ones_in_an_order) {
  // Every other value is what a large product and its opposite leave, with the roundings of both; those between are as good as exact. One of the
  // first may come before or after many of the second, and each of these then stands at another rank.
  constexpr int kCount = 512;
  for (const bool descending : {false, true})
    for (const uint64_t seed : {1, 2, 3}) {
      Case c(fmt::format("y = argsort(x * s + b, axis=1, descending={})", descending), {"x=f32[1,512]", "s=f32[1,512]", "b=f32[1,512]"});
      std::mt19937_64 random(seed);
      std::uniform_real_distribution<double> small(0, 1e-4), large(1000, 2000);
      std::vector<double> x(kCount), s(kCount), b(kCount);
      std::vector<float> found(kCount);
      for (size_t i = 0; i < kCount; ++i) {
        x[i] = i % 2 ? static_cast<float>(large(random)) : 0;
        s[i] = static_cast<float>(1 + small(random));
        const volatile float product = static_cast<float>(x[i]) * static_cast<float>(s[i]);  // rounded before it is added to
        b[i] = static_cast<float>(small(random) - product);
        found[i] = product + static_cast<float>(b[i]);
      }
      c.set(0, x), c.set(1, s), c.set(2, b);
      std::vector<int64_t> order(kCount);
      std::iota(order.begin(), order.end(), 0);
      std::ranges::stable_sort(order, [&](int64_t i, int64_t j) { return descending ? found[j] < found[i] : found[i] < found[j]; });
      EXPECT_EQ(mismatches(c, order), 0) << seed;
      // Of the sure ones none may stand far from its place.
      std::vector<int64_t> wrong = order;
      const auto sure = [](int64_t i) { return i % 2 == 0; };
      std::swap(*std::ranges::find_if(wrong, sure), *std::find_if(wrong.rbegin(), wrong.rend(), sure));
      EXPECT_GE(mismatches(c, wrong), 1) << seed;
      std::ranges::reverse(order);
      EXPECT_GE(mismatches(c, order), kCount / 8) << seed;
    }
}

TEST(Gate, what_is_made_of_exact_numbers_and_held_decides) {
  Case c("y = i64(round(x * s))", {"x=f32[4]", "s=f32[4]"});
  c.set(0, {2.5, 1.5, -0.5, 1.0F / 3});
  c.set(1, {1, 3, 1, 1.5});
  EXPECT_EQ(mismatches(c, {2, 4, 0, 0}), 0);
  EXPECT_GE(mismatches(c, {3, 5, -1, 0}), 1);  // a whole number but 0 is forgiven by the cast behind it
  EXPECT_EQ(mismatches(c, {2, 4, 0, 1}), 0);  // 0.50000001, which is no number of fp32
  // By way of a second rounding either is right: of (x / s) * s one bit may be lost.
  Case twice("y = i64(round(x * s * s))", {"x=f32[1]", "s=f32[1]"});
  twice.set(0, {2.5});
  twice.set(1, {1});
  EXPECT_EQ(mismatches(twice, {3}), 0);
  // Zero times a number that fp32 does not hold is zero.
  Case zeros("y = i64(abs(a - b) <= 0.001 * abs(b))", {"a=f32[2]", "b=f32[2]"});
  zeros.set(0, {0, 1.001});
  zeros.set(1, {0, 1});
  EXPECT_EQ(mismatches(zeros, {1, 0}), 0);
  EXPECT_EQ(mismatches(zeros, {0, 1}), 1);
}

TEST(Gate, a_sort_names_every_element_once) {
  Case c("y = argsort(x, axis=1)", {"x=f32[1,5]"});
  c.set(0, {2, 1, 2, 1, 0});
  EXPECT_EQ(mismatches(c, {4, 1, 3, 0, 2}), 0);
  EXPECT_EQ(mismatches(c, {4, 3, 1, 2, 0}), 0);
  EXPECT_EQ(mismatches(c, {4, 1, 1, 0, 2}), 1);
  EXPECT_EQ(mismatches(c, {4, 1, 0, 3, 2}), 2);
}

TEST(Gate, operations_say_where_any_of_equal_elements_is_right) {
  int judged = 0;
  for (const auto& [name, op] : task::op_table()) {
    if (name != op.name) continue;
    for (const char* arguments : {"(x)", "(x, axis=-1)", "(x, 3)"}) {
      for (const char* outputs : {"y", "v, y"}) {
        const auto task = task::task_from_expressions(fmt::format("{} = {}{}", outputs, name, arguments), {"x=f32[8, 9]"}, {});
        if (!task) continue;
        const auto graph = task::instantiate(task->primitive, {});
        if (!graph) continue;
        for (size_t output = 0; output < task->outputs.size(); ++output) {
          if (judged_by_value(*graph, static_cast<int>(output)) < 0) continue;
          ++judged;
          EXPECT_THAT(op.doc, ::testing::AllOf(::testing::HasSubstr("as an output"), ::testing::HasSubstr("equal"))) << name;
        }
      }
    }
  }
  EXPECT_GE(judged, 4);  // argmax, argmin, argsort, topk
}

TEST(SelfTest, sound_tasks_pass) {
  for (const auto& [compute, inputs] : std::vector<std::pair<std::string, std::vector<std::string>>>{
           {"y = softmax(x, axis=-1)", {"x=f32[64,128]"}},
           {"y = relu(x)", {"x=f32[64,128]"}},
           {"y = mean(x)", {"x=f32[64,128]"}},
           {"y = sqrt(sum(x * x))", {"x=f32[64,128]"}},
           {"y = layer_norm(x, axis=-1)", {"x=f32[64,128]"}},
           {"y = reshape(x, (128, 64))", {"x=f32[64,128]"}},
           {"y = cast(x > 0.0, i32)", {"x=f32[64,128]"}},
           {"y = x @ w", {"x=f32[33,200]", "w=f32[200,40]"}},
           {"y = bmm(x, w)", {"x=f32[3,33,50]", "w=f32[3,50,40]"}},
           {"y = conv2d(x, w, b, padding=1)", {"x=f32[2,3,16,16]", "w=f32[8,3,3,3]", "b=f32[8]"}},
           {"y = conv_transpose2d(x, w, stride=2)", {"x=f32[2,3,8,8]", "w=f32[3,4,3,3]"}},
           {"y = max_pool2d(x, 2)", {"x=f32[2,3,16,16]"}},
           {"y = avg_pool2d(x, 3, stride=1, padding=1)", {"x=f32[2,3,16,16]"}},
           {"y = cumsum(x, axis=1)", {"x=f32[20,300]"}},
           {"y = cumprod(x, axis=1)", {"x=f32[20,300]"}},
           {"y = argmax(x, axis=1)", {"x=f32[64,100]"}},
           {"y = argsort(x, axis=1)", {"x=f32[10,100]"}},
           {"y = sort(x, axis=1)", {"x=f32[10,100]"}},
           {"y = sum(x, axis=1)", {"x=f32[10,100]"}},
           {"y = logsumexp(x, axis=1)", {"x=f32[10,100]"}},
           {"y = batch_norm(x, w, b)", {"x=f32[8,4,10]", "w=f32[4]", "b=f32[4]"}},
           {"y = rms_norm(x, w)", {"x=f32[8,100]", "w=f32[100]"}},
           {"y = attention(q, k, v)", {"q=f32[1,2,16,8]", "k=f32[1,2,16,8]", "v=f32[1,2,16,8]"}},
           {"y = mse_loss(x, t)", {"x=f32[64,10]", "t=f32[64,10]"}},
           {"y = cross_entropy(x, argmax(w, axis=1))", {"x=f32[64,10]", "w=f32[64,10]"}},
           {"y = embedding(argmax(x, axis=1), w)", {"x=f32[30,20]", "w=f32[20,16]"}},
           {"y = x @ w", {"x=bf16[33,200]", "w=bf16[200,40]"}},
           {"y = softmax(x, axis=-1)", {"x=f16[33,200]"}},
           {"y = gelu(x)", {"x=bf16[33,200]"}},
           {"y = tril(x) @ tril(w)", {"x=f32[64,64]", "w=f32[64,64]"}}}) {
    Case c(compute, inputs);
    EXPECT_THAT(self_test(c.task, 1).value(), ::testing::IsEmpty()) << compute;
  }
}

TEST(SelfTest, tasks_about_nan_are_looked_at_with_some) {
  for (const auto& [compute, inputs] : std::vector<std::pair<std::string, std::vector<std::string>>>{
           {"y = where(isnan(x), 0.0, x)", {"x=f32[64,128]"}}, {"y = sum(cast(isnan(x), i32), axis=1)", {"x=f32[64,128]"}}}) {
    Case c(compute, inputs);
    c.task.nan_policy = true;
    EXPECT_THAT(self_test(c.task, 1).value(), ::testing::IsEmpty()) << compute;
  }
}

std::vector<std::string> let_through(const Case& c) {
  std::vector<std::string> all;
  const std::vector<Degenerate> passed = self_test(c.task, 1).value();
  for (const Degenerate& one : passed) all.push_back(one.describe(c.task));
  return all;
}

// Whether it varies in one draw of each family is a matter of luck.
TEST(SelfTest, truth_values_that_seldom_vary_are_drawn_until_they_do) {
  Case above("y = any(x > t, axis=1)", {"x=f32[64,20]", "t=f32[20]"});
  Case masked("y = all(m, axis=1)", {"m=bool[16,40]"});
  for (uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_THAT(self_test(above.task, seed).value(), ::testing::IsEmpty()) << seed;
    EXPECT_THAT(self_test(masked.task, seed).value(), ::testing::IsEmpty()) << seed;
  }
  Case never("y = any(abs(x) < 0.0, axis=1)", {"x=f32[64,20]"});
  EXPECT_THAT(let_through(never), ::testing::Contains("y: zeros pass"));
}

TEST(SelfTest, tasks_that_cannot_tell_are_named) {
  Case zero("y = x - x", {"x=f32[100]"});
  EXPECT_THAT(let_through(zero), ::testing::Contains("y: zeros pass"));
  Case same("y = x * 1.0 + 0.0", {"x=f32[100]"});
  EXPECT_THAT(let_through(same), ::testing::Contains("y: the input x, unchanged, passes"));
}

}  // namespace
}  // namespace hone::evaluate
