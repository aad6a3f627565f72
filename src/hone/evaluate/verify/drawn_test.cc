#include "hone/evaluate/verify/drawn.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "hone/evaluate/verify/gate.h"

namespace hone::evaluate::drawn_cases {
namespace {

struct Case {
  task::Task task;
  task::ConcreteGraph graph;
};

Case make(const std::string& inputs, const std::string& compute, const std::string& workload) {
  const auto parsed = task::parse_task("name = \"t\"\ninputs = { " + inputs + " }\ncompute = \"\"\"\n" + compute +
                                           "\n\"\"\"\nworkloads = [ { " + workload + " } ]\n", "t.toml");
  EXPECT_TRUE(parsed) << parsed.error().to_string();
  Case c{*parsed, {}};
  c.graph = *task::instantiate(c.task.primitive, c.task.workloads.front().bindings);
  return c;
}

std::vector<uint64_t> seeds_for(const Case& c) {
  std::vector<uint64_t> seeds(c.task.inputs.size());
  std::iota(seeds.begin(), seeds.end(), 77);
  return seeds;
}

/// The reference on partly drawn inputs is the one on whole inputs; returns the share of the elements drawn.
double check_same_answers(const Case& c, Family family) {
  GateOptions options;
  options.full_limit = 1;
  options.sample_elements = 1 << 12;
  options.sample_seed = 5;
  const std::vector<Box> boxes = plan_boxes(c.graph, 0, options);
  DrawnInputs part(c.task, c.graph), all(c.task, c.graph);
  part.need(0, boxes);
  all.need(0, std::vector<Box>{whole(c.graph.shapes[static_cast<size_t>(c.graph.graph.outputs[0])])});
  part.draw(family, seeds_for(c), 2);
  all.draw(family, seeds_for(c), 2);
  const Oracle from_part(c.graph, part.views()), from_all(c.graph, all.views());
  const Reference a = make_reference(c.graph, from_part, c.task.track, 0, boxes, 2), b = make_reference(c.graph, from_all, c.task.track, 0, boxes, 1);
  EXPECT_EQ(a.answers.size(), b.answers.size());
  for (size_t i = 0; i < a.answers.size(); ++i) {
    EXPECT_EQ(0, std::memcmp(a.answers[i].value.data(), b.answers[i].value.data(), a.answers[i].value.size() * sizeof(double)));
    EXPECT_EQ(a.answers[i].scale, b.answers[i].scale);
  }
  EXPECT_EQ(a.anchor.max, b.anchor.max);
  double drawn = 0, total = 0;
  for (size_t i = 0; i < c.task.inputs.size(); ++i) {
    for (const Segment& s : part.drawn(static_cast<int>(i))) drawn += static_cast<double>(s.end - s.begin);
    total += static_cast<double>(task::element_count(c.graph.shapes[static_cast<size_t>(c.graph.graph.inputs[i])]));
  }
  return drawn / total;
}

TEST(DrawnInputs, AnElementWiseTaskNeedsOnlyTheBoxes) {
  for (const Family family : {Family::kNormal, Family::kSparse})
    EXPECT_LT(check_same_answers(make("x = \"f32[M, N]\", y = \"f32[N]\"", "z = relu(x) * y", "M = 256, N = 40000"), family), 0.5);
}

TEST(DrawnInputs, RowsAreDrawnWhole) {
  const double share = check_same_answers(make("x = \"f32[M, N]\"", "z = softmax(x, axis = 1)", "M = 4000, N = 700"), Family::kNormal);
  EXPECT_LT(share, 0.5);
}

TEST(DrawnInputs, AReductionOverAllNeedsAll) {
  EXPECT_EQ(check_same_answers(make("x = \"f32[M, N]\"", "z = x / sqrt(sum(x * x))", "M = 500, N = 700"), Family::kNormal), 1);
}

TEST(DrawnInputs, WhatAnIndexPicksFromIsDrawnWhole) {
  const Case c = make("t = \"f32[V, D]\", i = { type = \"i64[M]\", domain = \"index(V)\" }", "z = embedding(i, t)", "V = 900, D = 64, M = 5000");
  (void)check_same_answers(c, Family::kUniform);
  DrawnInputs inputs(c.task, c.graph);
  inputs.need(0, std::vector<Box>{{{17, 0}, {1, 64}}});
  ASSERT_EQ(inputs.drawn(0).size(), 1U);
  EXPECT_EQ(inputs.drawn(0)[0].end - inputs.drawn(0)[0].begin, 900 * 64);
  EXPECT_EQ(inputs.drawn(1)[0].begin, 17);
  EXPECT_EQ(inputs.drawn(1)[0].end, 18);
}

TEST(Oracle, ALossIsTheSameByAnyNumberOfThreads) {
  const Case c = make("x = \"f32[M, N]\", y = \"f32[M, N]\"", "z = mean((x - y) * (x - y))", "M = 3000, N = 1111");
  DrawnInputs inputs(c.task, c.graph);
  const std::vector<Box> boxes = plan_boxes(c.graph, 0, {});
  ASSERT_EQ(boxes.size(), 1U);
  inputs.need(0, boxes);
  inputs.draw(Family::kMantissa, seeds_for(c), 2);
  const Oracle oracle(c.graph, inputs.views());
  for (const Arithmetic arithmetic : {Arithmetic::kExact, Arithmetic::kF32}) {
    const Answer one = oracle.evaluate(0, boxes[0], arithmetic, true, 1);
    for (const int threads : {2, 5}) {
      const Answer several = oracle.evaluate(0, boxes[0], arithmetic, true, threads);
      EXPECT_EQ(one.value, several.value);
      EXPECT_EQ(one.scale, several.scale);
    }
  }
}

}  // namespace
}  // namespace hone::evaluate::drawn_cases
