// What the oracle leaves to a helper, and that it looks over what it gets.
#include "hone/evaluate/oracle/reduction_helper.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <thread>

#include "hone/evaluate/oracle/card/card_reductions.h"
#include "hone/evaluate/oracle/evaluator.h"
#include "hone/evaluate/oracle/testing.h"
#include "hone/evaluate/verify/segments.h"

namespace hone::evaluate {
namespace {

using testing::Case;

std::vector<TensorView> views_of(const Case& c, const std::vector<std::vector<uint8_t>>& data) {
  std::vector<TensorView> views;
  for (size_t i = 0; i < data.size(); ++i) views.push_back({c.task.inputs[i].type.dtype, c.shape(i), data[i].data()});
  return views;
}

/// Reduces on the host, from inputs of its own.
class HostHelper final : public ReductionHelper {
 public:
  HostHelper(const Case& c, Coverage coverage)
      : ReductionHelper(std::move(coverage)), case_(c), facts_(facts_of(c.graph)), views_(views_of(c, c.data)) {}

  Tensor reduce(int id, const Box& box, Arithmetic arithmetic, bool want_scale, std::span<const Tensor>) override {
    whole_ += box.extent == operand_shape(id);
    parts_ += box.extent != operand_shape(id);
    TiledEvaluator evaluator(case_.graph, facts_, views_, arithmetic, want_scale);
    const Tensor operand = evaluator.compute(case_.graph.graph.node(id).operands[0], box);
    Pool pool;
    const Step step{case_.graph, facts_, views_, id, box, {}, arithmetic, want_scale, pool};
    Tensor result = reduce_region(step, operand);
    if (off_by != 0) const_cast<double*>(result.value)[0] += off_by;
    return result;
  }

  [[nodiscard]] int whole_asked() const { return whole_; }
  [[nodiscard]] int parts_asked() const { return parts_; }
  double off_by = 0;

 private:
  [[nodiscard]] const task::Shape& operand_shape(int id) const {
    return case_.graph.shapes[static_cast<size_t>(case_.graph.graph.node(id).operands[0])];
  }
  const Case& case_;
  std::vector<NodeFacts> facts_;
  std::vector<TensorView> views_;
  std::atomic<int> whole_{0}, parts_{0};
};

Coverage covered(const Case& c, int64_t least = 1) {
  const Box all = whole(c.output_shape());
  return cover_reductions(c.graph, c.task.track, 0, {&all, 1}, 7, least);
}

/// The inputs with NaN in place of what nobody may read.
std::vector<std::vector<uint8_t>> only_what_is_read(const Case& c, const Coverage& coverage, std::span<const Box> boxes) {
  std::vector<std::vector<Segment>> read(c.data.size());
  add_what_is_read(c.graph, 0, boxes, read, coverage);
  std::vector<std::vector<uint8_t>> data;
  for (size_t i = 0; i < c.data.size(); ++i) {
    std::vector<float> values(c.data[i].size() / 4, NAN);
    const auto* const from = reinterpret_cast<const float*>(c.data[i].data());
    for (const Segment& s : read[i]) std::copy(from + s.begin, from + s.end, values.begin() + s.begin);
    data.emplace_back(reinterpret_cast<const uint8_t*>(values.data()), reinterpret_cast<const uint8_t*>(values.data() + values.size()));
  }
  return data;
}

void expect_same(const Answer& found, const Answer& expected) {
  ASSERT_EQ(found.value.size(), expected.value.size());
  for (size_t i = 0; i < found.value.size(); ++i) {
    EXPECT_NEAR(found.value[i], expected.value[i], 1e-12 * expected.scale[i]) << i;
    EXPECT_NEAR(found.scale[i], expected.scale[i], 1e-12 * expected.scale[i]) << i;
  }
}

TEST(ReductionHelper, IsAskedOnceForTheWholeAndForASpot) {
  Case c("y = layer_norm(x, w, b)", {"x=f32[6,40,900]", "w=f32[40,900]", "b=f32[40,900]"});
  c.draw_all(Family::kNormal, 5);
  HostHelper helper(c, covered(c));
  ASSERT_EQ(helper.coverage().size(), 2U);
  const Box boxes[] = {{{1, 3, 100}, {1, 2, 50}}, {{4, 39, 0}, {2, 1, 900}}, {{0, 0, 0}, {1, 40, 900}}};
  const auto data = only_what_is_read(c, helper.coverage(), boxes);
  const Oracle oracle(c.graph, views_of(c, data), c.task.track, 2, &helper);
  std::vector<std::thread> threads;
  std::vector<Answer> found(std::size(boxes));
  for (size_t b = 0; b < std::size(boxes); ++b)
    threads.emplace_back([&, b] { found[b] = oracle.evaluate(0, boxes[b], Arithmetic::kExact, true, 2); });
  for (auto& thread : threads) thread.join();
  for (size_t b = 0; b < std::size(boxes); ++b) expect_same(found[b], c.oracle().evaluate(0, boxes[b], Arithmetic::kExact, true));
  EXPECT_EQ(helper.whole_asked(), 2);
  EXPECT_EQ(helper.parts_asked(), 2);
  (void)oracle.evaluate(0, boxes[0], Arithmetic::kF32, false);
  EXPECT_EQ(helper.whole_asked(), 4) << "another arithmetic, other answers";
}

TEST(ReductionHelper, OfALossTheHostReadsSpotsOnly) {
  for (const char* compute : {"y = mean((x - t) ** 2)", "y = triplet_margin_loss(x, t, 0.5 * x - t, margin=1.0)"}) {
    Case c(compute, {"x=f32[300,1000]", "t=f32[300,1000]"});
    c.draw_all(Family::kNormal, 5);
    HostHelper helper(c, covered(c));
    const Box all = whole(c.output_shape());
    const auto data = only_what_is_read(c, helper.coverage(), {&all, 1});
    const auto* const x = reinterpret_cast<const float*>(data[0].data());
    EXPECT_GT(std::count_if(x, x + 300000, [](float v) { return std::isnan(v); }), 200000);
    const Oracle oracle(c.graph, views_of(c, data), c.task.track, 2, &helper);
    expect_same(oracle.evaluate(0, all, Arithmetic::kExact, true, 2), c.answer());
    EXPECT_GT(helper.whole_asked(), 0);
  }
}

TEST(ReductionHelper, AnswersThatDifferStopTheProgram) {
  Case c("y = mean(x * x)", {"x=f32[300,1000]"});
  c.draw_all(Family::kNormal, 5);
  HostHelper helper(c, covered(c));
  helper.off_by = 1e-6;
  const Oracle oracle(c.graph, views_of(c, c.data), c.task.track, 1, &helper);
  EXPECT_DEATH((void)oracle.evaluate(0, whole(c.output_shape()), Arithmetic::kExact, true), "sum of node . comes to");
}

TEST(ReductionHelper, CoversWhatIsLargeAndWhatACardCanDo) {
  const auto nodes = [](const std::string& compute, const std::vector<std::string>& inputs, int64_t least,
                        task::Track track = task::Track::kStrict) {
    const Case c(compute, inputs);
    const Box all = whole(c.output_shape());
    return cover_reductions(c.graph, track, 0, {&all, 1}, 7, least).size();
  };
  EXPECT_EQ(nodes("y = sum(x * x)", {"x=f32[100,1000]"}, 100000), 1U);
  EXPECT_EQ(nodes("y = sum(x * x)", {"x=f32[100,1000]"}, 100001), 0U) << "small";
  EXPECT_EQ(nodes("y = sum(x * x)", {"x=f32[100,1000]"}, 1, task::Track::kBf16), 0U) << "sums are bf16";
  EXPECT_EQ(nodes("y = argmax(x * x, axis=1)", {"x=f32[100,1000]"}, 1), 0U);
  EXPECT_EQ(nodes("y = prod(x * x, axis=1)", {"x=f32[100,1000]"}, 1), 0U);
  EXPECT_EQ(nodes("y = sum(cumsum(x, axis=1))", {"x=f32[2000,1000]"}, 1), 0U) << "a scan that is large";
  EXPECT_EQ(nodes("y = sum(concat([x, x], axis=1))", {"x=f32[2000,1000]"}, 1), 0U);
  EXPECT_EQ(nodes("y = sum(reshape(x[1:, :] * 2, shape=[333,3000]), axis=0)", {"x=f32[1000,1000]"}, 1), 1U) << "through a reshape of rows";
  EXPECT_EQ(nodes("y = sum(reshape(x[:, 1:] * 2, shape=[333,3000]), axis=0)", {"x=f32[1000,1000]"}, 1), 0U)
      << "no affine function of its coordinates";
  EXPECT_EQ(nodes("y = mean(x * x) + sum(max(x, axis=1))", {"x=f32[2000,3]"}, 6000), 2U) << "the maxima are few, and their sum is the host's";
}

TEST(ReductionHelper, ARowOfManyIsTheHosts) {
  // Of 1000 rows of 5000 an answer reads 3: no pass over all of them.
  const Case c("y = x / sum(x * x, axis=1, keepdims=true)", {"x=f32[1000,5000]"});
  const Box three{{7, 0}, {3, 5000}}, many{{0, 0}, {900, 5000}};
  EXPECT_EQ(cover_reductions(c.graph, c.task.track, 0, {&three, 1}, 7, 15000).size(), 0U);
  EXPECT_EQ(cover_reductions(c.graph, c.task.track, 0, {&many, 1}, 7, 15000).size(), 1U);
}

}  // namespace
}  // namespace hone::evaluate
