// The oracle on whole tasks: against formulas written out, box against whole, and its scales.
#include "hone/evaluate/oracle/oracle.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "hone/base/random.h"
#include "hone/evaluate/oracle/testing.h"

namespace hone::evaluate::oracle_cases {
namespace {

using testing::Case;

std::vector<double> values_of(const Case& c, size_t input) {
  std::vector<double> v(static_cast<size_t>(task::element_count(c.shape(input))));
  load_doubles(c.task.inputs[input].type.dtype, c.data[input].data(), 0,
               static_cast<int64_t>(v.size()), v.data());
  return v;
}

TEST(Oracle, softmax_is_the_formula) {
  Case c("y = softmax(x, axis=-1)", {"x=f32[7,300]"});
  c.draw_all(Family::kNormal, 1);
  const auto x = values_of(c, 0);
  const Answer y = c.answer();
  for (size_t r = 0; r < 7; ++r) {
    double sum = 0;
    for (size_t i = 0; i < 300; ++i) sum += std::exp(x[r * 300 + i]);
    for (size_t i = 0; i < 300; ++i) {
      const double want = std::exp(x[r * 300 + i]) / sum;
      EXPECT_NEAR(y.value[r * 300 + i], want, 1e-14 * want);
      EXPECT_GE(y.scale[r * 300 + i], want);
      EXPECT_LE(y.scale[r * 300 + i], 60 * want);
    }
  }
}

TEST(Oracle, answers_do_not_depend_on_threads) {
  // Rows by rows, tiles by tiles, and one number: each too large to hold at once.
  for (const char* compute : {"y = mean(logsumexp(x, axis=1))", "y = logsumexp(x, axis=1)", "y = softmax(x, axis=0)"}) {
    Case c(compute, {"x=f32[700,1500]"});
    c.draw_all(Family::kNormal, 5);
    std::vector<TensorView> views;
    for (size_t i = 0; i < c.data.size(); ++i) views.push_back({c.task.inputs[i].type.dtype, c.shape(i), c.data[i].data()});
    const Box all = whole(c.output_shape());
    const Answer one = Oracle(c.graph, views).evaluate(0, all, Arithmetic::kExact, true);
    for (const int threads : {2, 7}) {
      const Answer several = Oracle(c.graph, views, task::Track::kStrict, threads).evaluate(0, all, Arithmetic::kExact, true, threads);
      EXPECT_EQ(several.value, one.value) << compute << " by " << threads;
      EXPECT_EQ(several.scale, one.scale) << compute << " by " << threads;
    }
  }
}

TEST(Oracle, sums_scale_with_the_absolute_values) {
  Case c("y = sum(x, axis=0)", {"x=f32[3,2]"});
  c.set(0, {1, -2, 3, 4, -5, 6});
  const Answer y = c.answer();
  EXPECT_EQ(y.value, (std::vector<double>{-1, 8}));
  EXPECT_EQ(y.scale, (std::vector<double>{9, 12}));
}

TEST(Oracle, copies_and_picks_scale_with_the_value) {
  Case c("y = max(transpose(x), axis=0)", {"x=f32[2,3]"});
  c.set(0, {1, -2, 3, -4, -5, -6});
  const Answer y = c.answer();
  EXPECT_EQ(y.value, (std::vector<double>{3, -4}));
  EXPECT_EQ(y.scale, (std::vector<double>{3, 4}));
}

TEST(Oracle, a_narrow_output_counts_inner_roundings_in_its_own_units) {
  // The sum cancels: an fp32 rounding of its terms matters less than one bf16 rounding of the result.
  Case c("y = sum(x, axis=0)", {"x=bf16[3]"});
  c.set(0, {256, -255, 1});
  const Answer y = c.answer();
  EXPECT_EQ(y.value[0], 2);
  EXPECT_DOUBLE_EQ(y.scale[0], 2);
}

TEST(Oracle, a_condition_that_hangs_on_rounding_opens_the_jump) {
  // sum(x) - 1 is zero up to rounding: which branch is taken is open, and the scale says so.
  Case c("s = sum(x, axis=0, keepdims=true) - 1; y = where(s > 0, 100.0, 3.0)", {"x=f32[2]"});
  c.set(0, {0.75, 0.25});
  const Answer open = c.answer();
  EXPECT_GE(open.scale[0] * 0x1p-24, 97);
  c.set(0, {0.75, 0.5});
  const Answer sure = c.answer();
  EXPECT_EQ(sure.value[0], 100);
  EXPECT_EQ(sure.scale[0], 100);
}

TEST(Oracle, what_nobody_can_say_of_integers_is_open_and_nothing_else) {
  Case c("i = i8(x); y = i + 1; z = f32(i) * w; v = where(w > 0, i, i8(0))", {"x=f32[4]", "w=f32[4]"});
  c.set(0, {300, std::nan(""), 5, -128.5});
  c.set(1, {0, 1, 2, 0});
  for (int output = 0; output < static_cast<int>(c.task.outputs.size()); ++output) {
    const Answer answer = c.answer(Arithmetic::kExact, output);
    const std::string& name = c.task.outputs[static_cast<size_t>(output)].first;
    EXPECT_TRUE(std::isinf(answer.scale[1])) << name;
    for (const size_t sure : {2, 3}) EXPECT_TRUE(std::isfinite(answer.scale[sure])) << name << " " << sure;
    for (const double scale : answer.scale) EXPECT_FALSE(std::isnan(scale)) << name;
  }
  Case sum("y = a + b", {"a=i64[2]", "b=i64[2]"});
  sum.set(0, {0x1p60, 3});
  sum.set(1, {1, 0x1p40});
  EXPECT_TRUE(std::isinf(sum.answer().scale[0]));
  EXPECT_EQ(sum.answer().scale[1], 0);
}

/// Beyond 2^53 the oracle either knows the integer of 64 bits or says that it does not.
TEST(Oracle, WideIntegersAreThoseOf64BitsOrOpen) {
  struct Wide {
    std::string_view text;
    std::function<int64_t(int64_t, int64_t)> of;
    bool always = false;  ///< no result is open
  };
  const auto times = [](int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b)); };
  const auto shifted = [](int64_t a, int64_t n) { return n < 0 || n > 63 ? 0 : static_cast<int64_t>(static_cast<uint64_t>(a) << n); };
  const auto power = [&](int64_t a, int64_t n) {
    int64_t result = 1;
    for (int64_t i = 0; i < n; ++i) result = times(result, a);
    return n < 0 ? (a == 1 ? 1 : a == -1 ? (n % 2 == 0 ? 1 : -1) : 0) : result;
  };
  const auto modulo = [](int64_t a, int64_t b) { return (a % b + b) % b; };
  const std::vector<Wide> all = {
      {"y = a << b", shifted, true},
      {"y = (a << b) >> 3", [&](int64_t a, int64_t b) { return shifted(a, b) >> 3; }, true},
      {"y = (a << b) % 7", [&](int64_t a, int64_t b) { return modulo(shifted(a, b), 7); }, true},
      {"y = (a << b) | 1", [&](int64_t a, int64_t b) { return shifted(a, b) | 1; }},
      {"y = a * a * b", [&](int64_t a, int64_t b) { return times(times(a, a), b); }},
      {"y = (a * a * a * b) % 1001", [&](int64_t a, int64_t b) { return modulo(times(times(times(a, a), a), b), 1001); }},
      {"y = a ** b + 1", [&](int64_t a, int64_t b) { return times(power(a, b) + 1, 1); }},
      {"y = max((a << b) - a, b)", [&](int64_t a, int64_t b) { return std::max(static_cast<int64_t>(static_cast<uint64_t>(shifted(a, b)) - static_cast<uint64_t>(a)), b); }},
  };
  constexpr int kCount = 4000;
  std::mt19937_64 random(7);
  std::vector<double> a, b;
  for (int i = 0; i < kCount; ++i) a.push_back(static_cast<double>(static_cast<int64_t>(random()) >> (12 + random() % 52))), b.push_back(static_cast<double>(static_cast<int64_t>(random() % 160) - 20));
  for (const Wide& wide : all) {
    Case c(std::string(wide.text), {"a=i64[4000]", "b=i64[4000]"});
    c.set(0, a);
    c.set(1, b);
    const Answer answer = c.answer();
    int known = 0;
    for (size_t i = 0; i < kCount; ++i) {
      if (std::isinf(answer.scale[i])) continue;
      ++known;
      const auto right = wide.of(static_cast<int64_t>(a[i]), static_cast<int64_t>(b[i]));
      ASSERT_EQ(answer.value[i], static_cast<double>(right)) << wide.text << " of " << a[i] << " and " << b[i];
      ASSERT_EQ(answer.scale[i], 0) << wide.text;
    }
    EXPECT_GT(known, wide.always ? kCount - 1 : kCount / 4) << wide.text;
  }
}

TEST(Oracle, integer_results_are_exact_unless_a_comparison_hangs_on_rounding) {
  Case c("s = sum(x, axis=1); y = cast(s > 1.0, i32)", {"x=f32[3,2]"});
  c.set(0, {0.75, 0.25, 1, 1, -1, -1});
  const Answer y = c.answer();
  EXPECT_EQ(y.value, (std::vector<double>{0, 1, 0}));
  EXPECT_EQ(y.scale, (std::vector<double>{1, 0, 0}));
}

TEST(Oracle, fp32_arithmetic_rounds_every_operation) {
  Case c("y = (x + 1.0) - 1.0", {"x=f32[1]"});
  c.set(0, {0x1p-30});
  EXPECT_EQ(c.answer().value[0], 0x1p-30);
  EXPECT_EQ(c.answer(Arithmetic::kF32).value[0], 0);
}

TEST(Oracle, fp32_sums_of_columns_keep_a_running_sum_for_128_terms) {
  Case c("y = sum(x, axis=0)", {"x=f32[512,3]"});
  std::vector<double> x(3 * 512, 1.0);
  x[0] = x[1] = x[2] = 0x1p24;
  c.set(0, x);
  EXPECT_EQ(c.answer(Arithmetic::kF32).value, std::vector<double>(3, 0x1p24 + 384));
}

/// Three quarters of a unit in the last place behind a 1: added it is rounded up, by matrix units it is cut.
TEST(Oracle, FactorsOfSixteenBitsAreSummedAsMatrixUnitsDo) {
  for (const auto& [type, sum] : {std::pair{"f32", 1 + 0x1p-23}, {"bf16", 1.0}}) {
    Case c("y = a @ b", {std::string("a=") + type + "[1,20]", std::string("b=") + type + "[20,1]"});
    std::vector<double> a(20, 0.0), b(20, 1.0);
    a[0] = 1, a[16] = 1.5 * 0x1p-24;
    c.set(0, a);
    c.set(1, b);
    EXPECT_EQ(c.answer(Arithmetic::kF32).value[0], sum) << type;
    a[0] = -1, a[16] = -a[16];
    c.set(0, a);
    EXPECT_EQ(c.answer(Arithmetic::kF32).value[0], -sum) << type;
  }
}

/// Behind the 13th bit after the largest product's first one is cut, and from 128 to 128 of the depth nothing is.
TEST(Oracle, FloatsOfOneByteAreSummedAsMatrixUnitsDo) {
  const auto sum_of = [](const char* type, std::vector<double> a) {
    const std::string depth = std::to_string(a.size());
    Case c("y = a @ b.T", {std::string("a=") + type + "[1," + depth + "]", std::string("b=") + type + "[1," + depth + "]"});
    c.set(0, std::move(a));
    c.set(1, std::vector<double>(std::stoul(depth), 1.0));
    return c.answer(Arithmetic::kF32).value[0];
  };
  std::vector<double> a(300, 0.0);
  a[0] = 128, a[1] = 0x1p-6, a[2] = 1.5 * 0x1p-6, a[3] = 0x1p-7;
  EXPECT_EQ(sum_of("f32", a), 128 + 3 * 0x1p-6);
  EXPECT_EQ(sum_of("f8e4m3", a), 128 + 2 * 0x1p-6);
  EXPECT_EQ(sum_of("f8e5m2", a), 128 + 2 * 0x1p-6);
  a[2] = a[3] = 0, a[200] = a[201] = 0x1p-7;
  EXPECT_EQ(sum_of("f8e4m3", a), 128 + 2 * 0x1p-6);
}

TEST(Oracle, fp32_products_are_added_in_running_sums_of_4096_terms) {
  for (const auto& [m, depth] : std::vector<std::pair<int64_t, int64_t>>{
           {1, 4096}, {1, 8192}, {5, 4096}, {5, 12000}, {3, 300000}}) {  // the last is streamed
    const std::string rows = std::to_string(m), k = std::to_string(depth);
    Case c("y = x @ w", {"x=f32[" + rows + "," + k + "]", "w=f32[" + k + "," + rows + "]"});
    std::vector<double> x(static_cast<size_t>(m * depth), 1.0);
    for (int64_t i = 0; i < m; ++i) x[static_cast<size_t>(i * depth)] = 0x1p24;
    c.set(0, x);
    c.set(1, std::vector<double>(static_cast<size_t>(m * depth), 1.0));
    // The first run loses all but its first term.
    const int64_t kept = std::max<int64_t>(0, depth - 4096);
    for (const double y : c.answer(Arithmetic::kF32).value)
      EXPECT_NEAR(y, 0x1p24 + static_cast<double>(kept), depth > 100000 ? 4096 : 0) << rows << " " << k;
  }
}

TEST(Oracle, what_hangs_on_rounding_hangs_on_the_roundings_of_the_track) {
  // fp32 cannot take 1 - 1.01 for more than zero; bf16, in which x and w are rounded, nearly can.
  Case c("y = relu(x + w)", {"x=f32[1]", "w=f32[1]"});
  c.set(0, {1});
  c.set(1, {-1.01});
  EXPECT_LT(c.answer().scale[0], 1e-20);
  c.task.track = task::Track::kBf16;
  EXPECT_GE(c.answer().scale[0] * 0x1p-24, 2 * 0x1p-8);
  Case conv("y = relu(conv1d(x, w))", {"x=f32[1,2,1]", "w=f32[1,2,1]"});
  conv.set(0, {1, 1});
  conv.set(1, {1, -1.0001});
  EXPECT_LT(conv.answer().scale[0], 1e-20);
  conv.task.track = task::Track::kAsPytorch;
  EXPECT_GE(conv.answer().scale[0] * 0x1p-24, 2 * 0x1p-11);
}

TEST(Oracle, large_moves_leave_the_flat_parts_of_functions) {
  // x + w = -48, which fp32 knows to 12 only.
  for (const auto& [compute, least] : std::vector<std::pair<std::string, double>>{
           {"y = exp(x + w)", std::exp(-40)}, {"y = tanh((x + w) * 0.2)", 1e-9}, {"y = erf((x + w) * 0.1)", 1e-9}}) {
    Case c(compute, {"x=f32[1]", "w=f32[1]"});
    c.set(0, {1e8});
    c.set(1, {-1e8 - 48});
    EXPECT_GT(c.answer().scale[0] * 0x1p-24, least) << compute;
  }
}

/// Programs whose boxes are pulled back in all the ways there are.
const std::vector<std::pair<std::string, std::vector<std::string>>>& programs() {
  static const std::vector<std::pair<std::string, std::vector<std::string>>> all{
      {"y = softmax(x, axis=-1)", {"x=f32[37,129]"}},
      {"y = softmax(x, axis=0)", {"x=f32[37,129]"}},
      {"y = x / sqrt(sum(x * x))", {"x=f32[300,513]"}},
      {"y = layer_norm(x, axis=-1) * w", {"x=f32[5,33,65]", "w=f32[65]"}},
      {"y = exp(transpose(reshape(x, (6, 35, 11)), (2, 0, 1)))", {"x=f32[42,55]"}},
      {"y = reshape(x, (15, 14, 2)) + 1.0", {"x=f32[7,6,10]"}},
      {"y = mean(x, axis=(0, 2), keepdims=true) - x", {"x=f32[9,4,50]"}},
      {"y = var(x, axis=1)", {"x=f32[50,6,70]"}},
      {"y = sum(exp(x - max(x)))", {"x=f32[700,900]"}},
      {"y = log(sum(exp(x), axis=0)) + sum(x, axis=1, keepdims=true)", {"x=f32[64,81]"}},
      {"y = relu(x @ w + b)", {"x=f32[70,130]", "w=f32[130,90]", "b=f32[90]"}},
      {"y = softmax(x @ w, axis=-1)", {"x=f32[33,20]", "w=f32[20,150]"}},
      {"y = x @ w", {"x=f32[3,40000]", "w=f32[40000,30]"}},
      {"y = einsum(\"bij,bjk->kbi\", x, w)", {"x=f32[3,17,40]", "w=f32[3,40,21]"}},
      {"y = attention(q, k, v)", {"q=f32[2,3,20,16]", "k=f32[2,3,25,16]", "v=f32[2,3,25,12]"}},
      {"y = attention(q, k, v, causal=true)", {"q=f32[1,2,20,16]", "k=f32[1,2,20,16]", "v=f32[1,2,20,12]"}},
      {"y = gelu(conv2d(x, w, b, stride=2, padding=1, groups=2))",
       {"x=f32[2,4,15,18]", "w=f32[6,2,3,3]", "b=f32[6]"}},
      {"y = conv2d(conv2d(x, w, padding=1), w, dilation=2)", {"x=f32[1,3,20,20]", "w=f32[3,3,3,3]"}},
      {"y = conv_transpose2d(x, w, stride=2, padding=1, groups=2)", {"x=f32[2,4,7,8]", "w=f32[4,3,3,3]"}},
      {"y = max_pool2d(x, 3, stride=2, padding=1)", {"x=f32[2,3,17,19]"}},
      {"y = avg_pool2d(x * 2.0, 3, stride=2, padding=1)", {"x=f32[2,3,17,19]"}},
      {"y = cumsum(x * 2.0, axis=1)", {"x=f32[9,200,3]"}},
      {"y = cumsum(x * 2.0, axis=1, reverse=true, exclusive=true)", {"x=f32[80,200]"}},
      {"y = cumprod(exp(x * 0.1), axis=0)", {"x=f32[30,40]"}},
      {"y = cummax(x + 1.0, axis=1)", {"x=f32[30,40]"}},
      {"y = logcumsumexp(x, axis=1)", {"x=f32[30,40]"}},
      {"y = sort(x * 3.0, axis=1)", {"x=f32[30,40]"}},
      {"y = concat([x, x * 2.0], axis=1)[:, 5:70:3]", {"x=f32[30,40]"}},
      {"y = pad(x * 2.0, low=[2, 3], high=[1, 0], value=1.5)", {"x=f32[30,40]"}},
      {"y = flip(x * 2.0, axis=(0, 1))", {"x=f32[30,40]"}},
      {"y = roll(x + 1.0, 3, 0) * tril(x)", {"x=f32[30,40]"}},
      {"y = group_norm(x, 2)", {"x=f32[3,4,50]"}},
      {"y = batch_norm(x)", {"x=f32[6,4,11,5]"}},
      {"y = cross_entropy(x, argmax(x * w, axis=1), reduction=\"none\")", {"x=f32[60,50]", "w=f32[60,50]"}},
  };
  return all;
}

Box random_box(const task::Shape& shape, base::Rng& rng) {
  Box box = whole(shape);
  for (size_t d = 0; d < shape.size(); ++d) {
    box.start[d] = static_cast<int64_t>(rng.below(static_cast<uint64_t>(shape[d])));
    box.extent[d] = 1 + static_cast<int64_t>(rng.below(static_cast<uint64_t>(shape[d] - box.start[d])));
  }
  return box;
}

TEST(Oracle, a_box_is_the_same_part_of_the_whole) {
  base::Rng rng(3);
  for (const auto& [compute, inputs] : programs()) {
    Case c(compute, inputs);
    c.draw_all(Family::kNormal, 5);
    const Oracle oracle = c.oracle();
    const task::Shape& shape = c.output_shape();
    const Answer all = oracle.evaluate(0, whole(shape), Arithmetic::kExact, true);
    for (int trial = 0; trial < 12; ++trial) {
      const Box box = random_box(shape, rng);
      const Answer part = oracle.evaluate(0, box, Arithmetic::kExact, true);
      task::Shape at = box.start;
      for (int64_t i = 0; i < box.count(); ++i) {
        int64_t flat = 0;
        for (size_t d = 0; d < shape.size(); ++d) flat = flat * shape[d] + at[d];
        const auto f = static_cast<size_t>(flat), k = static_cast<size_t>(i);
        ASSERT_NEAR(part.value[k], all.value[f], 1e-13 * all.scale[f]) << compute;
        ASSERT_NEAR(part.scale[k], all.scale[f], 1e-9 * all.scale[f]) << compute;
        for (size_t d = shape.size(); d-- > 0;) {
          if (++at[d] < box.start[d] + box.extent[d]) break;
          at[d] = box.start[d];
        }
      }
    }
  }
}

TEST(Oracle, a_long_dot_product_is_streamed_to_the_same_result) {
  Case c("y = (x * 2.0) @ w + 1.0", {"x=f32[40,90000]", "w=f32[90000,36]"});
  c.draw_all(Family::kNormal, 4);
  const auto x = values_of(c, 0), w = values_of(c, 1);
  const Answer y = c.answer();
  for (const size_t i : {0, 21, 39})
    for (const size_t j : {0, 17, 35}) {
      double sum = 1, magnitude = 1;
      for (size_t k = 0; k < 90000; ++k) {
        const double product = 2 * x[i * 90000 + k] * w[k * 36 + j];
        sum += product;
        magnitude += std::abs(product);
      }
      ASSERT_NEAR(y.value[i * 36 + j], sum, 1e-12 * magnitude);
      ASSERT_NEAR(y.scale[i * 36 + j], magnitude, 1e-9 * magnitude);
    }
}

TEST(Oracle, large_reductions_are_streamed_to_the_same_result) {
  Case c("y = sum(x * x); z = x / sqrt(y)", {"x=f32[1500,1111]"});
  c.draw_all(Family::kNormal, 2);
  double sum = 0;
  for (const double v : values_of(c, 0)) sum += v * v;
  const Answer z = c.answer();
  const auto x = values_of(c, 0);
  for (size_t i = 0; i < x.size(); i += 997)
    ASSERT_NEAR(z.value[i], x[i] / std::sqrt(sum), 1e-12 * std::abs(x[i]));
}

}  // namespace
}  // namespace hone::evaluate::oracle_cases
