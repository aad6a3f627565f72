#include "hone/target/cores.h"

#include <sched.h>

#include <algorithm>
#include <map>
#include <string>

#include <fmt/format.h>

#include "hone/base/file.h"

namespace hone::target {

std::vector<std::vector<int>> cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return {{0}};
  // A core is known by the text that lists its CPUs.
  std::vector<std::vector<int>> all;
  std::map<std::string, size_t> known;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(static_cast<size_t>(cpu), &allowed)) continue;
    const auto siblings = base::read_file(fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu));
    const std::string name = siblings && !siblings->empty() ? *siblings : fmt::format("cpu {}", cpu);
    const auto [at, fresh] = known.emplace(name, all.size());
    if (fresh) all.emplace_back();
    all[at->second].push_back(cpu);
  }
  return all;
}

bool keep_to(std::span<const int> cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(static_cast<size_t>(cpu), &set);
  return sched_setaffinity(0, sizeof set, &set) == 0;
}

}  // namespace hone::target
