#include "hone/face/cli/cases.h"

#include <set>

#include <fmt/format.h>

#include "hone/evaluate/stage.h"
#include "hone/kernel/build_case.h"
#include "hone/kernel/language.h"

namespace hone::face {

std::vector<task::Bindings> shapes_of_cases(const kernel::Kernel& kernel, const task::Task& task) {
  constexpr uint64_t kDraws = 64;
  std::set<std::string> cases;
  std::vector<task::Bindings> all;
  const auto add = [&](const task::Bindings& shape) {
    std::string name = kernel::case_name(kernel, task, shape);
    for (const std::string& symbol : kernel.header.specialise)
      if (const auto it = shape.find(symbol); it != shape.end()) name += fmt::format("/{}={}", symbol, it->second);
    if (cases.insert(std::move(name)).second) all.push_back(shape);
  };
  for (const task::Workload& workload : task.workloads) add(workload.bindings);
  const bool for_shapes = kernel::row_of(kernel.header.language).threads == kernel::Threads::kCompiled || !kernel.header.specialise.empty();
  for (uint64_t seed = 0; seed < kDraws && !for_shapes; ++seed)
    for (const task::Bindings& shape : evaluate::hidden_shapes(task, seed)) add(shape);
  return all;
}

}  // namespace hone::face
