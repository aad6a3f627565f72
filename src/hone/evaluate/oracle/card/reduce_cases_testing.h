// Graphs whose reductions a card does: every element-wise operation, every type, views, and reductions along inner, outer and all axes;
// and how its answers compare with the host's.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "hone/base/random.h"
#include "hone/evaluate/oracle/card/card_reductions.h"
#include "hone/evaluate/oracle/testing.h"

namespace hone::evaluate {

struct ReduceCase {
  std::string compute;
  std::vector<std::string> inputs;
  Family family = Family::kNormal;
  bool special = false;  ///< inputs are the special values below, not drawn
  size_t covered = 1;    ///< reductions that a card does
};

/// Zeros, denormals, infinities, NaN, huge and ordinary values, whole numbers and halves.
inline std::vector<double> special_values(int64_t count, uint64_t seed) {
  base::Rng rng(seed);
  const double some[] = {0.0, -0.0, 1e-40, -1e-310, HUGE_VAL, -HUGE_VAL, NAN, 1e30, -1e30, 1e300,
                         1.0, -1.0, 2.0, 0.5, -0.5, 1.5, 2.5, 3.0, 88.0, -88.0, 710.0};
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i) {
    if (rng.below(3) == 0) values.push_back(some[rng.below(std::size(some))]);
    else values.push_back((rng.uniform() - 0.5) * std::ldexp(1.0, static_cast<int>(rng.below(24)) - 12));
  }
  return values;
}

/// Each operation by itself, of exact operands and of computed ones.
inline std::vector<ReduceCase> operation_cases() {
  std::vector<ReduceCase> cases;
  const auto add = [&](const std::string& of_exact, const std::string& of_computed, const std::string& type) {
    // Few elements a result, so that each shows.
    const std::vector<std::string> inputs = {"x=" + type + "[1801,3]", "w=" + type + "[1801,3]"};
    const bool one = of_exact.ends_with("(x)");
    cases.push_back({"y = sum(" + of_exact + ", axis=1)", one ? std::vector{inputs[0]} : inputs, Family::kNormal, true});
    cases.push_back({"y = sum(" + of_computed + ", axis=1)", inputs, Family::kNormal, true});
    cases.push_back({"y = sum(" + of_computed + ")", inputs, Family::kNormal, false});
  };
  for (const char* op : {"neg", "abs", "sign", "floor", "ceil", "round", "trunc", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt",
                         "rsqrt", "reciprocal", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "erf", "isnan", "isinf"})
    add(fmt::format("{}(x)", op), fmt::format("{}(x * w)", op), "f32");
  for (const char* op : {"add", "sub", "mul", "div", "pow", "atan2", "mod", "floor_divide", "maximum", "minimum", "eq", "ne", "lt", "le", "gt",
                         "ge"})
    add(fmt::format("{}(x, w)", op), fmt::format("{}(x * w, w + x)", op), "f32");
  add("where(x > w, x, w)", "where(x * w > w, x * w, w)", "f32");
  add("logical_xor(x > 0, w > 0)", "logical_or(x * w > 1, logical_and(w > x * x, logical_not(x > 0)))", "f32");
  add("exp(x) / w", "log(x * w)", "f64");
  return cases;
}

inline std::vector<ReduceCase> shape_cases() {
  std::vector<ReduceCase> cases;
  for (const char* fold : {"sum", "max", "min"}) {
    for (const char* axes : {"", ", axis=0", ", axis=1", ", axis=2", ", axis=[0,2]", ", axis=[1,2]", ", axis=[0,1]"})
      cases.push_back({fmt::format("y = {}(x * w + v{})", fold, axes), {"x=f32[7,33,41]", "w=f32[33,1]", "v=f32[41]"}});
    cases.push_back({fmt::format("y = {}(permute(x, axes=[2,0,1]) - w, axis=1)", fold), {"x=f32[19,31,17]", "w=f32[17,1,31]"}});
    cases.push_back({fmt::format("y = {}(x[1:19:2, 3:, 1:16] * 1.25, axis=[0,2])", fold), {"x=f32[19,61,17]"}});
    cases.push_back({fmt::format("y = {}(flip(x, axis=1) * w, axis=2)", fold), {"x=f32[19,31,17]", "w=f32[31,17]"}});
    cases.push_back({fmt::format("y = {}(reshape(x * w, shape=[6,4,900]), axis=2)", fold), {"x=f32[6,8,450]", "w=f32[8,1]"}});
    cases.push_back({fmt::format("y = {}(reshape(reshape(x, shape=[24,900]) + 1, shape=[6,3600]), axis=1)", fold), {"x=f32[6,8,450]"}});
  }
  for (const char* type : {"bf16", "f16", "f64"}) {
    cases.push_back({"y = sum(x * w, axis=1)", {fmt::format("x={}[61,97]", type), fmt::format("w={}[97]", type)}});
    // Roundings on the way add to the scale, and below f16's smallest normal number they do not shrink.
    cases.push_back({"y = sum(silu(x * w) * w / 4096 * x, axis=1)", {fmt::format("x={}[61,97]", type), fmt::format("w={}[97]", type)}});
    cases.push_back({"y = max(f32(x) * 0.3, axis=0)", {fmt::format("x={}[61,97]", type)}, Family::kLarge});
  }
  for (const char* type : {"i64", "i32", "i16", "i8", "bool"}) {
    // Sums of 64 bits may be more than a double holds: those stay the host's (integer_range.h).
    cases.push_back({"y = sum(x, axis=1)", {fmt::format("x={}[61,97]", type)}, Family::kNormal, false, std::string_view(type) == "i64" ? 0U : 1U});
    cases.push_back({"y = sum(f32(x) * w, axis=0)", {fmt::format("x={}[61,97]", type), "w=f32[61,97]"}});
  }
  // Which integer a float beyond its range becomes is nobody's to say: the host's too.
  cases.push_back({"y = sum(i8(x * 100) + i8(w * 100), axis=1)", {"x=f32[61,97]", "w=f32[61,97]"}, Family::kLarge, false, 0});
  cases.push_back({"y = sum(f16(x * 1000), axis=1)", {"x=f32[61,97]"}, Family::kLarge});
  cases.push_back({"y = sum(bf16(x), axis=1)", {"x=f32[61,97]"}, Family::kLarge});
  cases.push_back({"y = sum(where(bool(x), 1.5, w), axis=1)", {"x=f32[61,97]", "w=f32[61,97]"}, Family::kSparse});
  // Reductions of reductions, and small results between them.
  cases.push_back({"y = var(x)", {"x=f32[61,197]"}, Family::kShifted, false, 2});
  cases.push_back({"y = layer_norm(x, w, b)", {"x=f32[5,4,900]", "w=f32[4,900]", "b=f32[4,900]"}, Family::kNormal, false, 2});
  cases.push_back({"y = batch_norm(x, w, b)", {"x=f32[5,4,900]", "w=f32[4]", "b=f32[4]"}, Family::kShifted, false, 2});
  cases.push_back({"y = softmax(x, axis=1)", {"x=f32[5,1900]"}, Family::kNormal, false, 2});
  cases.push_back({"y = x / norm(x)", {"x=f32[5,1900]"}});
  cases.push_back({"loss = mean((x - t) ** 2)", {"x=f32[73,1000]", "t=f32[73,1000]"}});
  cases.push_back({"loss = smooth_l1_loss(x, t)", {"x=f32[73,1000]", "t=f32[73,1000]"}});
  cases.push_back({"loss = triplet_margin_loss(a, p, n, margin=1.0)",
                   {"a=f32[73,1000]", "p=f32[73,1000]", "n=f32[73,1000]"}, Family::kNormal, false, 2});
  cases.push_back({"loss = mean(clamp(1 - x * t, min=0))", {"x=f32[73,1000]", "t=f32[1000]"}});
  return cases;
}

using MakeHelper = std::function<std::unique_ptr<ReductionHelper>(testing::Case& c, Coverage coverage)>;

/// Answers with the helper against the host's own.
inline void compare_reductions(const ReduceCase& r, const MakeHelper& make) {
  SCOPED_TRACE(fmt::format("{} of {}{}", r.compute, fmt::join(r.inputs, " "), r.special ? ", special values" : ""));
  testing::Case c(r.compute, r.inputs);
  c.draw_all(r.family, 17);
  for (size_t i = 0; r.special && i < c.data.size(); ++i) c.set(i, special_values(task::element_count(c.shape(i)), 3 + i));
  const Box all = whole(c.output_shape());
  const Coverage coverage = cover_reductions(c.graph, c.task.track, 0, {&all, 1}, 11, 1);
  ASSERT_GE(coverage.size(), r.covered);
  const auto helper = make(c, coverage);
  ASSERT_TRUE(helper);
  std::vector<TensorView> views;
  for (size_t i = 0; i < c.data.size(); ++i) views.push_back({c.task.inputs[i].type.dtype, c.shape(i), c.data[i].data()});
  const Oracle helped(c.graph, views, c.task.track, 2, helper.get()), alone(c.graph, views, c.task.track);
  const Answer there = helped.evaluate(0, all, Arithmetic::kExact, true), here = alone.evaluate(0, all, Arithmetic::kExact, true);
  const Answer there_f32 = helped.evaluate(0, all, Arithmetic::kF32, false), here_f32 = alone.evaluate(0, all, Arithmetic::kF32, false);
  const task::DType type = c.output_type();
  const double unit = task::is_float(type) ? std::max(task::unit_roundoff(type), 0x1p-24) : 0;
  const double tiny = 64 * task::smallest_normal(task::DType::kF32);
  for (size_t i = 0; i < here.value.size(); ++i) {
    const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
    const double s = here.scale[i], t = there.scale[i];
    // What a card folded to an infinity or a NaN may be sure or not: nobody says which (certainty.h), so it is not judged.
    if (!std::isfinite(here.value[i]) && std::isinf(t)) continue;
    // Nor does a card know zeros of exact operands, which have no scale: it adds up what flushing may do to each element, 2^-126 in
    // units of the type.
    const double flushed = 1024 * task::smallest_normal(task::DType::kF32) / task::unit_roundoff(type == task::DType::kF64 ? type : task::DType::kF32);
    // So what hangs on such a zero, its sign say, is surer on the host.
    const bool wider = r.special && t > s;
    ASSERT_TRUE(same(s, t) || wider || std::abs(s - t) <= 1e-12 * s + flushed)
        << "scale of element " << i << ": " << t << " for " << s << " of " << here.value[i];
    if (!std::isfinite(s)) continue;
    ASSERT_TRUE(same(here.value[i], there.value[i]) || std::abs(here.value[i] - there.value[i]) <= 1e-12 * s)
        << "element " << i << ": " << there.value[i] << " for " << here.value[i] << ", scale " << s;
    // Summed in another order, up to 512 terms running; what is rounded on the way is the same.
    ASSERT_TRUE(same(here_f32.value[i], there_f32.value[i]) || std::abs(here_f32.value[i] - there_f32.value[i]) <= 32 * unit * s + tiny)
        << "in fp32, element " << i << ": " << there_f32.value[i] << " for " << here_f32.value[i] << ", scale " << s;
  }
}

}  // namespace hone::evaluate
