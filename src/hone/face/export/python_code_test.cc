// Generated Python against hone itself: what plan() and bind() make of a kernel is what kernel::bind() makes of it, for
// the patterns' kernels of the suites' tasks and for hand-written plans, where they apply and where they do not.
#include "hone/face/export/python_code.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hone/base/file.h"
#include "hone/base/process/process.h"
#include "hone/face/export/python_names.h"
#include "hone/face/export/testing/kernels.h"
#include "hone/pattern/library.h"

namespace hone::face {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

json evaluate_in_python(const json& cases) {
  const auto folder = base::ScratchDirectory::create("plans");
  EXPECT_TRUE(folder.has_value());
  EXPECT_TRUE(base::write_file_atomic(folder->path() / "cases.json", cases.dump()).has_value());
  const std::string export_folder = HONE_SOURCE_DIR "/src/hone/face/export/";
  base::SpawnOptions spawn;
  spawn.argv = {"python3", export_folder + "testing/plans.py", (folder->path() / "cases.json").string(), export_folder + "python/plan.py"};
  spawn.environment = {{"PATH", std::getenv("PATH")}, {"PYTHONDONTWRITEBYTECODE", "1"}};
  const auto exit = base::run(spawn, std::chrono::seconds(100));
  EXPECT_TRUE(exit.has_value());
  EXPECT_TRUE(exit && exit->ok()) << (exit ? exit->err : "");
  json answers = exit ? json::parse(exit->out, nullptr, false) : json();
  EXPECT_EQ(answers.size(), cases.size());
  return answers;
}

json padded(const std::vector<int64_t>& extents) {
  json all = extents;
  while (all.size() < 3) all.push_back(1);
  return all;
}

/// hone's own plan in the words of export/python/plan.py; null where there is none.
json bound_by_hone(const kernel::Kernel& kernel, const task::Task& task, const task::Bindings& bindings, const kernel::Limits& limits) {
  const auto plan = kernel::bind(kernel, task, bindings, limits);
  if (!plan) return nullptr;
  json workspaces = json::array(), launches = json::array();
  for (const kernel::BoundWorkspace& workspace : plan->workspaces) workspaces.push_back({task::numpy_name_of(workspace.dtype), workspace.shape, workspace.zero});
  for (const kernel::BoundLaunch& launch : plan->launches) {
    json arguments = json::array();
    for (const kernel::BoundArgument& argument : launch.args) {
      if (argument.kind == kernel::Argument::Kind::kTensor) arguments.push_back({"tensor", argument.tensor});
      else arguments.push_back({argument.kind == kernel::Argument::Kind::kI32 ? "i32" : "i64", argument.value});
    }
    launches.push_back({launch.function, padded(launch.grid), padded(launch.block), padded(launch.cluster), launch.shared, arguments});
  }
  return {workspaces, launches};
}

/// Cases and what hone says to them, side by side.
struct Cases {
  json asked = json::array(), expected = json::array();
  std::vector<std::string> where;

  void add(const task::Task& task, const task::Bindings& bindings, const kernel::Kernel* kernel, const std::string& name) {
    const auto code = task_code(task);
    ASSERT_TRUE(code.has_value()) << name << code.error().to_string();
    json one = {{"task", code->text}, {"shapes", json::array()}, {"given", json::object()}, {"limits", {132, 232448, 32}}};
    json wanted = {{"extents", json::array()}, {"shapes", json::array()}};
    const auto shape = [&](const task::TensorType& type) {
      json extents = json::array();
      for (const task::IntExpr& extent : type.dims) extents.push_back(extent.eval(bindings).value());
      return extents;
    };
    for (const task::InputSpec& input : task.inputs) one["shapes"].push_back(shape(input.type));
    for (const std::string& symbol : code->given) one["given"][symbol] = bindings.find(symbol)->second;
    for (const std::string& symbol : task.symbols()) wanted["extents"].push_back(bindings.find(symbol)->second);
    for (const auto& [output, type] : task.outputs) wanted["shapes"].push_back(shape(type));
    if (kernel) {
      const auto plan = plan_function(*kernel, task);
      ASSERT_TRUE(plan.has_value()) << name << plan.error().to_string();
      one["plan"] = *plan;
      wanted["plan"] = bound_by_hone(*kernel, task, bindings, {{"SMS", 132}, {"SHARED_MAX", 232448}, {"WAVE", 32}});
    }
    asked.push_back(std::move(one));
    expected.push_back(std::move(wanted));
    where.push_back(name);
  }

  void check() const {
    const json answers = evaluate_in_python(asked);
    ASSERT_EQ(answers.size(), expected.size());
    for (size_t i = 0; i < answers.size(); ++i) EXPECT_EQ(answers[i], expected[i]) << where[i];
  }
};

TEST(PythonPlan, SaysWhatTritonTakesBesideTensors) {
  auto task = task::task_from_expressions("y = 2 * x", {"x=f32[N]"}, {"N=1000"});
  const auto kernel = kernel::parse_kernel(R"~("""hone
language = "triton"
tunables = { B = [128, 64], WARPS = [4] }
[[launch]]
kernel = "k"
grid   = ["ceil_div(N, B)"]
warps  = "WARPS"
args   = ["x", "y", "null", "i32:N", "f32:0.5", "f32:1/sqrt(N)", "f32:1/N", "=B", "=True", "=tl.float32", "='gelu'"]
"""
)~", "kernel.py");
  ASSERT_TRUE(task && kernel);
  const auto plan = plan_function(*kernel, *task);
  ASSERT_TRUE(plan.has_value()) << plan.error().to_string();
  const json answers = evaluate_in_python({{{"task", task_code(*task)->text}, {"shapes", {{1024}}}, {"given", json::object()}, {"limits", {132, 232448, 32}}, {"plan", *plan}}});
  EXPECT_EQ(answers[0]["plan"].dump(),
            R"~([[],[["k",[8,1,1],[4,3,1],[1,1,1],0,[["tensor",0],["tensor",1],["null",null],["i32",1024],["f32",0.5],["f32",0.03125],["f32",0.0009765625],)~"
            R"~(["constant",128],["text","True"],["text","tl.float32"],["text","'gelu'"]]]]])~");
}

/// One task of each so many.
void expect_suites_are_hones(size_t each) {
  Cases cases;
  size_t refused = 0, number = 0;
  for (const char* suite : {"kernelbench/level1", "kernelbench/level2", "inference"})
    for (const auto& file : std::filesystem::directory_iterator(fmt::format("{}/tasks/{}", HONE_SOURCE_DIR, suite))) {
      if (number++ % each != 0) continue;
      const auto task = task::load_task(file.path());
      ASSERT_TRUE(task.has_value());
      std::vector<std::string> why_not;
      auto offers = pattern::offers_gpu(*task, kernel::Language::kCuda, why_not);
      if (offers.size() > 2) offers.resize(2);
      for (const task::Workload& workload : task->workloads) {
        cases.add(*task, workload.bindings, nullptr, file.path().filename().string());
        for (const pattern::Offer& offer : offers) {
          cases.add(*task, workload.bindings, &offer.kernel, fmt::format("{} {} {}", file.path().filename().string(), offer.pattern, workload.name));
          refused += cases.expected.back()["plan"].is_null() ? 1 : 0;
        }
      }
    }
  EXPECT_GT(cases.asked.size(), 700 / each);
  EXPECT_LT(refused, cases.asked.size() / 3);
  cases.check();
}
TEST(PythonPlan, IsHonesForTheSuites) { expect_suites_are_hones(4); }
TEST(LongPythonPlan, IsHonesForTheSuites) { expect_suites_are_hones(1); }

TEST(PythonPlan, SaysNoWhereHoneDoes) {
  const task::Task task = testing::make_task("name = \"t\"\ninputs = { x = \"f32[N, F]\" }\noutputs = { y = \"f32[N, F]\" }\ncompute = \"y = 2 * x\"\nworkloads = [{ N = 4, F = 8 }]\n");
  const kernel::Kernel kernel = testing::make_kernel(R"~(/* hone
language = "cuda"
requires = ["F % 2 == 0", "not (N == 3 and F > 4)"]
tunables = { TILE = [32, 64] }
workspaces = { w = "zero f64[ceil_div(N, TILE), F - 4]", z = "i32[abs(F - 50)]" }
[[launch]]
kernel = "first"
grid   = ["ceil_div(N, TILE)", "min(SMS, F)"]
block  = ["TILE", "1 + (N > 5)"]
cluster = ["select(N == 9, 2, 1)", "select(F == 100, 5, 1)"]
shared = "select(N > 100, SHARED_MAX, 8 * F)"
when   = "100 // (N - 7) != 0 or F == 2"
args   = ["x", "w", "i64:N*F", "i32:N * N"]
[[launch]]
kernel = "then"
grid   = ["N"]
block  = ["WAVE"]
repeat = "N // 2"
when   = "STEP % 2 == 0"
args   = ["w", "z", "y", "i64:select(STEP < 1, 1, 2*STEP)", "i64:-F"]
*/
)~");
  Cases cases;
  for (const int64_t n : {1, 2, 3, 4, 7, 9, 64, 200, 513, 70000})
    for (const int64_t F : {2, 3, 4, 6, 50, 100}) cases.add(task, {{"N", n}, {"F", F}}, &kernel, fmt::format("N = {}, F = {}", n, F));
  size_t refused = 0;
  for (const json& one : cases.expected) refused += one["plan"].is_null() ? 1 : 0;
  EXPECT_GT(refused, 10U);
  EXPECT_LT(refused, 50U);
  cases.check();
}

TEST(PythonExtents, AskForWhatNoShapeGives) {
  const task::Task task = testing::make_task("name = \"g\"\ninputs = { x = \"f32[N, G*P, 7]\", w = \"f32[G*P]\", b = \"f32[G*P]\" }\noutputs = { y = \"f32[N, G*P, 7]\" }\n"
                                             "compute = \"y = group_norm(x, G, w, b)\"\nworkloads = [{ N = 2, G = 3, P = 5 }]\n");
  const auto code = task_code(task);
  ASSERT_TRUE(code.has_value()) << code.error().to_string();
  EXPECT_THAT(code->given, ::testing::ElementsAre("G"));
  EXPECT_THAT(code->text, HasSubstr("def extents(x, w, b, *, G):"));
  EXPECT_THAT(code->text, HasSubstr("F.group_norm(x, G, weight=w, bias=b)"));
  Cases cases;
  cases.add(task, {{"N", 2}, {"G", 3}, {"P", 5}}, nullptr, "as declared");
  // Another shape F none of the task's.
  for (const json& shapes : {json{{2, 14, 7}, {14}, {14}}, json{{2, 15, 8}, {15}, {15}}, json{{2, 15, 7}, {15}, {12}}, json{{2, 15}, {15}, {15}}}) {
    json one = cases.asked[0];
    one["shapes"] = shapes;
    cases.asked.push_back(one);
    cases.expected.push_back({{"extents", nullptr}, {"shapes", nullptr}});
    cases.where.push_back(shapes.dump());
  }
  cases.check();
}

TEST(PythonPlan, RefusesWhatItCannotWrite) {
  const task::Task task = testing::make_task(testing::kSoftmaxTask);
  const std::string head = "/* hone\nlanguage = \"cuda\"\n[[launch]]\nkernel = \"f\"\nblock = [\"32\"]\n";
  for (const auto& [rest, word] : {std::pair{"grid = [\"L2_BYTES\"]\nargs = [\"x\"]\n", "L2_BYTES"}, std::pair{"grid = [\"B\"]\nargs = [\"q\"]\n", "\"q\""}}) {
    const auto plan = plan_function(testing::make_kernel(head + rest + "*/\n"), task);
    ASSERT_FALSE(plan.has_value());
    EXPECT_THAT(plan.error().message, HasSubstr(word));
  }
}

}  // namespace
}  // namespace hone::face
