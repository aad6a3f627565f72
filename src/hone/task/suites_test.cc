// The suites under tasks/: every file parses, has the workloads full, small and tiny in the sizes
// that their users rely on (tasks/README.md), and the KernelBench files are KernelBench's problems.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <set>

#include "hone/base/file.h"
#include "hone/task/testing/suite_files.h"

namespace hone::task {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::Ge;
using ::testing::HasSubstr;
using testing::Le;

struct Size {
  int64_t elements = 0, bytes = 0;  ///< of inputs and outputs
  double flops = 0;                 ///< the least
  int64_t largest = 0;              ///< elements of the largest tensor, intermediate ones included
};

Size size_of_workload(const Task& task, const Workload& workload) {
  const auto graph = instantiate(task.primitive, workload.bindings);
  EXPECT_TRUE(graph.has_value()) << (graph ? "" : graph.error().to_string());
  Size size;
  if (!graph) return size;
  for (const auto* ids : {&graph->graph.inputs, &graph->graph.outputs})
    for (const int id : *ids) {
      const int64_t count = element_count(graph->shapes[static_cast<size_t>(id)]);
      size.elements += count;
      size.bytes += count * hone::task::size_of(graph->graph.node(id).type.dtype);
    }
  for (const Shape& shape : graph->shapes) size.largest = std::max(size.largest, element_count(shape));
  size.flops = minimal_cost(*graph).flops;
  return size;
}

bool has_odd_extent(const Workload& workload) {
  return std::any_of(workload.bindings.begin(), workload.bindings.end(),
                     [](const auto& binding) { return binding.second > 1 && binding.second % 2 == 1; });
}

void check_sizes(const Task& task) {
  const Workload& full = *find_workload(task, "full");
  const Workload& small = *find_workload(task, "small");
  const Workload& tiny = *find_workload(task, "tiny");
  const Size most = size_of_workload(task, full), some = size_of_workload(task, small);
  const Size least = size_of_workload(task, tiny);
  EXPECT_LE(most.bytes, int64_t{40} << 30) << "full must fit one accelerator";
  EXPECT_LE(some.bytes, most.bytes);
  EXPECT_LT(least.bytes, some.bytes);
  // Time is what small is about (tasks_long_test); these only keep it in a machine's memory and the
  // oracle's patience.
  EXPECT_THAT(some.bytes, AllOf(Ge(1 << 16), Le(256 << 20))) << "small";
  EXPECT_LE(some.flops, 2e9) << "small";
  EXPECT_TRUE(has_odd_extent(small)) << "small";
  // An emulator runs a few million operations a second.
  EXPECT_THAT(least.elements, AllOf(Ge(500), Le(20'000))) << "tiny";
  EXPECT_LE(least.bytes, 80'000) << "tiny";
  EXPECT_LE(least.largest, 20'000) << "tiny";
  EXPECT_LE(least.flops, 600'000) << "tiny";
  EXPECT_TRUE(has_odd_extent(tiny)) << "tiny";
}

class Suites : public testing::TestWithParam<std::string_view> {};

TEST_P(Suites, EveryFileHoldsItsThreeWorkloads) {
  std::set<std::string> names;
  for (const auto& file : suite_files(GetParam())) {
    SCOPED_TRACE(file.string());
    const auto task = suite_task(file);
    if (!task) continue;
    EXPECT_TRUE(task->name.ends_with(file.stem().string())) << task->name;
    EXPECT_TRUE(names.insert(task->name).second) << task->name;
    const auto text = base::read_file(file);
    ASSERT_TRUE(text.has_value());
    EXPECT_EQ(text->rfind("# ", 0), 0U) << "the first line says what it is";
    std::vector<std::string> workloads;
    for (const Workload& workload : task->workloads) workloads.push_back(workload.name);
    ASSERT_THAT(workloads, ElementsAre("full", "small", "tiny"));
    EXPECT_THAT(task->default_workloads, ElementsAre("small"));
    check_sizes(*task);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Suites, testing::ValuesIn(kSuites),
                         [](const auto& suite) { return suite_name(suite.param); });

/// What KernelBench draws says what may be declared of an input, and nothing more may be.
void check_declared(const InputSpec& input, const Workload& full, const std::string& values) {
  SCOPED_TRACE(input.name + " from " + values);
  const bool symmetric = values.rfind("symmetric", 0) == 0, triu = values.rfind("triu", 0) == 0;
  const bool tril = values.rfind("tril", 0) == 0, simplex = values.find("softmax") != std::string::npos;
  const bool sign = values.find("*2-1") != std::string::npos;
  const bool index = values.rfind("randint", 0) == 0 && !sign && input.type.dtype != DType::kBool;
  EXPECT_EQ(input.structure, symmetric ? Structure::kSymmetric
                             : triu    ? Structure::kTriu
                             : tril    ? Structure::kTril
                                       : Structure::kNone);
  EXPECT_EQ(input.domain, simplex ? Domain::kSimplex
                          : sign  ? Domain::kSign
                          : index ? Domain::kIndex
                                  : Domain::kReal);
  EXPECT_FALSE(input.constant);
  if (!index) return;
  const auto bound = input.index_bound.eval(full.bindings);
  ASSERT_TRUE(bound.has_value());
  EXPECT_THAT(values, HasSubstr(", " + std::to_string(*bound) + ")"));
}

/// Of what the problem's modules own: the domain of each, in the order of construction; weights of norms are near one.
std::vector<Domain> parameters_of(const json& problem) {
  std::vector<Domain> domains;
  for (const json& module : problem.value("modules", json::array())) {
    const std::string op = module["op"];
    const bool bias = module.value("/kwargs/bias"_json_pointer, true);
    if (op.starts_with("Conv") || op == "Linear") domains.insert(domains.end(), bias ? 2 : 1, Domain::kReal);
    if (op == "Parameter" && !module.value("unused", false)) domains.push_back(Domain::kReal);
    if (op.starts_with("BatchNorm") || op == "GroupNorm" || op == "LayerNorm") domains.insert(domains.end(), {Domain::kNearOne, Domain::kReal});
  }
  return domains;
}

/// Bytes that KernelBench counts and the task has not: parameters that the forward pass never uses, less what the task
/// has and KernelBench does not count, a number among the inputs.
int64_t uncounted_bytes(const json& problem) {
  int64_t bytes = 0;
  for (const json& module : problem.value("modules", json::array()))
    if (module.value("unused", false)) bytes += 4 * element_count(module["shape"].get<Shape>());
  for (const json& input : problem["inputs"]) bytes -= input.contains("scalar") ? 4 : 0;
  return bytes;
}

void check_problem(const json& problem, const std::filesystem::path& file) {
  const auto task = suite_task(file);
  ASSERT_TRUE(task.has_value());
  const Workload* full = find_workload(*task, "full");
  ASSERT_NE(full, nullptr);
  const json& inputs = problem["inputs"];
  ASSERT_GE(task->inputs.size(), inputs.size());  // then come the module's parameters
  for (size_t i = 0; i < inputs.size(); ++i) {
    const InputSpec& input = task->inputs[i];
    Shape shape;
    for (const IntExpr& dim : input.type.dims) shape.push_back(dim.eval(full->bindings).value_or(-1));
    if (inputs[i].contains("scalar")) {
      EXPECT_TRUE(shape.empty());
      continue;
    }
    EXPECT_EQ(shape, inputs[i]["shape"].get<Shape>()) << input.name;
    const std::string values = inputs[i]["values"];
    // Problem 100 makes floats of the integers that it draws.
    const bool floats = values.find("as f32") != std::string::npos;
    EXPECT_EQ(name_of(input.type.dtype), floats ? "f32" : inputs[i]["dtype"].get<std::string>());
    check_declared(input, *full, values);
  }
  EXPECT_EQ(size_of_workload(*task, *full).bytes + uncounted_bytes(problem), problem["min_bytes"].get<int64_t>());
  if (!problem.contains("modules")) return;
  std::vector<Domain> parameters;
  for (size_t i = inputs.size(); i < task->inputs.size(); ++i) {
    EXPECT_EQ(task->inputs[i].type.dtype, DType::kF32);
    EXPECT_FALSE(task->inputs[i].constant);
    parameters.push_back(task->inputs[i].domain);
  }
  EXPECT_EQ(parameters, parameters_of(problem));
}

class KernelBench : public testing::TestWithParam<int> {};

TEST_P(KernelBench, FilesAreItsProblems) {
  const auto facts = base::read_file(fmt::format("{}/test/cases/suites/kernelbench_level{}.json", HONE_SOURCE_DIR, GetParam()));
  ASSERT_TRUE(facts.has_value());
  const json problems = json::parse(*facts);
  const auto files = suite_files(fmt::format("kernelbench/level{}", GetParam()));
  ASSERT_EQ(problems.size(), 100U);
  ASSERT_EQ(files.size(), 100U);
  for (size_t i = 0; i < 100; ++i) {
    SCOPED_TRACE(files[i].string());
    EXPECT_EQ(problems[i]["id"], i + 1);
    EXPECT_EQ(std::stoul(files[i].stem().string()), i + 1);
    check_problem(problems[i], files[i]);
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, KernelBench, testing::Values(1, 2));

}  // namespace
}  // namespace hone::task
