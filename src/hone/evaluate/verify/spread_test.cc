// Outputs whose worst roundings to 16 bits are as large as they are: what tells a right answer from a wrong one there.
#include "hone/evaluate/verify/spread.h"

#include <gmock/gmock.h>

#include <cmath>

#include "hone/evaluate/verify/bounds.h"
#include "hone/evaluate/verify/compare_found.h"
#include "hone/evaluate/verify/drawn.h"
#include "hone/evaluate/verify/gate.h"

namespace hone::evaluate {
namespace {

using ::testing::IsEmpty;

/// Three products and a norm in bf16: added up, half roundoffs of 16 bits are more than the answer.
task::Task chain() {
  return task::task_from_expressions("h = gelu(x @ a) @ b; y = silu(h / sqrt(mean(h * h, axis=-1, keepdim=True) + 1e-5)) @ c",
                                     {"x=bf16[M,K]", "a=bf16[K,K]", "b=bf16[K,K]", "c=bf16[K,K]"}, {"M=16,K=640"}).value();
}

/// Of large inputs a rounding of the first product is many turns of the sine: what the others make of it is anything, but for elements
/// where x is larger.
task::Task turns() {
  return task::task_from_expressions("h = sin((x @ a) * 0.03125); y = tanh((h @ b + x) * g * 0.03125)", {"x=bf16[M,K]", "a=bf16[K,N]", "b=bf16[N,K]", "g=bf16[M,K]"},
                                     {"M=48,K=70,N=8"}).value();
}

/// One draw of a task with four inputs, with its reference and bound.
struct Drawn {
  task::Task task;
  task::ConcreteGraph graph = task::instantiate(task.primitive, task.workloads.front().bindings).value();
  DrawnInputs inputs{task, graph};
  std::unique_ptr<Oracle> oracle;
  Reference reference;
  Bound bound;

  explicit Drawn(Family family, uint64_t seed = 7, task::Task of = chain()) : task(std::move(of)) {
    GateOptions options;
    std::vector<Box> boxes = plan_boxes(graph, 0, options);
    inputs.need(0, boxes);
    const std::vector<uint64_t> seeds = {seed, seed + 1, seed + 2, seed + 3};
    inputs.draw(family, seeds, 2);
    oracle = std::make_unique<Oracle>(graph, inputs.views(), task.track, 2);
    reference = make_reference(graph, *oracle, task.track, 0, std::move(boxes), 2);
    Bounds bounds(task, graph, 11, 2);
    bound = bounds.of(0, family, reference.anchor);
  }
  /// The verdict on `value(exact, made, flat index)` of each element: the exact one, and that of a program which makes its roundings as `sample` has them.
  template <class Value>
  std::optional<std::string> verdict(Value value, uint32_t sample) const {
    const Oracle other = oracle->with({NarrowRoundings::Way::kMade, sample});
    std::vector<Answer> made;
    for (const Box& box : reference.boxes) made.push_back(other.evaluate(0, box, Arithmetic::kExact, false, 2));
    const OutputError error = compare_found(graph, 0, reference, [&](int64_t box, int64_t position, int64_t flat, std::span<double> found) {
      for (size_t i = 0; i < found.size(); ++i) {
        const size_t at = static_cast<size_t>(position) + i;
        found[i] = value(reference.answers[static_cast<size_t>(box)].value[at], made[static_cast<size_t>(box)].value[at], flat + static_cast<int64_t>(i));
      }
    }, 2);
    return judge(error, bound, "y");
  }
};

TEST(Spread, TellsWhereTheWorstCaseDoesNot) {
  const Drawn draw(Family::kNormal);
  std::vector<Answer> counted;
  for (const Box& box : draw.reference.boxes) counted.push_back(draw.oracle->evaluate(0, box, Arithmetic::kExact, true, 2));
  EXPECT_TRUE(says_little(draw.graph, *draw.oracle, 0, counted));
  EXPECT_FALSE(says_little(draw.graph, *draw.oracle, 0, draw.reference.answers));
  EXPECT_THAT(self_test(draw.task, 5).value(), IsEmpty());
}

TEST(Spread, TakesProgramsThatRoundAndThatDoNot) {
  for (const Family family : {Family::kNormal, Family::kUniform, Family::kShifted, Family::kInteger}) {
    const Drawn draw(family);
    EXPECT_EQ(draw.verdict([](double exact, double, int64_t) { return exact; }, 0), std::nullopt) << name_of(family);
    // As the types say, and others that round as much, which the scale has not seen.
    for (const uint32_t sample : {0u, 101u, 102u, 103u})
      EXPECT_EQ(draw.verdict([](double, double made, int64_t) { return made; }, sample), std::nullopt) << name_of(family) << ", " << sample;
  }
}

TEST(Spread, TakesWhatIsAnythingBesideWhatIsNot) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const Drawn draw(Family::kLarge, 4 * seed, turns());
    EXPECT_EQ(draw.verdict([](double exact, double, int64_t) { return exact; }, 0), std::nullopt) << seed;
    for (const uint32_t sample : {0u, 101u, 102u})
      EXPECT_EQ(draw.verdict([](double, double made, int64_t) { return made; }, sample), std::nullopt) << seed << ", " << sample;
    EXPECT_NE(draw.verdict([](double exact, double, int64_t) { return exact * 0.75; }, 0), std::nullopt) << seed;
  }
}

TEST(Spread, RefusesWhatIsNoAnswer) {
  const Drawn draw(Family::kNormal);
  EXPECT_NE(draw.verdict([](double, double, int64_t) { return 0.0; }, 0), std::nullopt);
  EXPECT_NE(draw.verdict([](double exact, double, int64_t) { return exact * 0.75; }, 0), std::nullopt);
  EXPECT_NE(draw.verdict([](double exact, double made, int64_t) { return exact + 12 * (made - exact); }, 101), std::nullopt) << "twelve times the rounding";
  EXPECT_NE(draw.verdict([](double exact, double, int64_t flat) { return flat == 1000 ? -exact - 1 : exact; }, 0), std::nullopt) << "one element";
}

}  // namespace
}  // namespace hone::evaluate
