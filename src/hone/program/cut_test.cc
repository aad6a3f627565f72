// Captured programs (test/cases/program: the module's file, and what torch.export made of it), cut into tasks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hone/base/file.h"
#include "hone/program/normalise.h"
#include "hone/program/tasks.h"

namespace hone::program {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

struct Cut {
  Program program;
  Plan plan;

  [[nodiscard]] std::vector<std::string> tasks() const {
    std::vector<std::string> all;
    for (const CutTask& task : plan.tasks) all.push_back(fmt::format("{} x{}", task.task.name, task.steps.size()));
    return all;
  }
  [[nodiscard]] const task::Task& task(const std::string& name) const {
    for (const CutTask& one : plan.tasks)
      if (one.task.name == name) return one.task;
    ADD_FAILURE() << "no task " << name;
    return plan.tasks.front().task;
  }
  [[nodiscard]] int count(Region::Kind kind) const {
    return static_cast<int>(std::count_if(plan.steps.begin(), plan.steps.end(), [&](const Step& step) { return step.kind == kind; }));
  }
};

Cut cut_of(const std::string& name) {
  const auto json = base::read_file(fmt::format("{}/test/cases/program/{}.json", HONE_SOURCE_DIR, name));
  EXPECT_TRUE(json) << json.error().to_string();
  auto read = read_program(*json);
  EXPECT_TRUE(read) << read.error().to_string();
  auto program = normalise(std::move(*read));
  EXPECT_TRUE(program) << program.error().to_string();
  Plan plan = plan_program(*program, cut(*program));
  return {std::move(*program), std::move(plan)};
}

/// Every value is there before it is read, and all that the program gives is made.
void expect_runs(const Cut& cut) {
  std::vector<bool> known(cut.program.nodes.size());
  for (size_t i = 0; i < known.size(); ++i) known[i] = cut.program.nodes[i].is_input();
  for (const Step& step : cut.plan.steps) {
    for (const int input : step.inputs) EXPECT_TRUE(known[static_cast<size_t>(input)]) << cut.program.nodes[static_cast<size_t>(input)].name;
    for (const int output : step.outputs) known[static_cast<size_t>(output)] = true;
    if (step.task < 0) continue;
    const task::Task& task = cut.plan.tasks[static_cast<size_t>(step.task)].task;
    ASSERT_EQ(task.inputs.size(), step.inputs.size());
    ASSERT_EQ(task.outputs.size(), step.outputs.size());
    for (size_t i = 0; i < step.inputs.size(); ++i)
      EXPECT_EQ(task.inputs[i].type.to_string(), cut.program.nodes[static_cast<size_t>(step.inputs[i])].type().to_string());
    for (size_t i = 0; i < step.outputs.size(); ++i)
      EXPECT_EQ(task.outputs[i].second.to_string(), cut.program.nodes[static_cast<size_t>(step.outputs[i])].type().to_string());
  }
  for (const Output& output : cut.program.outputs) {
    ASSERT_NE(output.value.ref(), nullptr);
    EXPECT_TRUE(known[static_cast<size_t>(output.value.ref()->node)]);
  }
}

TEST(CutTest, ProductsTakeTheirNeighboursAlong) {
  const Cut cut = cut_of("mlp");
  EXPECT_THAT(cut.tasks(), ElementsAre("linear_layer_norm_gelu x1", "linear_add x1"));
  EXPECT_EQ(cut.task("linear_add").compute, "linear_0 = linear(x0, w0, w1)\nadd_1 = x1 + linear_0\n");
  expect_runs(cut);
}

TEST(CutTest, EqualBlocksAreOneTask) {
  const Cut cut = cut_of("residual");
  EXPECT_THAT(cut.tasks(), ElementsAre("conv2d_relu x1", "conv2d_batch_norm_relu x3", "conv2d_batch_norm_add x2", "conv2d_batch_norm_add_2 x1", "linear x1"));
  expect_runs(cut);
  // Variances are positive, and a kernel may rely on it.
  for (const task::InputSpec& input : cut.task("conv2d_batch_norm_relu").inputs)
    EXPECT_EQ(input.domain == task::Domain::kPositive, input.name == "w4") << input.name;
}

TEST(CutTest, HeadsAreSharedAndAnglesFolded) {
  const Cut cut = cut_of("llama");
  EXPECT_THAT(cut.tasks(), ElementsAre("embedding_pow_mean x1", "linear_mul_neg x2", "linear_mul_neg_2 x2", "linear x2", "attention x2", "linear_add_pow x2",
                                       "linear_silu_mul x2", "linear_add_pow_2 x1", "linear_add_pow_3 x1", "linear_2 x1"));
  EXPECT_EQ(cut.count(Region::Kind::kFold), 4);  // outer, concatenation, cos, sin
  EXPECT_EQ(cut.count(Region::Kind::kEager), 0);
  EXPECT_THAT(cut.task("attention").compute, HasSubstr("enable_gqa=true"));
  EXPECT_THAT(cut.task("attention").compute, Not(HasSubstr("broadcast_to")));
  EXPECT_THAT(cut.task("linear_silu_mul").compute, HasSubstr("linear_2"));  // gate and what it gates
  expect_runs(cut);
  const auto& embedding = cut.task("embedding_pow_mean");
  EXPECT_EQ(embedding.inputs[1].domain, task::Domain::kIndex);
}

TEST(CutTest, WrittenOutAttentionStaysWhole) {
  const Cut cut = cut_of("gpt");
  const task::Task& attention = cut.task("matmul_div_masked_fill");
  EXPECT_THAT(attention.compute, HasSubstr("softmax"));
  EXPECT_THAT(attention.compute, HasSubstr("(-inf)"));
  EXPECT_EQ(attention.outputs.front().second.to_string(), "f32[2, 4, 40, 12]");
  expect_runs(cut);
}

Result<Program> read_and_normalised(const std::string& nodes, const std::string& outputs) {
  HONE_TRY(Program program, read_program(fmt::format(R"({{"format":1,"name":"a b","state":{{}},"trees":{{}},"nodes":[{}],"outputs":[{}]}})", nodes, outputs)));
  return normalise(std::move(program));
}

constexpr const char* kInput = R"({"name":"x","op":"input","role":"user","target":"x","type":{"dtype":"f32","shape":[4,6]}})";

TEST(ReadTest, RefusesWhatCannotBecomeSteps) {
  const auto error = [](const std::string& nodes, const std::string& outputs) {
    const auto program = read_and_normalised(nodes, outputs);
    return program ? std::string() : program.error().to_string();
  };
  const std::string output = R"({"kind":"user_output","target":null,"value":{"node":"y"}})";
  EXPECT_THAT(error(R"({"name":"y","op":"aten.rand.default","arguments":{},"type":{"dtype":"f32","shape":[4]}})", output), HasSubstr("random"));
  EXPECT_THAT(error(std::string(kInput) + R"(,{"name":"y","op":"aten.nonzero.default","arguments":{"self":{"node":"x"}},"type":{"dtype":"i64","shape":[{"symbol":"u0"},2]}})", output),
              HasSubstr("depends on the values"));
  EXPECT_THAT(error(R"({"name":"y","op":"aten.relu.default","arguments":{"self":{"node":"x"}},"type":{"dtype":"f32","shape":[4]}})", output), HasSubstr("no captured program"));
  EXPECT_THAT(error(R"({"name":7})", output), HasSubstr("expected a string"));
  const auto times = [&](const std::string& factor) {
    return error(std::string(kInput) + R"(,{"name":"y","op":"aten.mul.Scalar","arguments":{"self":{"node":"x"},"other":)" + factor + R"(},"type":{"dtype":"complex64","shape":[4,6]}})", output);
  };
  EXPECT_EQ(times(R"({"complex":[0,1]})"), "");
  EXPECT_THAT(times(R"({"complex":[0]})"), HasSubstr("two parts"));
  EXPECT_THAT(times("{\"other\":\"complex(exit(), 1)\"}"), HasSubstr("no captured program"));
  EXPECT_FALSE(read_program("[]"));
  EXPECT_FALSE(read_program(R"({"format":1,"name":7,"state":{},"trees":{},"nodes":[],"outputs":[]})"));
}

TEST(CutTest, WhatTheLanguageLacksIsAStepOfPyTorch) {
  const auto program = read_and_normalised(std::string(kInput) + R"(,
    {"name":"a","op":"aten.relu.default","arguments":{"self":{"node":"x"}},"positional":["self"],"type":{"dtype":"f32","shape":[4,6]}},
    {"name":"b","op":"aten.exotic.default","arguments":{"self":{"node":"a"}},"positional":["self"],"type":{"dtype":"f32","shape":[4,6]}},
    {"name":"y","op":"aten.tanh.default","arguments":{"self":{"node":"b"}},"positional":["self"],"type":{"dtype":"f32","shape":[4,6]}})",
                                           R"({"kind":"user_output","target":null,"value":{"node":"y"}})");
  ASSERT_TRUE(program) << program.error().to_string();
  EXPECT_EQ(program->name, "a_b");
  const Cut cut{*program, plan_program(*program, program::cut(*program))};
  ASSERT_EQ(cut.plan.steps.size(), 3U);
  EXPECT_EQ(cut.plan.steps[1].kind, Region::Kind::kEager);
  EXPECT_THAT(cut.plan.steps[1].why, HasSubstr("aten.exotic.default"));
  expect_runs(cut);
}

TEST(CutTest, AViewThatTheProgramGivesLeavesItsProducer) {
  const auto program = read_and_normalised(std::string(kInput) + R"(,
    {"name":"a","op":"aten.relu.default","arguments":{"self":{"node":"x"}},"positional":["self"],"type":{"dtype":"f32","shape":[4,6]}},
    {"name":"y","op":"aten.view.default","arguments":{"self":{"node":"a"},"size":[24]},"positional":["self","size"],"type":{"dtype":"f32","shape":[24]}})",
                                           R"({"kind":"user_output","target":null,"value":{"node":"y"}})");
  ASSERT_TRUE(program) << program.error().to_string();
  const Cut cut{*program, plan_program(*program, program::cut(*program))};
  ASSERT_EQ(cut.plan.tasks.size(), 1U);
  EXPECT_EQ(cut.plan.tasks.front().task.outputs.front().second.to_string(), "f32[24]");
  EXPECT_EQ(cut.plan.tasks.front().task.outputs.size(), 1U);
  expect_runs(cut);
}

TEST(CutTest, AViewOfAStepOfPyTorchsIsGivenAlone) {
  const auto program = read_and_normalised(std::string(kInput) + R"(,
    {"name":"a","op":"aten.exotic.default","arguments":{"self":{"node":"x"}},"positional":["self"],"type":{"dtype":"f32","shape":[4,6]}},
    {"name":"y","op":"aten.view.default","arguments":{"self":{"node":"a"},"size":[24]},"positional":["self","size"],"type":{"dtype":"f32","shape":[24]}})",
                                           R"({"kind":"user_output","target":null,"value":{"node":"y"}})");
  ASSERT_TRUE(program) << program.error().to_string();
  expect_runs({*program, plan_program(*program, program::cut(*program))});
}

TEST(CutTest, IndicesAreBoundedBehindViewsCastsAndWhatHandsThemOn) {
  const auto call = [](const std::string& name, const std::string& op, const std::string& arguments, const std::string& type, const std::string& shape) {
    return fmt::format(R"(,{{"name":"{}","op":"aten.{}","arguments":{{{}}},"type":{{"dtype":"{}","shape":[{}]}}}})", name, op, arguments, type, shape);
  };
  const std::string nodes = R"({"name":"ids","op":"input","role":"user","target":"ids","type":{"dtype":"i32","shape":[2,6]}},
    {"name":"more","op":"input","role":"user","target":"more","type":{"dtype":"i64","shape":[3,4]}},
    {"name":"pick","op":"input","role":"user","target":"pick","type":{"dtype":"i64","shape":[4]}},
    {"name":"mask","op":"input","role":"user","target":"mask","type":{"dtype":"bool","shape":[3,4]}},
    {"name":"table","op":"input","role":"parameter","target":"table","type":{"dtype":"f32","shape":[50,8]}})" +
                            call("seen", "view.default", R"("self":{"node":"ids"},"size":[12])", "i32", "12") +
                            call("wide", "_to_copy.default", R"("self":{"node":"seen"},"dtype":{"dtype":"i64"})", "i64", "12") +
                            call("shape", "reshape.default", R"("self":{"node":"wide"},"shape":[3,4])", "i64", "3,4") +
                            call("later", "add.Tensor", R"("self":{"node":"more"},"other":2,"alpha":1)", "i64", "3,4") +
                            call("count", "arange.default", R"("end":4)", "i64", "4") + call("last", "add.Tensor", R"("self":{"node":"count"},"other":{"node":"later"},"alpha":1)", "i64", "3,4") +
                            call("some", "where.self", R"("condition":{"node":"mask"},"self":{"node":"shape"},"other":{"node":"last"})", "i64", "3,4") +
                            call("these", "index_select.default", R"("self":{"node":"some"},"dim":1,"index":{"node":"pick"})", "i64", "3,4") +
                            call("y", "embedding.default", R"("weight":{"node":"table"},"indices":{"node":"these"})", "f32", "3,4,8");
  const auto program = read_and_normalised(nodes, R"({"kind":"user_output","target":null,"value":{"node":"y"}})");
  ASSERT_TRUE(program) << program.error().to_string();
  const auto bounds = index_bounds(*program);
  std::map<std::string, std::optional<int64_t>> of;
  for (size_t i = 0; i < bounds.size(); ++i) of[program->nodes[i].name] = bounds[i];
  EXPECT_EQ(of["ids"], 50);
  EXPECT_EQ(of["more"], 45);   // two are added, and three at most
  EXPECT_EQ(of["pick"], 4);
  EXPECT_EQ(of["mask"], std::nullopt);
  EXPECT_EQ(of["table"], std::nullopt);
}

TEST(CutTest, StepsOfALoopAreOneTask) {
  std::string nodes = R"({"name":"x","op":"input","role":"user","target":"x","type":{"dtype":"f32","shape":[6,4,8]}},
    {"name":"w","op":"input","role":"parameter","target":"w","type":{"dtype":"f32","shape":[8,8]}},
    {"name":"h0","op":"input","role":"user","target":"h","type":{"dtype":"f32","shape":[4,8]}})";
  for (int i = 0; i < 6; ++i)
    nodes += fmt::format(R"(,
    {{"name":"x{0}","op":"aten.select.int","arguments":{{"self":{{"node":"x"}},"dim":0,"index":{0}}},"positional":["self","dim","index"],"type":{{"dtype":"f32","shape":[4,8]}}}},
    {{"name":"l{0}","op":"aten.linear.default","arguments":{{"input":{{"node":"h{0}"}},"weight":{{"node":"w"}},"bias":null}},"positional":["input","weight","bias"],"type":{{"dtype":"f32","shape":[4,8]}}}},
    {{"name":"h{1}","op":"aten.add.Tensor","arguments":{{"self":{{"node":"l{0}"}},"other":{{"node":"x{0}"}},"alpha":1}},"positional":["self","other"],"type":{{"dtype":"f32","shape":[4,8]}}}})",
                         i, i + 1);
  const auto program = read_and_normalised(nodes, R"({"kind":"user_output","target":null,"value":{"node":"h6"}})");
  ASSERT_TRUE(program) << program.error().to_string();
  const Cut cut{*program, plan_program(*program, program::cut(*program))};
  EXPECT_THAT(cut.tasks(), ElementsAre("linear_add x6"));
  EXPECT_EQ(cut.count(Region::Kind::kEager), 1);
  expect_runs(cut);
}

/// A node of a capture.
std::string call(const std::string& name, const std::string& op, const std::string& arguments, const std::string& type, const std::string& more = {}) {
  return fmt::format(R"(,{{"name":"{}","op":"aten.{}","arguments":{{{}}},"type":{}{}}})", name, op, arguments, type, more);
}

std::string given(const std::string& node) { return fmt::format(R"({{"kind":"user_output","target":null,"value":{{"node":"{}"}}}})", node); }

constexpr const char* kMatrix = R"({"dtype":"f32","shape":[4,6]})";

Cut cut_of_nodes(const std::string& nodes, const std::string& outputs) {
  auto program = read_and_normalised(nodes, outputs);
  EXPECT_TRUE(program) << program.error().to_string();
  Plan plan = plan_program(*program, cut(*program));
  return {std::move(*program), std::move(plan)};
}

TEST(CutTest, OneFormThatTheLanguageLacksLeavesItsNeighboursTheirTasks) {
  // exp of u8 has no type here, and abs of f32 has.
  const Cut cut = cut_of_nodes(std::string(R"({"name":"b","op":"input","role":"user","target":"b","type":{"dtype":"uint8","shape":[4,6]}})") +
                                   call("a", "_to_copy.default", R"("self":{"node":"b"},"dtype":{"dtype":"f32"})", kMatrix) + call("y", "abs.default", R"("self":{"node":"a"})", kMatrix),
                               given("y"));
  ASSERT_EQ(cut.plan.steps.size(), 2U);
  EXPECT_EQ(cut.plan.steps[0].kind, Region::Kind::kEager);
  EXPECT_THAT(cut.plan.steps[0].why, HasSubstr("aten._to_copy.default: it reads b, whose type the language lacks"));
  EXPECT_THAT(cut.tasks(), ElementsAre("abs x1"));
  expect_runs(cut);
}

TEST(CutTest, IndicesFromTheEndAreBroughtIntoRange) {
  const auto text = [](const std::string& op, const std::string& index) {
    const Cut cut = cut_of_nodes(std::string(kInput) + R"(,{"name":"i","op":"input","role":"user","target":"i","type":{"dtype":"i64","shape":[3]}})" +
                                     call("m", "argmax.default", R"("self":{"node":"x"},"dim":0,"keepdim":false)", R"({"dtype":"i64","shape":[6]})") +
                                     call("y", op, R"("self":{"node":"x"},"indices":[{"node":")" + index + R"("}])", fmt::format(R"({{"dtype":"f32","shape":[{},6]}})", index == "i" ? 3 : 6)),
                                 given("y"));
    EXPECT_EQ(cut.plan.tasks.size(), 1U);
    return cut.plan.tasks.front().task.compute;
  };
  EXPECT_THAT(text("index.Tensor", "i"), HasSubstr("% 4"));
  EXPECT_THAT(text("index.Tensor", "m"), Not(HasSubstr("%")));          // of the largest elements: none is below 0
  EXPECT_THAT(text("_unsafe_index.Tensor", "i"), Not(HasSubstr("%")));
}

TEST(CutTest, SeveralTensorsOfIndicesPickFromOneAxis) {
  const std::string nodes = std::string(kInput) + R"(,{"name":"i","op":"input","role":"user","target":"i","type":{"dtype":"i64","shape":[3,1]}},
    {"name":"j","op":"input","role":"user","target":"j","type":{"dtype":"i64","shape":[5]}})" +
                            call("y", "_unsafe_index.Tensor", R"("self":{"node":"x"},"indices":[{"node":"i"},{"node":"j"}])", R"({"dtype":"f32","shape":[3,5]})");
  const Cut cut = cut_of_nodes(nodes, given("y"));
  ASSERT_EQ(cut.plan.tasks.size(), 1U);
  EXPECT_EQ(cut.plan.tasks.front().task.compute, "unsafe_index_0 = take(reshape(x2, [24]), (x0) * 6 + (x1), axis=0)\n");
  EXPECT_EQ(cut.plan.tasks.front().task.inputs[0].domain, task::Domain::kIndex);
}

TEST(CutTest, SeveralTensorsOfIndicesThatAreApartPickFromTheFront) {
  const std::string nodes = R"({"name":"x","op":"input","role":"user","target":"x","type":{"dtype":"f32","shape":[4,6,2]}},{"name":"i","op":"input","role":"user","target":"i","type":{"dtype":"i64","shape":[3]}})" +
                            call("y", "_unsafe_index.Tensor", R"("self":{"node":"x"},"indices":[{"node":"i"},null,{"node":"i"}])", R"({"dtype":"f32","shape":[3,6]})");
  const Cut cut = cut_of_nodes(nodes, given("y"));
  ASSERT_EQ(cut.plan.tasks.size(), 1U);
  EXPECT_EQ(cut.plan.tasks.front().task.compute, "unsafe_index_0 = take(reshape(permute(x1, [0, 2, 1]), [8, 6]), (x0) * 2 + (x0), axis=0)\n");
}

TEST(CutTest, DynamosFusedProductsAreElementwise) {
  const Cut cut = cut_of_nodes(std::string(kInput) + fmt::format(R"(,{{"name":"y","op":"prims.fma.default","arguments":{{"a":{{"node":"x"}},"b":0.5,"c":{{"node":"x"}}}},"type":{}}})", kMatrix), given("y"));
  EXPECT_THAT(cut.tasks(), ElementsAre("fma x1"));
  EXPECT_EQ(cut.plan.tasks.front().task.compute, "fma_0 = x0 * 0.5 + x0\n");
}

TEST(CutTest, AProductThatHangsOnNothingIsFolded) {
  const std::string nodes = std::string(kInput) + call("o", "ones.default", R"("size":[4,5])", R"({"dtype":"f32","shape":[4,5]})") + call("p", "ones.default", R"("size":[5,6])", R"({"dtype":"f32","shape":[5,6]})") +
                            call("m", "mm.default", R"("self":{"node":"o"},"mat2":{"node":"p"})", kMatrix) + call("e", "exp.default", R"("self":{"node":"m"})", kMatrix) +
                            call("y", "add.Tensor", R"("self":{"node":"x"},"other":{"node":"e"},"alpha":1)", kMatrix);
  const Cut cut = cut_of_nodes(nodes, given("y"));
  EXPECT_EQ(cut.count(Region::Kind::kFold), 1);
  EXPECT_THAT(cut.tasks(), ElementsAre("add x1"));
  expect_runs(cut);
}

TEST(CutTest, WhatGivesItsShapeAloneIsNoInput) {
  const std::string nodes = std::string(kInput) + R"(,{"name":"z","op":"input","role":"user","target":"z","type":{"dtype":"f32","shape":[6,4]}})" +
                            call("t", "permute.default", R"("self":{"node":"z"},"dims":[1,0])", kMatrix) + call("o", "zeros_like.default", R"("self":{"node":"t"})", kMatrix) +
                            call("y", "add.Tensor", R"("self":{"node":"x"},"other":{"node":"o"},"alpha":1)", kMatrix);
  const Cut cut = cut_of_nodes(nodes, given("y"));
  ASSERT_EQ(cut.plan.tasks.size(), 1U) << cut.plan.steps.front().why;
  EXPECT_EQ(cut.plan.tasks.front().task.inputs.size(), 1U);
  expect_runs(cut);
}

TEST(CutTest, NumbersThatMeetNoneOfTheirKindSayTheirType) {
  const auto constant = [](const std::string& name, const std::string& number, const std::string& type) {
    return fmt::format(R"(,{{"name":"{0}","op":"input","role":"constant","target":"{0}","number":{1},"type":{{"dtype":"{2}","shape":[]}}}})", name, number, type);
  };
  const auto compute = [&](const std::string& op, const std::string& arguments) {
    const std::string nodes = std::string(kInput) + R"(,{"name":"m","op":"input","role":"user","target":"m","type":{"dtype":"bool","shape":[4,6]}},
      {"name":"i","op":"input","role":"user","target":"i","type":{"dtype":"i64","shape":[2]}})" +
                              constant("o", "1.5", "f32") + constant("z", "0.0", "f32") + call("y", op, arguments, kMatrix);
    const Cut cut = cut_of_nodes(nodes, given("y"));
    EXPECT_EQ(cut.plan.steps.front().kind, Region::Kind::kTask) << cut.plan.steps.front().why;
    return cut.plan.tasks.empty() ? std::string() : cut.plan.tasks.front().task.compute;
  };
  EXPECT_THAT(compute("where.self", R"("condition":{"node":"m"},"self":{"node":"o"},"other":{"node":"z"})"), HasSubstr("cast(1.5, f32)"));
  EXPECT_THAT(compute("where.self", R"("condition":{"node":"m"},"self":{"node":"x"},"other":{"node":"z"})"), Not(HasSubstr("cast")));
  EXPECT_THAT(compute("add.Tensor", R"("self":{"node":"x"},"other":{"node":"o"},"alpha":1)"), Not(HasSubstr("cast")));
  EXPECT_THAT(compute("index_put.default", R"("self":{"node":"x"},"indices":[{"node":"i"}],"values":{"node":"o"},"accumulate":false)"), HasSubstr("cast(1.5, f32)"));
}

TEST(CutTest, LabelsThatALossIgnoresPickNothing) {
  const std::string nodes = std::string(kInput) + R"(,{"name":"t","op":"input","role":"user","target":"t","type":{"dtype":"i64","shape":[4]}})" +
                            call("y", "cross_entropy_loss.default", R"("self":{"node":"x"},"target":{"node":"t"},"weight":null,"reduction":1,"ignore_index":-100,"label_smoothing":0.0)", R"({"dtype":"f32","shape":[]})");
  const Cut cut = cut_of_nodes(nodes, given("y"));
  ASSERT_EQ(cut.plan.tasks.size(), 1U) << cut.plan.steps.front().why;
  const task::Task& task = cut.plan.tasks.front().task;
  EXPECT_THAT(task.compute, HasSubstr("where((x1 != (-100)), x1, 0)"));
  EXPECT_EQ(task.inputs[1].domain, task::Domain::kIndex);
}

TEST(CutTest, WhatIsPutInByManyIndicesIsScattered) {
  const auto compute = [](int64_t count, int64_t width) {
    const std::string type = fmt::format(R"({{"dtype":"f32","shape":[100,{}]}})", width);
    const Cut cut = cut_of_nodes(fmt::format(R"({{"name":"x","op":"input","role":"user","target":"x","type":{}}},{{"name":"i","op":"input","role":"user","target":"i","type":{{"dtype":"i64","shape":[{}]}}}},
                                               {{"name":"s","op":"input","role":"user","target":"s","type":{{"dtype":"f32","shape":[{},{}]}}}})", type, count, count, width) +
                                     call("y", "index_copy.default", R"("self":{"node":"x"},"dim":0,"index":{"node":"i"},"source":{"node":"s"})", type),
                                 given("y"));
    EXPECT_EQ(cut.plan.steps.front().kind, Region::Kind::kTask);
    return cut.plan.tasks.front().task.compute;
  };
  EXPECT_THAT(compute(16, 32), Not(HasSubstr("scatter_max")));
  EXPECT_THAT(compute(64, 32), HasSubstr("scatter_max"));  // 6400 comparisons, 3200 elements
}

TEST(CutTest, AnOrderSharesItsTaskWithViewsOnly) {
  const std::string nodes = std::string(kInput) + call("a", "exp.default", R"("self":{"node":"x"})", kMatrix) +
                            call("s", "sort.stable", R"("self":{"node":"a"},"stable":true,"dim":1,"descending":false)", fmt::format("[{},{}]", kMatrix, R"({"dtype":"i64","shape":[4,6]})")) +
                            R"(,{"name":"v","op":"getitem","arguments":{"source":{"node":"s"},"index":0},"type":{"dtype":"f32","shape":[4,6]}})" +
                            call("y", "abs.default", R"("self":{"node":"v"})", kMatrix);
  const Cut cut = cut_of_nodes(nodes, given("y"));
  EXPECT_THAT(cut.tasks(), ElementsAre("exp x1", "sort x1", "abs x1"));
  expect_runs(cut);
}

TEST(CutTest, PiecesOfWhatIsComputedAreHandedToTheStepsThatReadThem) {
  std::string nodes = std::string(R"({"name":"u","op":"input","role":"user","target":"u","type":{"dtype":"f32","shape":[6,4,8]}},
    {"name":"w","op":"input","role":"parameter","target":"w","type":{"dtype":"f32","shape":[8,8]}},
    {"name":"h0","op":"input","role":"user","target":"h","type":{"dtype":"f32","shape":[4,8]}})") +
                      call("x", "exp.default", R"("self":{"node":"u"})", R"({"dtype":"f32","shape":[6,4,8]})");
  const std::string type = R"({"dtype":"f32","shape":[4,8]})";
  for (int i = 0; i < 6; ++i)
    nodes += call(fmt::format("x{}", i), "select.int", fmt::format(R"("self":{{"node":"x"}},"dim":0,"index":{})", i), type) +
             call(fmt::format("l{}", i), "linear.default", fmt::format(R"("input":{{"node":"h{}"}},"weight":{{"node":"w"}},"bias":null)", i), type) +
             call(fmt::format("h{}", i + 1), "add.Tensor", fmt::format(R"("self":{{"node":"l{0}"}},"other":{{"node":"x{0}"}},"alpha":1)", i), type);
  const Cut cut = cut_of_nodes(nodes, given("h6"));
  EXPECT_THAT(cut.tasks(), ElementsAre("exp x1", "linear_add x6"));
  expect_runs(cut);
}

TEST(CutTest, WhatWasTakenApartForNothingIsNamed) {
  const auto capture = [](const std::string& piece) {
    return fmt::format(R"({{"format":1,"name":"a","state":{{}},"trees":{{}},"nodes":[{}{}{}],"outputs":[{}],
      "origins":[{{"name":"odd","op":"aten.odd.default","arguments":{{"self":{{"node":"x"}}}},"type":{},"results":[{{"node":"odd__2"}}]}}]}})",
                       kInput, call("odd__1", piece, R"("self":{"node":"x"})", kMatrix, R"(,"origin":0)"), call("odd__2", "abs.default", R"("self":{"node":"odd__1"})", kMatrix, R"(,"origin":0)"),
                       given("odd__2"), kMatrix);
  };
  const auto vain = [](const std::string& json) {
    auto program = read_program(json);
    EXPECT_TRUE(program) << program.error().to_string();
    program = normalise(std::move(*program));
    return apart_for_nothing(*program, cut(*program));
  };
  EXPECT_THAT(vain(capture("exp.default")), testing::IsEmpty());
  EXPECT_THAT(vain(capture("exotic.default")), ElementsAre(testing::Pair("odd", testing::HasSubstr("aten.exotic.default"))));
  EXPECT_FALSE(read_program(R"({"format":1,"name":"a","state":{},"trees":{},"outputs":[],"nodes":[{"name":"y","op":"aten.abs.default","arguments":{},"type":{"dtype":"f32","shape":[4]},"origin":0}]})"));
}

TEST(CutTest, PiecesThatPyTorchRunsItselfMayBeManyTasks) {
  const auto vain = [](bool composite) {
    const std::string row = R"({"dtype":"f32","shape":[4,1]})", number = R"({"dtype":"f32","shape":[]})";
    auto program = read_program(fmt::format(R"({{"format":1,"name":"a","state":{{}},"trees":{{}},"nodes":[{}{}{}{}],"outputs":[{},{}],
      "origins":[{{"name":"odd","op":"aten.odd.default","arguments":{{"self":{{"node":"x"}}}},"type":[{},{}],"results":[{{"node":"odd__1"}},{{"node":"odd__2"}}],"composite":{}}}]}})",
                                            kInput, call("odd__1", "sum.dim_IntList", R"("self":{"node":"x"},"dim":[1],"keepdim":true)", row, R"(,"origin":0)"),
                                            call("z", "exotic.default", R"("self":{"node":"x"})", kMatrix),
                                            call("odd__2", "sum.default", R"("self":{"node":"z"})", number, R"(,"origin":0)"), given("odd__1"), given("odd__2"), row, number, composite));
    EXPECT_TRUE(program) << program.error().to_string();
    program = normalise(std::move(*program));
    return apart_for_nothing(*program, cut(*program));
  };
  EXPECT_THAT(vain(true), testing::IsEmpty());
  EXPECT_THAT(vain(false), ElementsAre(testing::Pair("odd", HasSubstr("2 tasks"))));
}

/// A call of a recurrent operator: x is what a relu gives, and what is left of the states goes through another.
struct Recurrent {
  std::string op = "lstm";
  int layers = 1, directions = 1, steps = 6, gates = 4, states = 2, weights_each = 4;
  bool batch_first = false;
  std::string more = {};   ///< of its arguments

  [[nodiscard]] Result<Program> program() const {
    constexpr int kBatch = 4, kGiven = 6, kWidth = 8;
    const int cells = layers * directions;
    const auto tensor = [](const std::string& shape) { return fmt::format(R"({{"dtype":"f32","shape":[{}]}})", shape); };
    const std::string x = batch_first ? fmt::format("{},{},{}", kBatch, steps, kGiven) : fmt::format("{},{},{}", steps, kBatch, kGiven);
    const std::string every = fmt::format("{},{},{}", batch_first ? kBatch : steps, batch_first ? steps : kBatch, kWidth * directions), last = fmt::format("{},{},{}", cells, kBatch, kWidth);
    std::string nodes = fmt::format(R"({{"name":"u","op":"input","role":"user","target":"u","type":{0}}},
      {{"name":"x","op":"aten.relu.default","arguments":{{"self":{{"node":"u"}}}},"positional":["self"],"type":{0}}})", tensor(x));
    std::string hx, params, types = tensor(every);
    for (int i = 0; i < states; ++i) {
      nodes += fmt::format(R"(,{{"name":"s{0}","op":"input","role":"user","target":"s{0}","type":{1}}})", i, tensor(last));
      hx += fmt::format(R"({}{{"node":"s{}"}})", i > 0 ? "," : "", i);
      types += "," + tensor(last);
    }
    for (int cell = 0; cell < cells; ++cell)
      for (int i = 0; i < weights_each; ++i) {
        const int columns = i == 1 ? kWidth : cell < directions ? kGiven : kWidth * directions;
        nodes += fmt::format(R"(,{{"name":"w{0}_{1}","op":"input","role":"parameter","target":"w{0}_{1}","type":{2}}})", cell, i,
                             tensor(i < 2 ? fmt::format("{},{}", gates * kWidth, columns) : fmt::format("{}", gates * kWidth)));
        params += fmt::format(R"({}{{"node":"w{}_{}"}})", cell + i > 0 ? "," : "", cell, i);
      }
    nodes += fmt::format(R"(,{{"name":"net","op":"aten.{}.input","arguments":{{"input":{{"node":"x"}},"hx":{},"params":[{}],"has_biases":{},"num_layers":{},"dropout":0.0,"train":false,
      "bidirectional":{},"batch_first":{}{}}},"positional":["input","hx","params","has_biases","num_layers","dropout","train","bidirectional","batch_first"],"type":[{}]}})",
                         op, states > 1 ? "[" + hx + "]" : hx, params, weights_each > 2, layers, directions > 1, batch_first, more, types);
    nodes += fmt::format(R"(,{{"name":"every","op":"getitem","arguments":{{"source":{{"node":"net"}},"index":0}},"type":{}}},
      {{"name":"last","op":"getitem","arguments":{{"source":{{"node":"net"}},"index":1}},"type":{}}},
      {{"name":"y","op":"aten.relu.default","arguments":{{"self":{{"node":"every"}}}},"positional":["self"],"type":{}}})", tensor(every), tensor(last), tensor(every));
    return read_and_normalised(nodes, R"({"kind":"user_output","target":null,"value":{"node":"y"}},{"kind":"user_output","target":null,"value":{"node":"last"}})");
  }
};

TEST(CutTest, ARecurrentNetIsALoopOfOneTask) {
  const Recurrent nets[] = {{}, {"lstm", 3, 2}, {"lstm", 2, 1, 6, 4, 2, 2, true}, {"gru", 2, 2, 300, 3, 1}, {"rnn_tanh", 2, 1, 5, 1, 1}, {"rnn_relu", 1, 2, 5, 1, 1, 2}, {"gru", 1, 1, 1, 3, 1}};
  for (const Recurrent& net : nets) {
    SCOPED_TRACE(fmt::format("{} {}x{} {}", net.op, net.layers, net.directions, net.steps));
    const auto program = net.program();
    ASSERT_TRUE(program) << program.error().to_string();
    const Cut cut{*program, plan_program(*program, program::cut(*program))};
    expect_runs(cut);
    const auto loop = static_cast<size_t>(net.layers * net.directions * net.steps);
    const auto is_body = [&](const CutTask& task) { return task.steps.size() == loop && task.task.name.starts_with("linear_add"); };
    EXPECT_EQ(std::count_if(cut.plan.tasks.begin(), cut.plan.tasks.end(), is_body), 1) << testing::PrintToString(cut.tasks());
    // Beside it the products of all steps, and the two relus.
    size_t others = 0;
    for (const CutTask& task : cut.plan.tasks) others += is_body(task) ? 0 : task.steps.size();
    EXPECT_EQ(others, static_cast<size_t>(net.layers * net.directions) + 2);
    // The operator itself reads and gives the same.
    ASSERT_EQ(cut.plan.written.size(), 1U);
    const WrittenOut& written = cut.plan.written.front();
    EXPECT_EQ(written.name, net.op);
    EXPECT_EQ(written.step.outputs.size(), 2U);
    std::set<int> made;
    for (int i = written.first; i < written.first + written.count; ++i) {
      EXPECT_EQ(cut.plan.steps[static_cast<size_t>(i)].written, 0);
      made.insert(cut.plan.steps[static_cast<size_t>(i)].outputs.begin(), cut.plan.steps[static_cast<size_t>(i)].outputs.end());
    }
    for (const int output : written.step.outputs) EXPECT_TRUE(made.count(output));
    std::set<int> read(written.step.inputs.begin(), written.step.inputs.end());
    for (const int operand : operands(program->wholes.front().node)) EXPECT_TRUE(read.count(operand) || net.batch_first) << program->nodes[static_cast<size_t>(operand)].name;
    EXPECT_EQ(std::count_if(cut.plan.steps.begin(), cut.plan.steps.end(), [](const Step& step) { return step.written >= 0; }), written.count);
  }
}

TEST(CutTest, WhatIsNoLoopOfOneTaskIsLeftToPyTorch) {
  Recurrent projected{"lstm", 1, 1, 6, 4, 2, 5};
  Recurrent strange{"gru", 1, 1, 6, 4, 1};
  Recurrent endless{"gru", 2, 1, 10000, 3, 1};
  for (const auto& [net, why] : {std::pair{projected, "aten.lstm.input: with projections (proj_size)"}, {strange, "aten.gru.input: called as nobody calls it"}, {endless, "aten.gru.input: more than 16384 steps"}}) {
    const auto program = net.program();
    ASSERT_TRUE(program) << program.error().to_string();
    const Cut cut{*program, plan_program(*program, program::cut(*program))};
    EXPECT_TRUE(cut.plan.written.empty());
    EXPECT_EQ(cut.count(Region::Kind::kEager), 1);
    for (const Step& step : cut.plan.steps)
      if (step.kind == Region::Kind::kEager) EXPECT_THAT(step.why, HasSubstr(why));
    expect_runs(cut);
  }
}

TEST(CutTest, DropoutBetweenLayersIsRandomOnlyWhereItIsActive) {
  const auto text = [](const Recurrent& net) {
    const auto program = net.program();
    return program ? std::string() : program.error().to_string();
  };
  Recurrent net;
  net.more = R"(,"dropout":0.5,"train":true)";
  EXPECT_EQ(text(net), "");
  net.layers = 2;
  EXPECT_THAT(text(net), HasSubstr("random"));
  net.more = R"(,"dropout":0.5,"train":false)";
  EXPECT_EQ(text(net), "");
}

std::string one_operator(const std::string& name, const std::string& op, const std::string& of) {
  return fmt::format(R"(, {{"name": "{}", "op": "{}", "positional": ["self"], "arguments": {{"self": {{"node": "{}"}}}}, "type": {{"dtype": "f32", "shape": [4, 6]}}}})", name, op, of);
}

std::string result(const std::string& of) { return fmt::format(R"({{"kind": "user_output", "value": {{"node": "{}"}}}})", of); }

TEST(NormaliseTest, ACopyStaysWhereAResultWouldElseShareMemory) {
  const auto small = [](const std::string& more, const std::string& outputs) {
    auto program = read_and_normalised(kInput + more, outputs);
    EXPECT_TRUE(program) << program.error().to_string();
    return std::move(*program);
  };
  const std::string copies = one_operator("y", "aten.clone.default", "x");
  EXPECT_EQ(small(copies, result("y")).nodes.size(), 2U);
  const Program fresh = small(one_operator("e", "aten.exp.default", "x") + one_operator("y", "aten.clone.default", "e"), result("y"));
  EXPECT_EQ(fresh.nodes.size(), 2U);
  EXPECT_EQ(fresh.outputs.front().value.ref()->node, 1);
  const Program twice = small(one_operator("e", "aten.exp.default", "x") + one_operator("y", "aten.clone.default", "e"), result("e") + "," + result("y"));
  EXPECT_EQ(twice.nodes.size(), 3U);
  EXPECT_NE(twice.outputs[0].value, twice.outputs[1].value);
  EXPECT_EQ(small(copies + one_operator("e", "aten.exp.default", "y"), result("e")).nodes.size(), 2U);
}

// A capture is what some process says: whatever it leaves out of a call, or says of a shape, the call becomes a step of PyTorch's, or the
// whole is refused.
TEST(Cut, TakesWhateverACaptureLeavesOut) {
  std::set<std::string> seen;  // each operator once
  for (const char* const name : {"mlp", "residual", "gpt", "llama"}) {
    const base::Json whole = base::Json::parse(*base::read_file(fmt::format("{}/test/cases/program/{}.json", HONE_SOURCE_DIR, name)));
    int planned = 0;
    const auto take = [&](const base::Json& json) {
      auto read = read_program(json.dump());
      if (!read) return;
      const auto program = normalise(std::move(*read));
      if (!program) return;
      planned += !plan_program(*program, cut(*program)).steps.empty();
    };
    for (size_t i = 0; i < whole["nodes"].size(); ++i) {
      const base::Json& node = whole["nodes"][i];
      if (!seen.insert(node["op"].get<std::string>()).second) continue;
      const base::Json arguments = node.value("arguments", base::Json::object());
      for (const auto& [argument, value] : arguments.items()) {
        base::Json less = whole, none = whole;
        less["nodes"][i]["arguments"].erase(argument);
        none["nodes"][i]["arguments"][argument] = nullptr;
        take(less), take(none);
      }
      for (const base::Json& shape : {base::Json::array(), base::Json{0, 0}}) {
        base::Json other = whole;
        if (other["nodes"][i]["type"].is_object()) other["nodes"][i]["type"]["shape"] = shape;
        take(other);
      }
    }
    EXPECT_GT(planned, 0) << name;
  }
}

}  // namespace
}  // namespace hone::program
