#include "hone/evaluate/check_task.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hone/base/random.h"
#include "hone/base/trace.h"
#include "hone/evaluate/verify/gate.h"
#include "hone/target/cpu.h"

namespace hone::evaluate {

Status check_task(const task::Task& task, const Facts* facts) {
  const base::Span span("test of the task");
  std::string question = fmt::format("no degenerate answer passes: task {}", task.hash());
  for (const task::Workload& workload : task.workloads) question += fmt::format(", {}", task::bindings_text(workload.bindings));
  if (facts && facts->known(question) == nlohmann::json(true)) return {};
  const auto leaks = self_test(task, base::secret_seed(), target::cpu_info().threads);
  if (!leaks.empty())
    return fail(ErrorCode::kInput, "the task would accept a degenerate answer: " + leaks.front(),
                "change the computation or the inputs' domains so that the answer depends on the inputs");
  if (facts) facts->keep(question, true);
  return {};
}

}  // namespace hone::evaluate
