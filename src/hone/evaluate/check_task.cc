#include "hone/evaluate/check_task.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "hone/base/random.h"
#include "hone/base/trace.h"
#include "hone/evaluate/oracle/attributes.h"
#include "hone/evaluate/verify/gate.h"
#include "hone/target/cpu.h"

namespace hone::evaluate {

namespace {

using task::Prim;

/// The input whose elements a node hands on as they are; -1: none.
int handed_on(const task::Graph& graph, int id) {
  for (;;) {
    const task::Node& node = graph.node(id);
    switch (node.prim) {
      case Prim::kInput: return static_cast<int>(std::find(graph.inputs.begin(), graph.inputs.end(), id) - graph.inputs.begin());
      case Prim::kBroadcast: case Prim::kReshape: case Prim::kTranspose: case Prim::kSlice: case Prim::kFlip: case Prim::kCast: id = node.operands[0]; break;
      default: return -1;
    }
  }
}

/// Indices of which the task does not say that they lie inside.
Status check_indices(const task::Task& task) {
  const task::Graph& graph = task.primitive;
  for (const task::Node& node : graph.nodes) {
    if (node.prim != Prim::kGather && node.prim != Prim::kTakeAlongAxis && !task::is_scatter(node.prim)) continue;
    const int input = handed_on(graph, node.operands[1]);
    if (input < 0 || task.inputs[static_cast<size_t>(input)].domain != task::Domain::kReal || !task::is_int(task.inputs[static_cast<size_t>(input)].type.dtype)) continue;
    const auto axis = static_cast<size_t>(int_attr(node, "axis"));
    const std::string extent = graph.node(node.operands[0]).type.dims[axis].to_string();
    const task::InputSpec& spec = task.inputs[static_cast<size_t>(input)];
    return fail(ErrorCode::kInput, fmt::format("{} may hold any integer, but indexes an axis of {} elements", spec.name, extent),
                fmt::format("declare its domain in a task file: {} = {{ type = \"{}\", domain = \"index({})\" }}", spec.name, spec.type.to_string(), extent));
  }
  return {};
}

/// The inputs that a node is made of, by name.
std::vector<std::string> made_of(const task::Task& task, int id) {
  const task::Graph& graph = task.primitive;
  std::vector<bool> needed(graph.nodes.size(), false);
  needed[static_cast<size_t>(id)] = true;
  for (int at = id; at >= 0; --at)
    if (needed[static_cast<size_t>(at)])
      for (const int operand : graph.node(at).operands) needed[static_cast<size_t>(operand)] = true;
  std::vector<std::string> names;
  for (size_t i = 0; i < graph.inputs.size(); ++i)
    if (needed[static_cast<size_t>(graph.inputs[i])]) names.push_back(task.inputs[i].name);
  return names;
}

std::string hint_for(const task::Task& task, const Degenerate& passed) {
  const auto output = static_cast<size_t>(passed.output);
  const auto& [name, type] = task.outputs[output];
  const bool constant = passed.kind == Degenerate::Kind::kZeros || passed.kind == Degenerate::Kind::kOnes || passed.kind == Degenerate::Kind::kMean;
  if (task::is_float(type.dtype) || !constant) return "change the computation or the inputs' domains so that the answer depends on the inputs";
  return fmt::format("on all inputs that were drawn {} is (nearly) the same everywhere: give {} domains in which it varies, such as index(2) for "
                     "integers, or have the task return what {} is computed from",
                     name, fmt::join(made_of(task, task.primitive.outputs[output]), " and "), name);
}

}  // namespace

Status check_task(const task::Task& task, const Facts* facts) {
  HONE_TRY_VOID(check_indices(task));
  const base::Span span("test of the task");
  std::string question = fmt::format("no degenerate answer passes: task {}", task.hash());
  for (const task::Workload& workload : task.workloads) question += fmt::format(", {}", task::bindings_text(workload.bindings));
  if (facts && facts->known(question) == nlohmann::json(true)) return {};
  HONE_TRY(const std::vector<Degenerate> passed, self_test(task, base::secret_seed(), target::cpu_info().threads));
  if (!passed.empty()) return fail(ErrorCode::kInput, "the task would accept a degenerate answer: " + passed.front().describe(task), hint_for(task, passed.front()));
  if (facts) facts->keep(question, true);
  return {};
}

}  // namespace hone::evaluate
