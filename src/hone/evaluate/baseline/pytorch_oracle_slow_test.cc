// PyTorch against the oracle: every case of test/cases/pytorch must pass the gate that candidates
// pass. Cases of a file that share their inputs run as one task of many outputs, so that a process is
// started for each group only. Skips where there is no torch.
#include <gmock/gmock.h>

#include <cstring>
#include <map>
#include <regex>

#include "hone/evaluate/baseline/pytorch_cases.h"
#include "hone/evaluate/baseline/pytorch_testing.h"
#include "hone/evaluate/verify/bounds.h"
#include "hone/evaluate/verify/inputs.h"

namespace hone::evaluate {
namespace {

using target::Region;

/// Several programs in one: each case's assigned names get a suffix of their own.
struct Group {
  std::string compute;
  std::vector<std::string> inputs;
  std::string bindings;
  std::map<std::string, std::string> origin;  // output name -> case

  void add(const PytorchCase& c, size_t number) {
    std::map<std::string, std::string> renamed;
    std::istringstream lines(c.compute);
    for (std::string line; std::getline(lines, line);) {
      std::smatch match;
      static const std::regex kStatement(R"(^([\w, ]+) = (.*)$)");
      if (!std::regex_match(line, match, kStatement)) continue;
      std::string value = match[2], targets = match[1];
      for (const auto& [from, to] : renamed)
        value = std::regex_replace(value, std::regex("\\b" + from + "\\b(?! *=)"), to);
      static const std::regex kName(R"(\w+)");
      for (auto it = std::sregex_iterator(targets.begin(), targets.end(), kName);
           it != std::sregex_iterator(); ++it) {
        const std::string fresh = it->str() + "_" + std::to_string(number);
        renamed[it->str()] = fresh;
        origin[fresh] = c.where;
      }
      compute += std::regex_replace(targets, kName, "$&_" + std::to_string(number)) + " = " + value + "\n";
    }
    for (const std::string& input : c.used_inputs())
      if (std::find(inputs.begin(), inputs.end(), input) == inputs.end()) inputs.push_back(input);
  }
};

std::vector<Group> groups_of(const std::string& file) {
  std::map<std::string, Group> groups;
  size_t number = 0;
  for (const PytorchCase& c : load_pytorch_cases()) {
    if (c.where.substr(0, c.where.find(':')) != file || !c.refused.empty()) continue;
    std::string key = c.bindings;
    for (const std::string& input : c.inputs) key += ";" + input;
    groups[key].bindings = c.bindings;
    groups[key].add(c, number++);
  }
  std::vector<Group> result;
  for (auto& [key, group] : groups) result.push_back(std::move(group));
  return result;
}

void check(const Group& group) {
  SCOPED_TRACE(group.compute);
  PytorchCase whole;
  whole.compute = group.compute;
  whole.inputs = group.inputs;
  whole.bindings = group.bindings;
  auto made = whole.task();
  ASSERT_TRUE(made.has_value()) << made.error().to_string();
  task::Task& task = *made;
  for (task::InputSpec& input : task.inputs)
    if (task::is_int(input.type.dtype)) {
      input.domain = task::Domain::kIndex;
      input.index_bound = 3;  // within every extent that the cases index
    }
  const task::Bindings& bindings = task.workloads[0].bindings;
  const auto graph = task::instantiate(task.primitive, bindings);
  ASSERT_TRUE(graph.has_value()) << graph.error().to_string();

  auto in = Region::create(1 << 20, Region::Access::kInput);
  auto out = Region::create(1 << 20, Region::Access::kOutput);
  ASSERT_TRUE(in && out);
  target::Call call;
  std::vector<TensorView> views;
  int64_t at = 0;
  const auto place = [&](int32_t region, task::DType dtype, const task::Shape& shape) {
    call.tensors.push_back({region, at});
    at += (task::element_count(shape) * task::size_of(dtype) + 63) / 64 * 64;
  };
  for (size_t i = 0; i < task.inputs.size(); ++i) {
    const auto& spec = task.inputs[i];
    const task::Shape& shape = graph->shapes[static_cast<size_t>(graph->graph.inputs[i])];
    views.push_back({spec.type.dtype, shape, in->data() + at});
    draw(spec, shape, 3, Family::kNormal, 7 + i, in->data() + at);
    place(0, spec.type.dtype, shape);
  }
  at = 0;
  for (const int node : graph->graph.outputs)
    place(1, graph->graph.node(node).type.dtype, graph->shapes[static_cast<size_t>(node)]);

  auto session = start_pytorch(PytorchHost::shared(0), task, bindings, {&*in, &*out}, {});
  ASSERT_TRUE(session.has_value()) << session.error().to_string();
  const auto outcome = (*session)->run({&call, 1}, std::chrono::seconds(30));
  ASSERT_EQ(outcome.how, target::BatchOutcome::How::kDone) << outcome.why;

  const Oracle oracle(*graph, views, task.track);
  Bounds bounds(task, *graph, 7, 1);
  for (size_t k = 0; k < task.outputs.size(); ++k) {
    const int output = static_cast<int>(k);
    const std::string& name = task.outputs[k].first;
    const auto origin = group.origin.find(name);
    SCOPED_TRACE(origin == group.origin.end() ? name : origin->second);
    const Reference reference = make_reference(*graph, oracle, task.track, output,
                                               plan_boxes(*graph, output, {}), 1);
    const target::Placement& where = call.tensors[task.inputs.size() + k];
    const OutputError error = compare_output(*graph, output, reference, out->data() + where.offset, 1);
    const auto why = judge(error, bounds.of(output, Family::kNormal, reference.anchor), name);
    EXPECT_FALSE(why.has_value()) << *why;
    EXPECT_GT(error.count, 0);
  }
}

class PytorchOracle : public ::testing::TestWithParam<std::string> {};

TEST_P(PytorchOracle, EveryCasePassesTheGate) {
  SKIP_WITHOUT_TORCH();
  for (const Group& group : groups_of(GetParam())) check(group);
}

std::vector<std::string> files() {
  std::set<std::string> names;
  for (const PytorchCase& c : load_pytorch_cases()) names.insert(c.where.substr(0, c.where.find(':')));
  return {names.begin(), names.end()};
}

INSTANTIATE_TEST_SUITE_P(Cases, PytorchOracle, ::testing::ValuesIn(files()),
                         [](const auto& file) { return file.param.substr(0, file.param.find('.')); });

}  // namespace
}  // namespace hone::evaluate
