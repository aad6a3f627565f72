#include "hone/face/audit/audit.h"

#include <algorithm>
#include <limits>

#include "hone/face/audit/algebra.h"
#include "hone/face/audit/trials.h"

namespace hone::face::audit {
namespace {

int64_t elements_of(const task::Task& task, const task::Workload& workload) {
  const auto graph = task::instantiate(task.primitive, workload.bindings);
  if (!graph) return std::numeric_limits<int64_t>::max();
  int64_t size = 0;
  for (const auto* ids : {&graph->graph.inputs, &graph->graph.outputs})
    for (const int id : *ids) size += task::element_count(graph->shapes[static_cast<size_t>(id)]);
  return size;
}

void append(std::vector<Finding>& to, std::vector<Finding> from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

}  // namespace

Result<task::Task> cheapest_workload(task::Task task) {
  const auto least = std::min_element(task.workloads.begin(), task.workloads.end(), [&](const task::Workload& a, const task::Workload& b) {
    if ((a.name == "tiny") != (b.name == "tiny")) return a.name == "tiny";
    return elements_of(task, a) < elements_of(task, b);
  });
  if (least == task.workloads.end()) return fail(ErrorCode::kInput, "the task has no workload");
  task.workloads = {*least};
  return task;
}

Result<Audited> audit_task(const task::Task& task, const task::Task& whole, uint64_t seed, int threads) {
  HONE_TRY(const task::ConcreteGraph graph, task::instantiate(task.primitive, task.workloads.at(0).bindings));
  Audited audited;
  audited.task = task.name;
  audited.workload = task.workloads[0].name;
  audited.findings = found_by_trial(task, graph, seed, threads);
  const auto constant = std::count_if(audited.findings.begin(), audited.findings.end(), [](const Finding& f) { return f.kind == Kind::kConstant; });
  if (static_cast<size_t>(constant) == task.outputs.size()) return audited;
  append(audited.findings, collapses(task, graph));
  append(audited.findings, tiny_values(whole));
  return audited;
}

}  // namespace hone::face::audit
