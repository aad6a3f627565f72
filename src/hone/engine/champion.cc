#include "hone/engine/champion.h"

#include <algorithm>
#include <ctime>

#include <fmt/format.h>

#include "hone/base/version.h"

namespace hone::engine {

std::string day_of(int64_t unix_ms) {
  const std::time_t seconds = unix_ms / 1000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", &parts);
  return text;
}

std::string champion_text(const kernel::Kernel& kernel, const task::Task& task, const Place& place, const std::string& day) {
  kernel::Verified verified;
  verified.task = task.name;
  verified.task_hash = task.hash();
  verified.target = place.target;
  verified.device = place.device;
  verified.toolchain = place.toolchain;
  for (const auto& workload : task.workloads) verified.shapes.push_back(task::bindings_text(workload.bindings));
  verified.date = day;
  verified.hone = base::kVersion;
  return kernel::with_verified(kernel::with_config(kernel, kernel.config), verified);
}

std::vector<std::string> not_as_verified(const kernel::Kernel& kernel, const task::Task& task, const Place& here) {
  std::vector<std::string> differences;
  if (!kernel.header.verified) return differences;
  const kernel::Verified& there = *kernel.header.verified;
  const auto hold = [&](const char* what, const std::string& said, const std::string& is) {
    if (said != is) differences.push_back(fmt::format("{}: {}, here {}", what, said, is));
  };
  hold("target", there.target, here.target);
  hold("device", there.device, here.device);
  hold("toolchain", there.toolchain, here.toolchain);
  if (there.task_hash != task.hash()) {
    differences.push_back(there.task == task.name ? fmt::format("task: another {}", there.task)
                                                  : fmt::format("task: {}, here {}", there.task, task.name));
    return differences;
  }
  for (const auto& workload : task.workloads) {
    const std::string shape = task::bindings_text(workload.bindings);
    if (std::find(there.shapes.begin(), there.shapes.end(), shape) == there.shapes.end())
      differences.push_back(fmt::format("shape: {} is not among those verified", shape));
  }
  return differences;
}

}  // namespace hone::engine
