// hone diagnose-files: many kernels, each with its own task, diagnosed from counters alone.
#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hone/base/json.h"
#include "hone/diagnose/profile/card.h"
#include "hone/face/cli/context.h"
#include "hone/face/cli/text.h"

namespace hone::face {

using nlohmann::json;

Result<int> diagnose_files(const KernelArguments& arguments) {
  HONE_TRY(const std::shared_ptr<engine::Workbench> bench, engine::Workbench::open(arguments.target));
  if (!bench->target().card()) return fail(ErrorCode::kUsage, fmt::format("{} is no card: counters are a card's", arguments.target), "--target cuda:0");
  std::vector<task::Task> tasks;
  tasks.reserve(arguments.kernels.size());
  std::vector<diagnose::CardCase> cases;
  for (const std::string& file : arguments.kernels) {
    HONE_TRY(kernel::Kernel kernel, kernel_of(file, nullptr));
    HONE_TRY_VOID(bench->takes(kernel));
    TaskArguments given;
    given.file = std::filesystem::path(file).replace_extension(".toml").string();
    given.workloads = arguments.task.workloads;
    HONE_TRY(task::Task task, task_of(given));
    tasks.push_back(std::move(task));
    cases.push_back({std::move(kernel), &tasks.back(), tasks.back().workloads.front().bindings});
  }
  diagnose::CardCounters counters(bench->target().card()->info(), bench->toolchain());
  HONE_TRY(const std::vector<diagnose::Metrics> metrics, diagnose::profile_counted(counters, cases));
  Table table({"kernel", "bottleneck", "first action", "predicted", ""});
  for (size_t i = 0; i < cases.size(); ++i) {
    const diagnose::Diagnosis found = diagnose::diagnose(metrics[i], {cases[i].kernel.header, cases[i].kernel.config, bench->limits()});
    const bool acts = !found.actions.empty();
    table.add({arguments.kernels[i], found.bottleneck, acts ? found.actions.front().to_string() : "-",
               acts ? fmt::format("{:.2f}x", found.actions.front().gain) : "-", found.says});
    if (arguments.json)
      fmt::print("{}\n", base::canonical_json(json{{"file", arguments.kernels[i]},
                                                   {"kernel", cases[i].kernel.hash()},
                                                   {"metrics", diagnose::to_json(metrics[i])},
                                                   {"diagnosis", diagnose::to_json(found)}}));
  }
  fmt::print(arguments.json ? stderr : stdout, "{}", table.to_string());
  return 0;
}

}  // namespace hone::face
