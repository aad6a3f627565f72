// Runs what emit_pytorch() wrote for many tasks in one Python process (forwards.py beside this file):
// a process for each would spend most of its time on starting. For tests only: nothing is jailed, and
// the times are Python's own.
#pragma once
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "hone/base/file.h"
#include "hone/base/process/process.h"
#include "hone/evaluate/baseline/pytorch_process.h"
#include "hone/evaluate/baseline/pytorch_testing.h"

namespace hone::evaluate {

/// One task at one workload.
struct Forward {
  std::string source;
  std::vector<task::TensorType> inputs, outputs;  ///< concrete
  std::vector<int64_t> bounds;                    ///< of integer inputs, one an input
  std::string data;                               ///< the inputs' bytes; empty: drawn there
  int repeats = 0;                                ///< timed calls; with none the outputs come back
};

struct ForwardResult {
  std::string error;       ///< empty: it ran
  std::string outputs;     ///< the outputs' bytes, one after the other, where nothing was timed
  std::vector<double> ms;  ///< of each timed call
};

/// `task` at one workload without data; fails where an operation has no PyTorch form.
inline Result<Forward> forward_of(const task::Task& task, const task::ConcreteGraph& graph) {
  Forward forward;
  HONE_TRY(forward.source, emit_pytorch(task, graph.bindings));
  for (size_t i = 0; i < task.inputs.size(); ++i) {
    const task::InputSpec& spec = task.inputs[i];
    forward.inputs.push_back(graph.graph.node(graph.graph.inputs[i]).type);
    forward.bounds.push_back(spec.domain == task::Domain::kIndex
                                 ? spec.index_bound.eval(graph.bindings).value_or(1)
                                 : 100);
  }
  for (const int id : graph.graph.outputs) forward.outputs.push_back(graph.graph.node(id).type);
  return forward;
}

inline nlohmann::json tensor_json(const task::TensorType& type) {
  nlohmann::json shape = nlohmann::json::array();
  for (const task::IntExpr& dim : type.dims) shape.push_back(dim.constant());
  return {{"dtype", task::numpy_name_of(type.dtype)}, {"shape", shape}};
}

/// A result for each forward, in order; fails where Python itself fails.
inline Result<std::vector<ForwardResult>> run_forwards(const std::vector<Forward>& forwards, int threads,
                                                       std::chrono::nanoseconds deadline) {
  HONE_TRY(const auto scratch, base::ScratchDirectory::create("forwards"));
  const auto file = [&](const char* what, size_t i) {
    return (scratch.path() / fmt::format("{}{}", what, i)).string();
  };
  nlohmann::json jobs = nlohmann::json::array();
  for (size_t i = 0; i < forwards.size(); ++i) {
    const Forward& forward = forwards[i];
    nlohmann::json job = {{"source", forward.source}, {"repeats", forward.repeats}};
    for (size_t k = 0; k < forward.inputs.size(); ++k) {
      nlohmann::json input = tensor_json(forward.inputs[k]);
      input["bound"] = forward.bounds[k];
      job["inputs"].push_back(input);
    }
    for (const task::TensorType& output : forward.outputs) job["outputs"].push_back(tensor_json(output));
    if (!forward.data.empty()) {
      job["data"] = file("data", i);
      HONE_TRY_VOID(base::write_file_atomic(file("data", i), forward.data));
    }
    if (forward.repeats == 0) job["result"] = file("result", i);
    jobs.push_back(std::move(job));
  }
  HONE_TRY(const PythonTorch torch, pytorch_for_tests());
  base::SpawnOptions options;
  options.argv = {torch.python.string(), HONE_SOURCE_DIR "/src/hone/evaluate/baseline/testing/forwards.py"};
  options.environment = pytorch_environment();
  options.input = nlohmann::json{{"threads", threads}, {"jobs", jobs}}.dump();
  HONE_TRY(const base::Exit exit, base::run(options, deadline));
  if (!exit.ok()) return fail(ErrorCode::kInternal, exit.describe(), exit.err);
  std::vector<ForwardResult> results;
  std::istringstream lines(exit.out);
  for (std::string line; std::getline(lines, line);) {
    const auto answer = nlohmann::json::parse(line, nullptr, false);
    if (!answer.is_object()) return fail(ErrorCode::kInternal, "forwards.py wrote: " + line);
    ForwardResult& result = results.emplace_back();
    result.error = answer.value("error", "");
    result.ms = answer.value("ms", std::vector<double>());
    if (const size_t i = results.size() - 1; result.error.empty() && forwards[i].repeats == 0) {
      HONE_TRY(result.outputs, base::read_file(file("result", i)));
    }
  }
  if (results.size() != forwards.size()) return fail(ErrorCode::kInternal, "forwards.py left jobs out");
  return results;
}

}  // namespace hone::evaluate
