// Scales bound what perturbations do: each program works on a = x * p with p = 1, whose scale is |x|;
// then p is moved by a relative step of random sign, and no output may move by more than its scale
// times that step. A scale much larger than any movement found would make the gate blind, so some
// output has to come near its own.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "hone/base/random.h"
#include "hone/evaluate/oracle/kernels/kernels.h"
#include "hone/evaluate/oracle/product_range.h"
#include "hone/evaluate/oracle/step.h"
#include "hone/evaluate/oracle/testing.h"

namespace hone::evaluate {
namespace {

using testing::Case;

struct Program {
  std::string compute;                ///< of a = x * p (and w)
  std::string shape = "5,6";
  double least = 0.1;                 ///< of its scale that some output is to move by
  Family family = Family::kNormal;
  std::string w;                      ///< shape of a second input, if any
};

const std::vector<Program>& programs() {
  static const std::vector<Program> all{
      {"y = -a"}, {"y = abs(a)"}, {"y = exp(a * 4.0)"}, {"y = exp2(a * 6.0)"}, {"y = expm1(a * 4.0)"},
      {"y = log(abs(a))"}, {"y = log2(abs(a))"}, {"y = log10(abs(a))"}, {"y = log1p(abs(a))"}, {"y = sqrt(abs(a))"},
      {"y = rsqrt(abs(a))"}, {"y = 1.0 / a"}, {"y = sin(a * 9.0)"}, {"y = cos(a * 9.0)"},
      {"y = tan(a / 3.0)"}, {"y = asin(a / 5.0)"}, {"y = acos(a / 5.0)"}, {"y = atan(a)"},
      {"y = sinh(a * 6.0)"}, {"y = cosh(a * 6.0)"}, {"y = tanh(a)"}, {"y = erf(a)"},
      {"y = a + a * a"}, {"y = a - exp(a)"}, {"y = a * sin(a)"}, {"y = a / (1.0 + a * a)"},
      {"y = abs(a) ** 2.5"}, {"y = 2.5 ** (a * 3.0)"}, {"y = atan2(a, a * a - 0.5)"},
      {"y = maximum(a, sin(a))"}, {"y = minimum(a, 0.25)"}, {"y = where(a > 0.5, a, a * a)"},
      {"y = floor(a * 3.0)", "5,6", 0}, {"y = sign(a) * a"}, {"y = a % 0.75"},
      {"y = sum(a, axis=1)"}, {"y = mean(a * a)"}, {"y = prod(a, axis=0)"}, {"y = max(a, axis=1)"},
      {"y = min(a)"}, {"y = logsumexp(a * 3.0, axis=1)"}, {"y = softmax(a * 3.0, axis=-1)"},
      {"y = log_softmax(a * 3.0, axis=-1)"}, {"y = cumsum(a, axis=1)"}, {"y = cumprod(a, axis=1)"},
      {"y = cummax(a, axis=0)"}, {"y = logcumsumexp(a, axis=1)"}, {"y = sort(a, axis=1)"},
      {"y = layer_norm(a)"}, {"y = var(a, axis=1, correction=1)"}, {"y = std(a, axis=1)"},
      {"y = sqrt(sum(a * a))"}, {"y = normalize(a)"},
      {"y = a @ w", "5,6", 0.1, Family::kNormal, "6,4"},
      {"y = relu(a @ w) @ a", "5,6", 0.02, Family::kNormal, "6,5"},
      {"y = conv1d(a, w, padding=1)", "2,3,8", 0.1, Family::kNormal, "4,3,3"},
      {"y = conv_transpose1d(a, w, stride=2)", "2,3,5", 0.1, Family::kNormal, "3,4,3"},
      {"y = max_pool1d(a, 3)", "2,3,9"}, {"y = avg_pool1d(a, 3)", "2,3,9"},
      {"y = gelu(a)"}, {"y = silu(a)"}, {"y = mish(a)"}, {"y = softplus(a)"}, {"y = selu(a)"},
      {"y = attention(a, a, w)", "1,2,4,6", 0.02, Family::kNormal, "1,2,4,3"},
      {"y = var(a, axis=1)", "5,6", 0, Family::kShifted}, {"y = a - mean(a)", "5,6", 0.001, Family::kShifted},
      {"y = concat([a, flip(a, 1)], axis=0)[1:7]"}, {"y = pad(a, low=[0, 1], high=[0, 1])"},
  };
  return all;
}

TEST(Scale, bounds_every_perturbation_and_is_not_far_from_some) {
  constexpr double kStep = 1e-7;
  base::Rng rng(11);
  for (const Program& program : programs()) {
    SCOPED_TRACE(program.compute);
    std::vector<std::string> inputs{"x=f64[" + program.shape + "]", "p=f64[" + program.shape + "]"};
    if (!program.w.empty()) inputs.push_back("w=f64[" + program.w + "]");
    Case c("a = x * p; " + program.compute, inputs);
    double nearest = 0;
    for (uint64_t draw = 0; draw < 4; ++draw) {
      c.draw_all(program.family, draw);
      std::vector<double> p(static_cast<size_t>(task::element_count(c.shape(1))), 1.0);
      c.set(1, p);
      const Answer before = c.answer();
      for (int trial = 0; trial < 10; ++trial) {
        for (double& v : p) v = 1 + (rng.uniform() < 0.5 ? kStep : -kStep);
        c.set(1, p);
        const Answer after = c.answer();
        for (size_t i = 0; i < before.value.size(); ++i) {
          const double moved = std::abs(after.value[i] - before.value[i]);
          // A thousandth for what is not of first order, and the oracle's own rounding.
          ASSERT_LE(moved, before.scale[i] * (1.001 * kStep + 1e-14)) << "element " << i;
          nearest = std::max(nearest, moved / (before.scale[i] * kStep));
        }
      }
    }
    EXPECT_GE(nearest, program.least);
  }
}

// Where rounding moves an operand far, a slope there says little: at a crest, in a flat part, beside a pole.
TEST(Scale, holds_for_large_moves) {
  constexpr double kSize = 0x1p20, kUnit = 0x1p-24;
  const std::vector<double> x{1, 1, 1, 1, 1, 1, 1, 1}, away{0, 0.125, 0.5, 1.0, 1.5703125, 3.125, -1.5703125, -4};   // of t
  std::vector<double> w;
  for (const double t : away) w.push_back(1 - t / kSize);
  const std::vector<std::string> inputs{"x=f32[8]", "w=f32[8]"};
  const auto answer = [&](const std::string& of) {
    Case c(fmt::format("t = x * {0:.1f} - w * {0:.1f}; y = {1}", kSize, of), inputs);
    c.set(0, x), c.set(1, w);
    return c.answer();
  };
  const Answer t = answer("t");
  using Function = double (*)(double);
  const std::vector<std::pair<std::string, Function>> all{
      {"sin(t)", [](double v) { return std::sin(v); }}, {"cos(t)", [](double v) { return std::cos(v); }}, {"tan(t)", [](double v) { return std::tan(v); }},
      {"atan(t)", [](double v) { return std::atan(v); }}, {"sinh(t)", [](double v) { return std::sinh(v); }}, {"cosh(t)", [](double v) { return std::cosh(v); }},
      {"exp(t)", [](double v) { return std::exp(v); }}, {"exp2(t)", [](double v) { return std::exp2(v); }}, {"expm1(t)", [](double v) { return std::expm1(v); }},
      {"tanh(t)", [](double v) { return std::tanh(v); }}, {"erf(t)", [](double v) { return std::erf(v); }}, {"t ** 2.0", [](double v) { return v * v; }},
      {"t ** 3.0", [](double v) { return v * v * v; }}};
  for (const auto& [text, function] : all) {
    const Answer y = answer(text);
    for (size_t i = 0; i < away.size(); ++i) {
      const double move = kUnit * t.scale[i];
      ASSERT_GT(move, 0x1p-6);
      for (const double to : {t.value[i] - move, t.value[i] + move})
        EXPECT_LE(std::abs(function(to) - y.value[i]), kUnit * y.scale[i] * 1.01) << text << " at " << t.value[i] << ", moved by " << move;
    }
  }
}

TEST(Scale, is_never_below_the_value_nor_the_smallest_normal) {
  for (const Family family : kAllFamilies)
    for (const char* compute : {"y = exp(x)", "y = softmax(x, axis=-1)", "y = x * x - x", "y = layer_norm(x)",
                                "y = log(abs(x))", "y = x / (x * x - 1.0)"}) {
      Case c(compute, {"x=f32[20,30]"});
      c.draw_all(family, 3);
      const Answer y = c.answer();
      for (size_t i = 0; i < y.value.size(); ++i) {
        if (!std::isfinite(y.value[i])) continue;
        ASSERT_GE(y.scale[i], std::abs(y.value[i])) << compute << " " << name_of(family);
        ASSERT_GE(y.scale[i], 0x1p-126) << compute << " " << name_of(family);
      }
    }
}

/// The largest error, in units of scale and of the output's roundoff; as the gate has it, from the oracle as the type holds it.
double error_of(const Answer& got, const Answer& ideal, task::DType type) {
  double worst = 0;
  for (size_t i = 0; i < ideal.value.size(); ++i)
    if (std::isfinite(ideal.value[i]) && std::isfinite(got.value[i]) && std::isfinite(ideal.scale[i]))
      worst = std::max(worst, std::abs(got.value[i] - round_to(type, ideal.value[i])) / ideal.scale[i] / task::unit_roundoff(type));
  return worst;
}

/// The program as its types say: computed in fp32, each result of 16 bits rounded to its type.
task::ConcreteGraph as_typed(const task::ConcreteGraph& graph) {
  task::ConcreteGraph made;
  made.bindings = graph.bindings;
  made.graph.output_names = graph.graph.output_names;
  std::vector<int> at;
  const auto put = [&](task::Node node, const task::Shape& shape) {
    made.graph.nodes.push_back(std::move(node)), made.shapes.push_back(shape);
    return static_cast<int>(made.graph.nodes.size()) - 1;
  };
  for (size_t id = 0; id < graph.graph.nodes.size(); ++id) {
    task::Node node = graph.graph.nodes[id];
    for (int& k : node.operands) k = at[static_cast<size_t>(k)];
    const task::DType type = node.type.dtype;
    const bool computes = !keeps_exact(node.prim) && !node.operands.empty();
    if (node.prim == task::Prim::kCast) node.attrs.emplace("rounds", true);
    if (!computes || !task::is_float(type) || task::size_of(type) != 2) {
      at.push_back(put(std::move(node), graph.shapes[id]));
      continue;
    }
    task::Node cast{.op = "cast", .prim = task::Prim::kCast, .operands = {}, .attrs = {}, .type = {}, .name = {}, .where = {}};
    for (int& k : node.operands) {
      task::Node wide = cast;
      wide.operands = {k}, wide.type = made.graph.node(k).type, wide.type.dtype = task::DType::kF32;
      k = put(std::move(wide), made.shapes[static_cast<size_t>(k)]);
    }
    cast.type = node.type, node.type.dtype = task::DType::kF32;
    cast.operands = {put(std::move(node), graph.shapes[id])};
    cast.attrs.emplace("rounds", true);
    at.push_back(put(std::move(cast), graph.shapes[id]));
  }
  for (const int k : graph.graph.inputs) made.graph.inputs.push_back(at[static_cast<size_t>(k)]);
  for (const int k : graph.graph.outputs) made.graph.outputs.push_back(at[static_cast<size_t>(k)]);
  return made;
}

/// The error of the program as its types say over the gate's bound for it: two roundoffs, or four times the anchor's error.
double error_as_typed(const std::string& compute, const std::vector<std::string>& inputs, Family family, uint64_t seed) {
  Case c(compute, inputs);
  for (size_t i = 0; i < c.data.size(); ++i) draw(c.task.inputs[i], c.shape(i), 1, family, 10 * seed + i, c.data[i].data());
  const Answer ideal = c.answer(), anchor = c.answer(Arithmetic::kF32);
  c.graph = as_typed(c.graph);
  return error_of(c.answer(Arithmetic::kF32), ideal, c.output_type()) / std::max(2.0, 4 * error_of(anchor, ideal, c.output_type()));
}

TEST(Scale, a_program_that_rounds_as_its_types_say_is_within_two_roundoffs) {
  for (const std::string type : {"bf16", "f16"})
    for (const char* compute :
         {"y = silu(x @ w) * g", "y = gelu(x @ w + g) * g + g", "y = tanh((x @ w) * 0.5 - g) * sigmoid(g * g)", "y = rms_norm(silu(x @ w) * g)",
          "y = ((((x @ w) * g + g) * g + g) * g + g) * g", "y = exp((x @ w) * 0.125 * 8.0 - g)", "y = (g / 4096.0 * g + (x @ w) / 65536.0) / (g * g / 32768.0 + 0.0001)",
          "y = softmax((x @ w) * 3.0 + g, axis=-1)", "n = tanh((x @ w) * 0.0625 + sigmoid(g) * g); z = sigmoid(g * 0.0625); y = rms_norm((1.0 - z) * n + z * g)", "y = gelu((x @ w) * 0.125 + g, approximate=\"tanh\")", "y = softmax((x @ w) * g, axis=-1) * (x @ w)", "y = transpose(silu(x @ w) * g, [1, 0])",
          "y = mean((silu(x @ w) * g).reshape(960, 2), axis=-1)", "y = f32(silu(x @ w) * g)", "h = silu(x @ w) * g; y = sum(f32(h * g).reshape(960, 2), axis=-1)", "y = (mean((g * g + x @ w).reshape(960, 2), axis=-1) * 3.0)"})
      for (const Family family : {Family::kNormal, Family::kShifted, Family::kSparse, Family::kMantissa, Family::kLarge})
        for (uint64_t seed = 0; seed < 3 && !(type == "f16" && (family == Family::kMantissa || family == Family::kLarge)); ++seed)  // f16 overflows on the way
          EXPECT_LE(error_as_typed(compute, {"x=" + type + "[40,64]", "w=" + type + "[64,48]", "g=" + type + "[40,48]"}, family, seed), 1)
              << compute << " " << type << " " << name_of(family) << " " << seed;
}

TEST(Scale, beyond_the_end_of_f16_anything_may_follow) {
  // 300 * 300 is infinite in f16; elu() makes -1 of minus that, and normalize() hides it.
  Case c("y = normalize(elu((x * g) * -1.0), axis=1)", {"x=f16[2,1]", "g=f16[2,1]"});
  c.set(0, {300, 2}), c.set(1, {300, 3});
  const Answer y = c.answer();
  EXPECT_GE(y.scale[0], kRangeLostAtLeast);
  EXPECT_LT(y.scale[1], 10);
}

TEST(Scale, a_whole_number_moves_by_all_that_a_rounding_on_the_way_does) {
  // 1.5 (1 + 2^-10) is the middle between two numbers of f16: who rounds as the type says is 2^-11 off, and 2048 in what is made of it.
  Case c("y = i32(round(f32(x * g) * 4194304.0))", {"x=f16[1]", "g=f16[1]"});
  c.set(0, {1 + 0x1p-10}), c.set(1, {1.5});
  const double allowed = c.answer().scale[0];
  EXPECT_GE(allowed, 2048);
  EXPECT_LE(allowed, 4096);
}

TEST(Scale, a_whole_number_is_sure_where_no_rounding_decides) {
  // 2.4 and 2.6 are 2 and 3 for every program, whatever the quotients lost; 2.5 may go either way, and stays so.
  for (const char* formula : {"y = i32(round(x / g))", "y = i32(clamp(round(x / g), -100, 100))", "y = i32(trunc(round(x / g)) - 1.0)",
                              "y = round(x / g) == 3.0", "y = i32(where(g > 0, floor(x / g + 0.5), 0.0))", "y = i32(max(round(stack([x / g, x / g], axis=0)), axis=0) % 8.0)"}) {
    SCOPED_TRACE(formula);
    Case c(formula, {"x=f32[3]", "g=f32[3]"});
    c.set(0, {12, 13, 5}), c.set(1, {5, 5, 2});
    const Answer y = c.answer();
    EXPECT_EQ(y.scale[0], 0);
    EXPECT_EQ(y.scale[1], 0);
    EXPECT_GE(y.scale[2], 1);
  }
}

TEST(Scale, a_whole_number_that_its_type_does_not_hold_is_not_sure) {
  // 257 is none of bf16's: who rounds as the types say has 256 there, and 255 after the subtraction.
  for (const char* formula : {"y = i32(bf16(n) + bf16(m))", "y = i32((bf16(n) + bf16(m)) - bf16(m))", "y = bf16(n) + bf16(m) == 257.0"}) {
    SCOPED_TRACE(formula);
    Case c(formula, {"n=i32[1]", "m=i32[1]"});
    c.set(0, {256}), c.set(1, {1});
    EXPECT_GE(c.answer().scale[0], 1);
  }
}

TEST(Scale, zero_times_what_is_infinite_in_f16_is_nobodys_to_say) {
  // A gate that is shut to the last bit, and a value that f16 does not hold: NaN for a program as its types say.
  Case c("y = sigmoid(g * 60000.0) * (x * x)", {"x=f16[2]", "g=f16[2]"});
  c.set(0, {300, 2}), c.set(1, {-1, -1});
  const Answer y = c.answer();
  EXPECT_GE(y.scale[0], kRangeLostAtLeast);
  EXPECT_LT(y.scale[1], 10);
}

TEST(Scale, what_a_program_as_its_types_say_makes_of_what_f16_does_not_hold_is_nobodys_to_say) {
  // Infinities of both signs meet, are multiplied by zeros, and are hidden by functions that are flat there.
  size_t lost = 0, judged = 0;
  for (const char* compute :
       {"h = x @ w; k = g @ v; n = tanh(h + k * sigmoid(h - k)); z = sigmoid(h + k); y = (1.0 - z) * n + z * g", "y = erf(x @ w - g @ v)",
        "y = atan(x @ w - g @ v)", "y = maximum(x @ w - g @ v, 0.0)", "y = where(x @ w > g @ v, x @ w, g @ v)", "y = relu(x @ w - g @ v) @ v", "y = softmax(x @ w - g @ v, axis=-1)",
        "y = sign(x @ w - g @ v) * g", "y = clamp(x @ w - g @ v, -1.0, 1.0)", "y = sin(x @ w) * cos(g @ v)", "y = 1.0 / (1.0 + (x @ w) * (g @ v))", "y = max(x @ w - g @ v, axis=-1)",
        "y = mean(silu(x @ w - g @ v), axis=-1)", "y = cumsum(tanh(x @ w - g @ v), axis=-1)", "y = rms_norm(gelu(x @ w) - gelu(g @ v))", "y = exp(-abs(x @ w - g @ v))",
        "y = sqrt(abs(x @ w - g @ v) + 1.0)", "y = log(abs(x @ w - g @ v) + 1.0)", "y = f32(tanh(x @ w - g @ v))"})
    for (const Family family : {Family::kMantissa, Family::kLarge})
      for (uint64_t seed = 0; seed < 3; ++seed) {
        Case c(compute, {"x=f16[20,64]", "w=f16[64,48]", "g=f16[20,48]", "v=f16[48,48]"});
        for (size_t i = 0; i < c.data.size(); ++i) draw(c.task.inputs[i], c.shape(i), 1, family, 10 * seed + i, c.data[i].data());
        const Answer ideal = c.answer();
        c.graph = as_typed(c.graph);
        const Answer typed = c.answer(Arithmetic::kF32);
        for (size_t i = 0; i < ideal.value.size(); ++i) {
          (ideal.scale[i] >= kRangeLostAtLeast ? lost : judged) += 1;
          if (std::isfinite(typed.value[i]) || !std::isfinite(round_to(c.output_type(), ideal.value[i]))) continue;
          // A number near the end may be rounded to the infinity beyond it.
          const double unit = task::unit_roundoff(c.output_type());
          if (std::isinf(typed.value[i]) && std::abs(ideal.value[i]) + 2 * unit * ideal.scale[i] >= task::largest(c.output_type())) continue;
          EXPECT_TRUE(is_range_lost(ideal.scale[i]))
              << compute << " " << name_of(family) << " " << seed << " [" << i << "]: " << typed.value[i] << " for " << ideal.value[i] << " with scale " << ideal.scale[i];
        }
      }
  EXPECT_GT(lost, judged / 10);
  EXPECT_GT(judged, lost);
}

TEST(Scale, a_large_number_of_f32_is_not_lost) {
  // What hangs on exp(400) is as sure as ever: both programs have 0.
  Case c("y = 1.0 / (1.0 + exp(x * g))", {"x=f32[1]", "g=f32[1]"});
  c.set(0, {20}), c.set(1, {20});
  EXPECT_LT(c.answer().scale[0], kRangeLostAtLeast);
}

TEST(Scale, a_result_has_no_rounding_of_its_own_added) {
  // x @ w cancels here and there: added up in f16 it would be far beyond, and one more rounding would hide that.
  Case narrow("y = x @ w", {"x=f16[40,64]", "w=f16[64,48]"}), wide("y = f32(x) @ f32(w)", {"x=f16[40,64]", "w=f16[64,48]"});
  narrow.draw_all(Family::kNormal, 1), wide.draw_all(Family::kNormal, 1);
  const Answer a = narrow.answer(), b = wide.answer();
  const double factor = task::unit_roundoff(task::DType::kF32) / task::unit_roundoff(task::DType::kF16);
  for (size_t i = 0; i < a.scale.size(); ++i)
    EXPECT_LE(a.scale[i], std::max({b.scale[i] * factor, std::abs(a.value[i]), std::abs(b.value[i]), 0x1p-14}) * (1 + 1e-9));
}

/// What a place of a sorted line may hold: its own value, or one of its rivals, the neighbours on either side up to the first whose gap is beyond
/// their scales. `up`: values and scales in rising order.
double most_of_rivals(const std::vector<std::pair<double, double>>& up, size_t at) {
  double most = up[at].second;
  const auto rivals = [&](size_t other) { return std::abs(up[at].first - up[other].first) <= kAmbiguous * (up[at].second + up[other].second); };
  for (size_t n = at; n-- > 0 && rivals(n);) most = std::max(most, up[n].second);
  for (size_t n = at + 1; n < up.size() && rivals(n); ++n) most = std::max(most, up[n].second);
  return most;
}

TEST(Scale, of_a_sorted_line_has_all_that_may_change_places) {
  base::Rng rng(7);
  for (const int64_t length : {1, 2, 3, 31, 64, 200})
    for (const char* const way : {"", ", descending=true"}) {
      // Differences of products of which many are alike, and some cancel: small values with scales of large ones.
      const std::vector<std::string> types = {fmt::format("x=f32[{}]", length), fmt::format("p=f32[{}]", length), fmt::format("q=f32[{}]", length)};
      Case line("y = x * p - q", types), c(fmt::format("y = sort(x * p - q, axis=0{})", way), types);
      std::vector<double> x, p, q;
      for (int64_t i = 0; i < length; ++i) {
        x.push_back(1 + static_cast<double>(rng.below(5)) * 0x1p-20), p.push_back(rng.below(3) == 0 ? 100 : 1);
        q.push_back(rng.below(2) == 0 ? p.back() : static_cast<double>(rng.below(9)));
      }
      for (Case* const one : {&line, &c}) one->set(0, x), one->set(1, p), one->set(2, q);
      const Answer a = line.answer(), y = c.answer();
      std::vector<std::pair<double, double>> up;
      for (size_t i = 0; i < a.value.size(); ++i) up.emplace_back(a.value[i], a.scale[i]);
      std::stable_sort(up.begin(), up.end(), [](const auto& m, const auto& n) { return m.first < n.first; });
      for (size_t i = 0; i < up.size(); ++i) {
        const size_t at = *way != 0 ? up.size() - 1 - i : i;
        EXPECT_EQ(y.value[i], up[at].first);
        // Of equal values either may be meant.
        if (std::ranges::count(up, up[at].first, &std::pair<double, double>::first) > 1) continue;
        EXPECT_EQ(y.scale[i], most_of_rivals(up, at)) << length << way << " " << i;
      }
    }
}

TEST(Scale, of_long_sorted_lines_takes_no_square_of_their_length) {
  // All of them are rivals: with a look at each one's this would take minutes.
  Case c("y = sort(x - x * 1.0, axis=0)", {"x=f32[200000]"});
  c.draw_all(Family::kNormal, 1);
  const auto begin = std::chrono::steady_clock::now();
  const Answer y = c.answer();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  EXPECT_EQ(y.scale.front(), y.scale.back());
}

TEST(Scale, of_a_row_that_a_mask_fills) {
  Case c("y = softmax(where(m, x, -1e30), axis=-1)", {"x=f32[3,4]", "m=bool[3,4]"});
  c.set(0, {1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4});
  c.set(1, {1, 1, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0});
  const Answer y = c.answer();
  for (size_t i = 0; i < 12; ++i) EXPECT_LT(y.scale[i], 100) << i;
  EXPECT_EQ(y.value[5], 0.25);
  EXPECT_EQ(y.value[9], 1);
  EXPECT_EQ(y.value[8], 0);
}

// Of two rows whose elements are equal one is a mask's, and the other a sum's that another order may make unequal.
TEST(Scale, of_equal_numbers_that_need_not_be) {
  Case c("y = log_softmax(x + z + z, axis=-1)", {"x=f32[2,2]", "z=f32[2,2]"});
  c.set(0, {1e9F, 1e9F, 3, 3});
  c.set(1, {-1, -1, 1, 1});
  const Answer y = c.answer();
  EXPECT_GT(y.scale[0], 1e8);
  EXPECT_LT(y.scale[2], 100);
}

}  // namespace
}  // namespace hone::evaluate
