// The suites under tasks/ against PyTorch: at `tiny`, what PyTorch computes for each task passes the
// gate that candidates pass, so that the oracle and PyTorch take the task to mean the same. And for
// KernelBench's level 2 what its own modules compute, which have not seen the task. Skips where there
// is no torch.
#include <gmock/gmock.h>

#include "hone/base/testing/covering.h"
#include "hone/evaluate/baseline/testing/forwards.h"
#include "hone/evaluate/verify/bounds.h"
#include "hone/evaluate/verify/inputs.h"
#include "hone/task/testing/suite_files.h"

namespace hone::evaluate::suites_slow_cases {
namespace {

/// A task at `tiny` with drawn inputs.
struct Drawn {
  task::Task task;
  task::ConcreteGraph graph;
  Forward forward;

  [[nodiscard]] std::vector<TensorView> views() const {
    std::vector<TensorView> views;
    const char* at = forward.data.data();
    for (size_t i = 0; i < task.inputs.size(); ++i) {
      const task::Shape& shape = graph.shapes[static_cast<size_t>(graph.graph.inputs[i])];
      const task::DType dtype = task.inputs[i].type.dtype;
      views.push_back({dtype, shape, at});
      at += task::element_count(shape) * task::size_of(dtype);
    }
    return views;
  }
};

/// Python that computes the problem from KernelBench's modules (kernelbench_module.py beside this file).
std::string kernelbench_source(const nlohmann::json& problem, const task::Bindings& full, const task::Bindings& tiny) {
  const auto builder = base::read_file(HONE_SOURCE_DIR "/src/hone/evaluate/baseline/testing/kernelbench_module.py");
  EXPECT_TRUE(builder.has_value());
  const nlohmann::json arguments = {problem, full, tiny};
  return fmt::format("{}\nimport json\nforward = reference(*json.loads(r'''{}'''))\n", builder.value_or(""), arguments.dump());
}

std::optional<Drawn> drawn(const std::filesystem::path& file, Family family) {
  auto task = task::suite_task(file);
  if (!task) return std::nullopt;
  const task::Workload* tiny = task::find_workload(*task, "tiny");
  EXPECT_NE(tiny, nullptr);
  if (tiny == nullptr) return std::nullopt;
  auto graph = task::instantiate(task->primitive, tiny->bindings);
  EXPECT_TRUE(graph.has_value());
  if (!graph) return std::nullopt;
  auto forward = forward_of(*task, *graph);
  EXPECT_TRUE(forward.has_value()) << (forward ? "" : forward.error().to_string());
  if (!forward) return std::nullopt;
  for (size_t i = 0; i < task->inputs.size(); ++i) {
    const task::InputSpec& spec = task->inputs[i];
    const task::Shape& shape = graph->shapes[static_cast<size_t>(graph->graph.inputs[i])];
    std::string bytes(static_cast<size_t>(task::element_count(shape) * task::size_of(spec.type.dtype)), '\0');
    draw(spec, shape, forward->bounds[i], family, 11 + i, bytes.data());
    forward->data += bytes;
  }
  return Drawn{std::move(*task), std::move(*graph), std::move(*forward)};
}

/// PyTorch 2.13's gelu by the error function loses up to ten units of small answers on CPUs without AVX-512, four times what
/// the definition does in its place: what it means is asked here, not how well it is rounded.
double slack_of(const task::Graph& surface) {
  const auto is_that = [](const task::Node& n) { return n.op == "gelu" && !n.attrs.contains("approximate"); };
  return std::ranges::any_of(surface.nodes, is_that) ? 4 * Bounds::kSlack : Bounds::kSlack;
}

void check(const Drawn& d, Family family, const ForwardResult& result) {
  ASSERT_EQ(result.error, "") << d.forward.source;
  const Oracle oracle(d.graph, d.views(), d.task.track);
  Bounds bounds(d.task, d.graph, 11, 1, nullptr, nullptr, slack_of(d.task.surface));
  size_t at = 0;
  for (size_t k = 0; k < d.task.outputs.size(); ++k) {
    const int output = static_cast<int>(k);
    const std::string& name = d.task.outputs[k].first;
    const Reference reference = make_reference(d.graph, oracle, d.task.track, output,
                                               plan_boxes(d.graph, output, {}), 1);
    const OutputError error = compare_output(d.graph, output, reference, result.outputs.data() + at, 1);
    const auto why = judge(error, bounds.of(output, family, reference.anchor), name);
    EXPECT_FALSE(why.has_value()) << *why << "\n" << d.forward.source;
    EXPECT_GT(error.count, 0);
    const auto node = static_cast<size_t>(d.graph.graph.outputs[k]);
    at += static_cast<size_t>(task::element_count(d.graph.shapes[node]) *
                              task::size_of(d.forward.outputs[k].dtype));
  }
  EXPECT_EQ(at, result.outputs.size());
}

class SuitesAgainstPytorch : public ::testing::TestWithParam<std::string_view> {};

TEST_P(SuitesAgainstPytorch, PytorchPassesTheGateAtTiny) {
  SKIP_WITHOUT_TORCH();
  // In `make check` a suite with one of the families, the next with the other.
  for (const Family family : {Family::kNormal, Family::kUniform}) {
    if (!base::testing::takes_item(family == Family::kNormal ? 0 : 1, 2)) continue;
    std::vector<Drawn> tasks;
    std::vector<Forward> forwards;
    for (const auto& file : task::suite_files(GetParam())) {
      SCOPED_TRACE(file.string());
      auto one = drawn(file, family);
      if (!one) continue;
      forwards.push_back(one->forward);
      tasks.push_back(std::move(*one));
    }
    const auto results = run_forwards(forwards, 1, std::chrono::minutes(5));
    ASSERT_TRUE(results.has_value()) << results.error().to_string();
    for (size_t i = 0; i < tasks.size(); ++i) {
      SCOPED_TRACE(tasks[i].task.name + " " + std::string(name_of(family)));
      check(tasks[i], family, (*results)[i]);
    }
  }
}

TEST(LongKernelBenchLevel2, ItsModulesPassTheGateAtTiny) {
  SKIP_WITHOUT_TORCH();
  const auto facts = base::read_file(HONE_SOURCE_DIR "/test/cases/suites/kernelbench_level2.json");
  ASSERT_TRUE(facts.has_value());
  const auto problems = nlohmann::json::parse(*facts);
  const auto files = task::suite_files("kernelbench/level2");
  ASSERT_EQ(files.size(), problems.size());
  std::vector<Drawn> tasks;
  std::vector<Forward> forwards;
  for (size_t i = 0; i < files.size(); ++i) {
    SCOPED_TRACE(files[i].string());
    auto one = drawn(files[i], Family::kNormal);
    ASSERT_TRUE(one.has_value());
    one->forward.source = kernelbench_source(problems[i], task::find_workload(one->task, "full")->bindings, one->graph.bindings);
    forwards.push_back(one->forward);
    tasks.push_back(std::move(*one));
  }
  const auto results = run_forwards(forwards, 1, std::chrono::minutes(5));
  ASSERT_TRUE(results.has_value()) << results.error().to_string();
  for (size_t i = 0; i < tasks.size(); ++i) {
    SCOPED_TRACE(tasks[i].task.name);
    check(tasks[i], Family::kNormal, (*results)[i]);
  }
}

INSTANTIATE_TEST_SUITE_P(All, SuitesAgainstPytorch, ::testing::ValuesIn(task::kSuites),
                         [](const auto& suite) { return task::suite_name(suite.param); });
INSTANTIATE_TEST_SUITE_P(LongAll, SuitesAgainstPytorch, ::testing::ValuesIn(task::kSuites),
                         [](const auto& suite) { return task::suite_name(suite.param); });

}  // namespace
}  // namespace hone::evaluate::suites_slow_cases
