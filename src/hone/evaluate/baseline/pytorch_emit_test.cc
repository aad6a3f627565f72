// Golden tests: test/cases/pytorch/*.toml say a computation and the body of forward() it becomes.
#include <gmock/gmock.h>

#include <toml++/toml.h>
#include <algorithm>
#include <filesystem>

#include "hone/evaluate/baseline/pytorch.h"
#include "hone/evaluate/baseline/pytorch_cases.h"
#include "hone/task/graph/op_table.h"

namespace hone::evaluate {
namespace {

std::string body_of(const std::string& source) {
  const size_t def = source.find("def forward(");
  const size_t begin = def == std::string::npos ? std::string::npos : source.find('\n', def);
  return begin == std::string::npos ? source : source.substr(begin + 1);
}

std::string without_indent(std::string text) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const size_t begin = std::min(text.find_first_not_of(' ', at), end);
    if (begin < end) result += text.substr(begin, end - begin) + "\n";
    at = end + 1;
  }
  return result;
}

TEST(PytorchEmit, CasesGiveTheirText) {
  for (const PytorchCase& c : load_pytorch_cases()) {
    SCOPED_TRACE(c.where);
    const auto task = c.task();
    EXPECT_TRUE(task.has_value()) << task.error().to_string();
    if (!task) continue;
    const auto source = emit_pytorch(*task, task->workloads[0].bindings);
    if (!c.refused.empty()) {
      EXPECT_FALSE(source.has_value()) << *source;
      if (source) continue;
      EXPECT_EQ(source.error().code, ErrorCode::kUnavailable);
      EXPECT_THAT(source.error().message, ::testing::HasSubstr(c.refused));
      continue;
    }
    EXPECT_TRUE(source.has_value()) << source.error().to_string();
    if (source) {
      EXPECT_EQ(without_indent(body_of(*source)), without_indent(c.forward)) << *source;
    }
  }
}

/// Every operation a task may use is shown once, so that none can be forgotten here.
TEST(PytorchEmit, EveryOperationHasACase) {
  std::set<std::string> seen;
  for (const PytorchCase& c : load_pytorch_cases())
    if (const auto task = c.task())
      for (const task::Node& node : task->surface.nodes) seen.insert(node.op);
  std::vector<std::string> missing;
  for (const auto& [name, op] : task::op_table())
    if (!seen.contains(name)) missing.push_back(name);
  EXPECT_THAT(missing, ::testing::IsEmpty());
}

TEST(PytorchEmit, ModuleIsWhole) {
  const auto task = task::task_from_expressions("y = x / sqrt(D)", {"x=f32[B, D]"}, {"B=2,D=9"});
  ASSERT_TRUE(task.has_value()) << task.error().to_string();
  EXPECT_EQ(emit_pytorch(*task, task->workloads[0].bindings).value(),
            "import math\n\nimport torch\nimport torch.nn.functional as F\n\n\n"
            "def forward(x):\n    return x / math.sqrt(9)\n");
}

}  // namespace
}  // namespace hone::evaluate
