// Mistakes that only unusual inputs show: each mutant must be refused, and the program that it was made
// from accepted, on the families drawn for it.
#include <gtest/gtest.h>

#include <cmath>

#include "hone/evaluate/verify/gate_testing.h"

namespace hone::evaluate {
namespace {

using testing::Case;

struct Mutant {
  std::string task;                  ///< what to compute
  std::string honest, mutant;        ///< programs over the same inputs
  std::vector<std::string> inputs;
};

constexpr int kSeeds = 16;

/// Draws of `family`, of kSeeds, on which the gate refuses `program`.
int refusals(const Mutant& m, const std::string& program, Family family, task::Domain domain) {
  Case c(m.task, m.inputs), candidate(program, m.inputs);
  for (auto& input : c.task.inputs) input.domain = domain;
  Bounds bounds(c.task, c.graph, 3, 1);
  int count = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    c.draw_all(family, seed);
    const auto values = testing::fp32_answer(c, candidate.graph, nullptr);
    count += testing::judged(c, family, testing::reference_of(c), bounds, values).has_value();
  }
  return count;
}

void expect_caught(const Mutant& m, Family family, task::Domain domain = task::Domain::kReal) {
  EXPECT_EQ(refusals(m, m.honest, family, domain), 0) << m.honest;
  // About half of the draws or more show it; a run draws each family for several shapes.
  EXPECT_GE(refusals(m, m.mutant, family, domain), kSeeds / 4) << m.mutant;
}

TEST(Mutants, a_running_maximum_that_starts_at_zero) {
  const std::vector<std::string> inputs{"x=f32[16,200]"};
  const std::string of_row = "max(x, axis=-1, keepdims=true)";
  const auto softmax = [](const std::string& most) {
    return "e = exp(x - " + most + "); y = e / sum(e, axis=-1, keepdims=true)";
  };
  const auto log_sum = [](const std::string& most) {
    return "m = " + most + "; y = log(sum(exp(x - m), axis=-1, keepdims=true)) + m";
  };
  const std::string wrong = "maximum(" + of_row + ", 0.0)";
  for (const Mutant& m : std::vector<Mutant>{
           {"y = softmax(x)", softmax(of_row), softmax(wrong), inputs},
           {"y = logsumexp(x, axis=-1, keepdims=true)", log_sum(of_row), log_sum(wrong), inputs},
           {"y = " + of_row, "y = " + of_row, "y = " + wrong, inputs},
           {"y = max_pool2d(x, 3)", "y = max_pool2d(x, 3)", "y = maximum(max_pool2d(x, 3), 0.0)",
            {"x=f32[2,3,12,12]"}}})
    expect_caught(m, Family::kShifted);
}

TEST(Mutants, a_running_minimum_that_starts_at_zero) {
  expect_caught({"y = min(x, axis=1)", "y = min(x, axis=1)", "y = minimum(min(x, axis=1), 0.0)",
                 {"x=f32[16,200]"}},
                Family::kShifted);
}

TEST(Mutants, a_forgotten_epsilon) {
  const auto norm = [](const std::string& axes, const std::string& epsilon) {
    const std::string over = ", axis=" + axes + ", keepdims=true)";
    return "d = x - mean(x" + over + "; y = d / sqrt(mean(d * d" + over + " + " + epsilon + ")";
  };
  const auto root_mean_square = [](const std::string& epsilon) {
    return "y = x / sqrt(mean(x * x, axis=-1, keepdims=true) + " + epsilon + ")";
  };
  for (const Mutant& m : std::vector<Mutant>{
           {"y = layer_norm(x)", norm("-1", "1e-5"), norm("-1", "0.0"), {"x=f32[16,200]"}},
           {"y = layer_norm(x)", norm("-1", "1e-5"), norm("-1", "0.0"), {"x=f32[3,9,64]"}},
           {"y = batch_norm(x)", norm("[0, 2, 3]", "1e-5"), norm("[0, 2, 3]", "0.0"), {"x=f32[4,6,8,8]"}},
           {"y = instance_norm(x)", norm("[2, 3]", "1e-5"), norm("[2, 3]", "0.0"), {"x=f32[4,6,8,8]"}},
           {"y = rms_norm(x, eps=1e-5)", root_mean_square("1e-5"), root_mean_square("0.0"), {"x=f32[16,200]"}},
           {"y = x / sqrt(sum(x * x, axis=0, keepdims=true) + 1e-12)",
            "y = x / sqrt(sum(x * x, axis=0, keepdims=true) + 1e-12)",
            "y = x / sqrt(sum(x * x, axis=0, keepdims=true))", {"x=f32[64,20]"}}})
    expect_caught(m, Family::kSparse);
}

TEST(Mutants, a_logarithm_of_a_zero_probability) {
  expect_caught({"y = sum(where(p > 0.0, p * log(p), 0.0), axis=1)",
                 "y = sum(where(p > 0.0, p * log(p), 0.0), axis=1)", "y = sum(p * log(p), axis=1)",
                 {"p=f32[16,50]"}},
                Family::kSparse, task::Domain::kSimplex);
}

}  // namespace
}  // namespace hone::evaluate
