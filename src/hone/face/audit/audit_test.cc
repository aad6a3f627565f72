// Small tasks with one thing wrong each, and one with nothing wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "hone/face/audit/audit.h"

namespace hone::face::audit {
namespace {

using ::testing::IsEmpty;

Audited audited(const std::string& toml) {
  const auto task = task::parse_task(toml, "task.toml");
  EXPECT_TRUE(task.has_value()) << task.error().to_string();
  const auto least = cheapest_workload(*task);
  EXPECT_TRUE(least.has_value());
  auto found = audit_task(*least, *task, 7, 1);
  EXPECT_TRUE(found.has_value());
  return *found;
}

std::vector<std::string> said(const Audited& audited) {
  std::vector<std::string> all;
  for (const Finding& finding : audited.findings) all.push_back(std::string(name_of(finding.kind)) + ": " + finding.what);
  return all;
}

std::string product(const std::string& compute, const std::string& more = "") {
  return "name = \"t\"\ninputs.x = \"f32[B, K]\"\ninputs.w = \"f32[N, K]\"\n" + more + "compute = \"\"\"\n" + compute +
         "\n\"\"\"\nworkloads = [ { name = \"tiny\", B = 7, K = 9, N = 5 }, { name = \"large\", B = 64, K = 64, N = 20000 } ]\n";
}

TEST(Audit, ATaskWithNothingWrong) {
  EXPECT_THAT(said(audited(product("y = gelu(x @ w.T)"))), IsEmpty());
  EXPECT_THAT(said(audited(product("y = sum(gelu(x @ w.T), axis=1)"))), IsEmpty());
}

TEST(Audit, AnAnswerThatIsZeroWhateverTheInputsAre) {
  EXPECT_THAT(said(audited(product("t = max(x @ w.T, axis=1, keepdims=true)\ny = gelu(t - mean(t, axis=1, keepdims=true))"))),
              ::testing::ElementsAre("constant: y is zero whatever the inputs are"));
}

TEST(Audit, AnInputThatCancels) {
  EXPECT_THAT(said(audited(product("y = softmax(linear(w, x) + b, axis=0)", "inputs.b = \"f32[1, B]\"\n"))),
              ::testing::Contains("unread: y does not depend on b"));
}

TEST(Audit, AProductOfWhichOnlySumsAreNeeded) {
  for (const char* compute : {"y = sum(x @ w.T / 2, axis=1) * 1.5", "y = tanh(mean(linear(x, w) - 3.0, axis=1))", "y = exp(sum(reshape(x @ w.T, [B, 1, N]), axis=[1, 2]))"})
    EXPECT_THAT(said(audited(product(compute))), ::testing::ElementsAre("summed: dot of [B, N], only ever summed along N")) << compute;
  // A mask, a power or another use needs the elements.
  for (const char* compute : {"y = sum(where(x @ w.T > 0.0, x @ w.T, 0.0), axis=1)", "t = x @ w.T\ny = t * sum(t, axis=1, keepdims=true)"})
    EXPECT_THAT(said(audited(product(compute))), IsEmpty()) << compute;
}

TEST(Audit, SumsOfNormalisedValues) {
  const Audited found = audited(R"toml(name = "t"
inputs.x = "f32[N, C, H]"
inputs.g = { type = "f32[C]", domain = "near_one" }
inputs.b = "f32[C]"
compute = "y = mean(instance_norm(gelu(x)) * g[None, :, None] + b[None, :, None], axis=[1, 2])"
workloads = [ { name = "tiny", N = 3, C = 4, H = 11 } ]
)toml");
  EXPECT_THAT(said(found), ::testing::Contains(::testing::StartsWith("moments: normalised values: mul of [N, C, H], only ever summed along H")));
  EXPECT_THAT(said(found), ::testing::Contains("unread: y does not depend on x, g"));
}

TEST(Audit, AConstantAsLongAsWeightsAreAtOne) {
  const Audited found = audited(R"toml(name = "t"
inputs.x = "f32[N, C, H]"
inputs.g = { type = "f32[C]", domain = "near_one" }
inputs.b = "f32[C]"
compute = "y = mean(group_norm(x, 1, g, b), axis=[1, 2])"
workloads = [ { name = "tiny", N = 3, C = 4, H = 11 } ]
)toml");
  EXPECT_THAT(said(found), ::testing::Contains("constant at one: y does not depend on x where all of g is 1"));
}

TEST(Audit, MeansOfNeighboursOfAProduct) {
  const Audited found = audited(R"toml(name = "t"
inputs = { x = "f32[N, C, H, W]", w = "f32[O, C, 3, 3]", b = "f32[O]" }
compute = "y = relu(avg_pool2d(conv2d(x, w, b) * 2.0, 2))"
workloads = [ { name = "tiny", N = 2, C = 2, O = 3, H = 6, W = 8 } ]
)toml");
  EXPECT_THAT(said(found), ::testing::ElementsAre("pooled: conv of [N, O, H - 2, W - 2], only ever averaged along H - 2, W - 2"));
}

TEST(Audit, ValuesBelowAnAbsoluteTolerance) {
  EXPECT_THAT(said(audited(product("y = softmax(x @ w.T, axis=1)"))), ::testing::ElementsAre("tiny: y: values of 5e-05 in the mean at `large`"));
}

TEST(Audit, ATermThatIsTooSmallToBeSeen) {
  EXPECT_THAT(said(audited(product("y = (x @ w.T) * (1.0 + 1e-9 * tanh(sum(x, axis=1, keepdims=true)))"))),
              ::testing::Contains(::testing::StartsWith("left out: y: a term left out: mul")));
}

TEST(Audit, AnInputThatTheBoundDoesNotSee) {
  const Audited found = audited(product("h = x @ w.T\ny = h * (1.0 + 1e-9 * tanh(z))\nother = tanh(h)", "inputs.z = \"f32[1]\"\n"));
  // `other` is not made from z at all, which is no finding.
  EXPECT_THAT(said(found), ::testing::Contains("left out: y: the answer to other values of z"));
  EXPECT_THAT(said(found), ::testing::Not(::testing::Contains(::testing::HasSubstr("does not depend on z"))));
}

TEST(Audit, WhatIsPrinted) {
  const std::vector<Audited> suite{{"a", "a.toml", "tiny", "", {{Kind::kConstant, "y is zero whatever the inputs are"}}}, {"b", "b.toml", "tiny", "", {}}};
  const nlohmann::json printed = to_json(suite);
  EXPECT_EQ(printed["audited"], 2);
  EXPECT_EQ(printed["with_findings"], 1);
  EXPECT_EQ(printed["tasks"][0]["findings"][0]["kind"], "constant");
  EXPECT_THAT(text_of(suite), ::testing::HasSubstr("1 of 2 tasks with findings: 1 constant"));
}

}  // namespace
}  // namespace hone::face::audit
