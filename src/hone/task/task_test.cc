#include "hone/task/task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hone/base/file.h"

namespace hone::task::task_cases {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kLong = R"toml(
name = "everything"
inputs = { zeta = { type = "f32[B, D]", domain = "positive" }, alpha = { type = "i64[B]", domain = "index(2*D)" }, mid = { type = "f32[D, D]", structure = "tril", constant = true } }
outputs = { second = "f32[B, D]", first = "f32[B, 2*D]" }
compute = '''
second = zeta @ mid
first = one_hot(alpha, 2 * D, dtype=f32)
'''
workloads = [ { B = 4, D = 8 }, { name = "big", weight = 2.5, B = 64, D = 32 } ]
precision = "tf32"
nan = true
deterministic = true
start = "kernels/first.cc"
)toml";

Task parsed(std::string_view text) {
  auto task = parse_task(text, "task.toml");
  EXPECT_TRUE(task.has_value()) << (task ? "" : task.error().to_string());
  return task ? std::move(*task) : Task{};
}

TEST(Task, KeepsOrderAndPolicies) {
  const Task task = parsed(kLong);
  ASSERT_EQ(task.inputs.size(), 3U);
  EXPECT_EQ(task.inputs[0].name, "zeta");
  EXPECT_EQ(task.inputs[1].name, "alpha");
  EXPECT_EQ(task.inputs[2].name, "mid");
  EXPECT_EQ(task.inputs[0].domain, Domain::kPositive);
  EXPECT_EQ(task.inputs[1].domain, Domain::kIndex);
  EXPECT_EQ(task.inputs[1].index_bound, IntExpr(2) * IntExpr::symbol("D"));
  EXPECT_EQ(task.inputs[2].structure, Structure::kTril);
  EXPECT_TRUE(task.inputs[2].constant);
  ASSERT_EQ(task.outputs.size(), 2U);
  EXPECT_EQ(task.outputs[0].first, "second");
  EXPECT_EQ(task.outputs[1].second.to_string(), "f32[B, 2*D]");
  EXPECT_EQ(task.workloads[0].name, "w0");
  EXPECT_EQ(task.workloads[1].name, "big");
  EXPECT_EQ(task.workloads[1].weight, 2.5);
  EXPECT_EQ(task.track, Track::kTf32);
  EXPECT_TRUE(task.nan_policy);
  EXPECT_TRUE(task.deterministic);
  EXPECT_EQ(task.start, "kernels/first.cc");
  EXPECT_THAT(task.symbols(), ElementsAre("B", "D"));
}

TEST(Task, RefusesKeysThatChangeNothing) {
  const auto integers = parse_task("name = \"t\"\ninputs = { x = \"i32[4]\" }\ncompute = \"y = x + 1\"\nnan = true\n", "task.toml");
  ASSERT_FALSE(integers);
  EXPECT_THAT(integers.error().to_string(), HasSubstr("would change nothing"));
}

TEST(Task, WritesItselfBack) {
  const Task task = parsed(kLong);
  const Task again = parsed(task.to_toml());
  EXPECT_EQ(again.to_toml(), task.to_toml());
  EXPECT_EQ(again.hash(), task.hash());
  EXPECT_EQ(again.inputs[1].index_bound, task.inputs[1].index_bound);
  EXPECT_EQ(again.workloads[1].weight, 2.5);
  EXPECT_EQ(again.start, task.start);
}

std::string row_task(std::string_view compute, std::string_view more = "") {
  return "name = \"rows\"\ninputs = { x = \"f32[B, D]\" }\ncompute = \"" + std::string(compute) +
         "\"\nworkloads = [ { B = 4, D = 8 } ]\n" + std::string(more);
}

constexpr std::string_view kThree = R"toml(
name = "three"
inputs = { x = "f32[B]" }
compute = "y = exp(x)"
workloads = [ { name = "full", B = 4096 }, { name = "small", B = 65 }, { name = "tiny", B = 7 } ]
default = "small"
)toml";

std::vector<std::string> selected(const Task& task, const std::vector<std::string>& names) {
  const auto some = select_workloads(task, names);
  EXPECT_TRUE(some.has_value());
  std::vector<std::string> left;
  for (const Workload& workload : some ? some->workloads : std::vector<Workload>{})
    left.push_back(workload.name);
  return left;
}

TEST(Task, WorkloadsAreSelectedByName) {
  const Task task = parsed(kThree);
  EXPECT_THAT(task.default_workloads, ElementsAre("small"));
  EXPECT_THAT(selected(task, {}), ElementsAre("small"));
  EXPECT_THAT(selected(task, {"tiny"}), ElementsAre("tiny"));
  EXPECT_THAT(selected(task, {"tiny", "full", "tiny"}), ElementsAre("full", "tiny"));
  const auto none = select_workloads(task, {"small", "smal"});
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().code, ErrorCode::kUsage);
  EXPECT_EQ(none.error().message, "the task three has no workload 'smal'; it has full, small, tiny");
  EXPECT_THAT(selected(parsed(row_task("y = exp(x)")), {}), ElementsAre("w0"));
}

TEST(Task, TheDefaultSurvivesWritingButNotSelecting) {
  const Task task = parsed(kThree);
  EXPECT_THAT(parsed(task.to_toml()).default_workloads, ElementsAre("small"));
  // A run's record holds what it ran on; reading it back must not narrow that again.
  const auto some = select_workloads(task, {"full", "tiny"});
  ASSERT_TRUE(some.has_value());
  EXPECT_THAT(selected(parsed(some->to_toml()), {}), ElementsAre("full", "tiny"));
  EXPECT_EQ(some->hash(), task.hash());
}

TEST(Task, HashIsOfWhatDecidesCorrectness) {
  const std::string hash = parsed(row_task("y = softmax(x)")).hash();
  EXPECT_EQ(parsed(row_task("y   =  softmax(x, axis=-1) # the same")).hash(), hash);
  EXPECT_EQ(parsed(row_task("t = x; y = softmax(t)")).hash(), hash);
  EXPECT_NE(parsed(row_task("y = softmax(x, axis=0)")).hash(), hash);
  EXPECT_NE(parsed(row_task("z = softmax(x)")).hash(), hash);
  EXPECT_NE(parsed(row_task("y = softmax(x)", "nan = true")).hash(), hash);
  EXPECT_NE(parsed(row_task("y = softmax(x)", "precision = \"bf16\"")).hash(), hash);
  EXPECT_EQ(parsed(row_task("y = softmax(x)", "start = \"a.cc\"")).hash(), hash);
}

TEST(Task, LoadsAFileAndNamesIt) {
  auto scratch = base::ScratchDirectory::create("task");
  ASSERT_TRUE(scratch.has_value());
  const auto path = scratch->path() / "bad.toml";
  ASSERT_TRUE(base::write_file_atomic(path, row_task("y = sofmax(x)")).has_value());
  const auto task = load_task(path);
  ASSERT_FALSE(task.has_value());
  EXPECT_EQ(task.error().code, ErrorCode::kInput);
  EXPECT_EQ(task.error().to_string(),
            path.string() + ":3:16: there is no operation 'sofmax'\n  hint: did you mean 'softmax'?");
  EXPECT_FALSE(load_task(scratch->path() / "absent.toml").has_value());
}

TEST(Task, FromTheCommandLine) {
  const auto task = task_from_expressions("t = exp(x); y = t / sum(t, -1, keepdims=true)", {"x = f32[B, D]"},
                                          {"B=4,D=8", "name=big, weight=2, B=16, D=32"});
  ASSERT_TRUE(task.has_value()) << task.error().to_string();
  ASSERT_EQ(task->outputs.size(), 1U);
  EXPECT_EQ(task->outputs[0].first, "y");
  EXPECT_EQ(task->workloads[1].name, "big");
  EXPECT_EQ(task->workloads[1].bindings.at("D"), 32);
  const std::pair<std::vector<std::string>, std::vector<std::string>> wrong[] = {
      {{}, {}},           {{"x"}, {}},           {{"3=f32[4]"}, {}},      {{"x=g32[4]"}, {}},
      {{"x=f32[B]"}, {}}, {{"x=f32[B]"}, {"B"}}, {{"x=f32[B]"}, {"B=x"}}, {{"x=f32[B]"}, {"B=4,weight=-1"}}};
  for (const auto& [inputs, workloads] : wrong)
    EXPECT_FALSE(task_from_expressions("y = x", inputs, workloads).has_value());
}

TEST(Task, InstantiateChecksABindingThatNobodyDeclared) {
  const Task task = parsed(row_task("y = x.reshape(B // 2, 2, D)"));
  EXPECT_TRUE(instantiate(task.primitive, {{"B", 6}, {"D", 3}}).has_value());
  const auto odd = instantiate(task.primitive, {{"B", 7}, {"D", 3}});
  ASSERT_FALSE(odd.has_value());
  EXPECT_THAT(odd.error().message, HasSubstr("reshape of [7, 3]"));
  EXPECT_EQ(odd.error().context, "3:18");
  EXPECT_FALSE(instantiate(task.primitive, {{"B", 6}}).has_value());
  EXPECT_FALSE(instantiate(task.primitive, {{"B", 6}, {"D", 0}}).has_value());
}

TEST(Task, InstantiateMakesNumbersOfEverything) {
  const auto task = task_from_expressions("y = mean(x[:, D // 2:], 1) + pad(z, [B - 1], [0])",
                                          {"x=f32[B,D]", "z=f32[1]"}, {"B=4,D=9"});
  ASSERT_TRUE(task.has_value()) << task.error().to_string();
  const auto concrete = instantiate(task->primitive, task->workloads[0].bindings);
  ASSERT_TRUE(concrete.has_value());
  bool sliced = false;
  for (size_t id = 0; id < concrete->shapes.size(); ++id) {
    const Node& node = concrete->graph.nodes[id];
    for (const IntExpr& dim : node.type.dims) EXPECT_TRUE(dim.is_constant());
    if (node.prim == Prim::kSlice) {
      EXPECT_THAT(node.attr<std::vector<int64_t>>("start"), ElementsAre(0, 4));
      EXPECT_THAT(concrete->shapes[id], ElementsAre(4, 5));
      sliced = true;
    }
    if (node.prim == Prim::kSymbol) {
      EXPECT_EQ(node.attr<IntExpr>("value"), IntExpr(5));
    }
    if (node.prim == Prim::kPad) {
      EXPECT_THAT(node.attr<std::vector<int64_t>>("low"), ElementsAre(3));
    }
  }
  EXPECT_TRUE(sliced);
}

}  // namespace
}  // namespace hone::task::task_cases
