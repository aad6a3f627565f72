// reduce.cu on a card: the host's values and scales, and how long a gibibyte takes. Skips where there is no card;
// HONE_SIMT_CARD is its number.
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "hone/base/clock.h"
#include "hone/evaluate/oracle/card/reduce_cases_testing.h"
#include "hone/evaluate/verify/draw/draw_card.h"
#include "hone/evaluate/verify/drawn.h"
#include "hone/evaluate/verify/gate.h"

namespace hone::evaluate {
namespace {

using testing::Case;

double since(int64_t start) { return static_cast<double>(base::system_clock().now_ns() - start) * 1e-9; }

class CardReductionsOnACard : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* ordinal = std::getenv("HONE_SIMT_CARD");
    auto card = target::Card::open(std::string("cuda:") + (ordinal ? ordinal : "0"));
    if (!card) GTEST_SKIP() << card.error().to_string();
    card_ = std::move(*card);
    const int64_t start = base::system_clock().now_ns();
    auto program = card_->program("reduce.cu", reduce_source());
    ASSERT_TRUE(program) << program.error().to_string();
    fmt::print("{}: reduce.cu is there after {:.2f} s\n", card_->info().name, since(start));
  }

  /// Uploads the inputs.
  std::unique_ptr<ReductionHelper> helper(Case& c, Coverage coverage) {
    std::vector<uint64_t> addresses;
    memory_.clear();
    for (auto& data : c.data) {
      memory_.push_back(card_->allocate(static_cast<int64_t>(data.size())).value());
      memory_.back()->upload(0, data.data(), static_cast<int64_t>(data.size()));
      addresses.push_back(memory_.back()->address());
    }
    return std::move(CardReductions::create(*card_, c.graph, c.task.track, std::move(coverage), std::move(addresses)).value());
  }

  std::shared_ptr<target::Card> card_;
  std::vector<std::unique_ptr<target::CardMemory>> memory_;
};

TEST_F(CardReductionsOnACard, HasTheHostsValuesAndScales) {
  std::vector<ReduceCase> cases = operation_cases();
  for (auto& r : shape_cases()) cases.push_back(std::move(r));
  for (const ReduceCase& r : cases) {
    compare_reductions(r, [&](Case& c, Coverage coverage) { return helper(c, std::move(coverage)); });
    if (HasFatalFailure()) return;
  }
}

/// Ties, whole numbers, denormals, huge and shifted values: where a step lies, a card is to be on the host's side of it.
TEST_F(CardReductionsOnACard, OnEveryFamily) {
  std::vector<ReduceCase> cases = shape_cases();
  for (ReduceCase& r : operation_cases()) {
    if (!r.special) continue;
    r.special = false;
    cases.push_back(std::move(r));
  }
  for (const Family family : kAllFamilies)
    for (ReduceCase r : cases) {
      r.family = family;
      SCOPED_TRACE(name_of(family));
      compare_reductions(r, [&](Case& c, Coverage coverage) { return helper(c, std::move(coverage)); });
      if (HasFatalFailure()) return;
    }
}

TEST_F(CardReductionsOnACard, LargerTensorsToo) {
  const std::vector<ReduceCase> cases = {
      {"y = mean((x - t) ** 2)", {"x=f32[3000,4001]", "t=f32[3000,4001]"}, Family::kLarge},
      {"y = sum(exp(x * w), axis=0)", {"x=f32[3000,4001]", "w=f32[4001]"}},
      {"y = sum(tanh(x) * w, axis=1)", {"x=f32[3000,4001]", "w=f32[4001]"}, Family::kSparse},
      {"y = max(x * w, axis=[0,2])", {"x=bf16[300,40,1001]", "w=bf16[40,1]"}, Family::kMantissa},
      {"y = batch_norm(x, w, b)", {"x=f32[30,40,8001]", "w=f32[40]", "b=f32[40]"}, Family::kShifted, false, 2},
      {"y = group_norm(x, 4)", {"x=f32[30,40,8001]"}, Family::kNormal, false, 2},
  };
  for (const ReduceCase& r : cases) {
    compare_reductions(r, [&](Case& c, Coverage coverage) { return helper(c, std::move(coverage)); });
    if (HasFatalFailure()) return;
  }
}

/// The same twice is the same bits.
TEST_F(CardReductionsOnACard, IsDeterministic) {
  Case c("y = mean((x - t) ** 2)", {"x=f32[3000,4001]", "t=f32[3000,4001]"});
  c.draw_all(Family::kNormal, 3);
  const Box all = whole(c.output_shape());
  std::vector<TensorView> views;
  for (size_t i = 0; i < c.data.size(); ++i) views.push_back({c.task.inputs[i].type.dtype, c.shape(i), c.data[i].data()});
  std::vector<Answer> answers;
  for (int i = 0; i < 3; ++i) {
    const auto by = helper(c, cover_reductions(c.graph, c.task.track, 0, {&all, 1}, static_cast<uint64_t>(i)));
    ASSERT_EQ(by->coverage().size(), 1U);
    answers.push_back(Oracle(c.graph, views, c.task.track, 1, by.get()).evaluate(0, all, Arithmetic::kExact, true));
  }
  for (const Answer& answer : answers) {
    EXPECT_EQ(answer.value, answers[0].value);
    EXPECT_EQ(answer.scale, answers[0].scale);
  }
}

/// Oracle and anchor together: with a card, and what the host still draws then; on the host, which draws all that it reads.
TEST_F(CardReductionsOnACard, PrintsWhatTasksTake) {
  const int threads = static_cast<int>(std::thread::hardware_concurrency());
  struct Timed {
    std::string compute;
    std::vector<std::string> inputs;
  };
  const std::vector<Timed> tasks = {
      {"y = mean((x - t) ** 2)", {"x=f32[16384,8192]", "t=f32[16384,8192]"}},
      {"y = mean((x - t) ** 2)", {"x=f32[32768,32768]", "t=f32[32768,32768]"}},
      {"y = smooth_l1_loss(x, t)", {"x=f32[32768,32768]", "t=f32[32768,32768]"}},
      {"y = mean(clamp(1 - x * t, min=0))", {"x=f32[32768,32768]", "t=f32[32768]"}},
      {"y = triplet_margin_loss(a, p, n, margin=1.0)", {"a=f32[32768,8192]", "p=f32[32768,8192]", "n=f32[32768,8192]"}},
      {"y = x / norm(x)", {"x=f32[112,64,512,512]"}},
      {"y = batch_norm(x, w, b)", {"x=f32[64,64,512,512]", "w=f32[64]", "b=f32[64]"}},
      {"y = group_norm(x, 8)", {"x=f32[112,64,512,512]"}},
      {"y = layer_norm(x, w, b)", {"x=f32[16,64,256,256]", "w=f32[64,256,256]", "b=f32[64,256,256]"}},
      {"y = sum(x, axis=1)", {"x=f32[128,4096,4095]"}},
      {"y = max(x, axis=1)", {"x=f32[128,4096,4095]"}},
      {"y = sum(f32(x) * 0.5)", {"x=i8[3,1073741824]"}},
  };
  for (const Timed& timed : tasks) {
    auto task = task::task_from_expressions(timed.compute, timed.inputs, {}).value();
    const auto graph = task::instantiate(task.primitive, task.workloads.at(0).bindings).value();
    std::vector<uint64_t> addresses, seeds;
    memory_.clear();
    int64_t start = base::system_clock().now_ns();
    auto* const drawer = draw_program(*card_).value();
    for (size_t i = 0; i < task.inputs.size(); ++i) {
      const task::Shape& shape = graph.shapes[static_cast<size_t>(graph.graph.inputs[i])];
      memory_.push_back(card_->allocate(task::element_count(shape) * task::size_of(task.inputs[i].type.dtype)).value());
      addresses.push_back(memory_.back()->address());
      seeds.push_back(i + 1);
      draw_on_card(*drawer, task.inputs[i], shape, 0, Family::kNormal, seeds.back(), addresses.back());
    }
    const double drawn = since(start);
    GateOptions options;
    options.threads = threads;
    std::vector<Box> boxes = plan_boxes(graph, 0, options);
    Coverage coverage = cover_reductions(graph, task.track, 0, boxes, 5);
    ASSERT_FALSE(coverage.empty()) << timed.compute;
    start = base::system_clock().now_ns();
    const auto by = CardReductions::create(*card_, graph, task.track, coverage, addresses).value();
    const auto fewer = plan_boxes(graph, 0, options, coverage);
    DrawnInputs part(task, graph);
    part.need(0, fewer, coverage);
    part.draw(Family::kNormal, seeds, threads);
    const double part_drawn = since(start);
    const Oracle helped(graph, part.views(), task.track, threads, by.get());
    const Reference there = make_reference(graph, helped, task.track, 0, fewer, threads);
    const double on_card = since(start);
    start = base::system_clock().now_ns();
    DrawnInputs all(task, graph);
    all.need(0, boxes);
    all.draw(Family::kNormal, seeds, threads);
    const double all_drawn = since(start);
    const Oracle alone(graph, all.views(), task.track, threads);
    const Reference here = make_reference(graph, alone, task.track, 0, boxes, threads);
    fmt::print("{:<46} {:<26} drawn there {:.3f} s; card {:.3f} s, of which drawing here {:.3f}; host {:.3f} s, of which drawing {:.3f}; anchor {:.2g}, {:.2g}\n",
               timed.compute, timed.inputs[0], drawn, on_card, part_drawn, since(start), all_drawn, there.anchor.max, here.anchor.max);
    for (size_t b = 0; b < boxes.size() && fewer.size() == boxes.size(); ++b)
      for (size_t i = 0; i < here.answers[b].value.size() && fewer[b] == boxes[b]; ++i)
        ASSERT_NEAR(there.answers[b].value[i], here.answers[b].value[i], 1e-12 * here.answers[b].scale[i]);
  }
}

}  // namespace
}  // namespace hone::evaluate
