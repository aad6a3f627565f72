#include "hone/target/device/emulation.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/base/process/process.h"
#include "hone/kernel/grid_limits.h"

namespace hone::target {
namespace {

constexpr int64_t kMostBlockThreads = 1024, kMostBlockZ = 64;
/// A fiber's stack in the sanitized build, the larger one (runtime/state.h).
constexpr int64_t kStackBytes = 256 << 10;
/// Of memory that the emulator keeps a shadow of: cell, time of release, valid bytes for each four (runtime/state.h).
constexpr int64_t kShadowPerByte = 10;
/// Address space only: pages come when they are touched.
constexpr int64_t kMostArena = int64_t{48} << 30;

int64_t product(const std::vector<int64_t>& extents) {
  int64_t all = 1;
  for (const int64_t extent : extents) all *= extent;
  return all;
}

/// Blocks of a launch that the device holds at a time.
int64_t resident_blocks(const SimtDevice& device, const kernel::BoundLaunch& launch, int64_t static_bytes) {
  const int64_t threads = (product(launch.block) + device.wave - 1) / device.wave * device.wave;
  const int64_t shared = std::max<int64_t>(launch.shared + static_bytes, 1);
  const int64_t per_sm = std::min<int64_t>({device.blocks_per_sm, device.threads_per_sm / threads, device.shared_per_sm / shared});
  return std::max<int64_t>(1, per_sm) * device.sms;
}

/// $HONE_SIMT_SEED, a number; 0 without it.
uint64_t schedule_seed() {
  const char* const text = std::getenv("HONE_SIMT_SEED");
  return text ? std::strtoull(text, nullptr, 10) : 0;
}

/// "kernel.cu:17" of an offset in the shared object; empty where that is not known. Debug information of a
/// candidate's build is read in a jail.
std::string place_of(uint64_t pc, const std::filesystem::path& artifact) {
  if (pc == 0) return {};
  base::SpawnOptions spawn;
  spawn.argv = {"addr2line", "-i", "-e", artifact.string(), fmt::format("{:#x}", pc - 1)};
  spawn.environment = {{"PATH", "/usr/bin:/bin"}, {"LANG", "C"}};
  spawn.output_limit = 1 << 14;
  base::Jail jail;
  jail.readable = {artifact};
  jail.memory_bytes = int64_t{1} << 30;
  jail.cpu_seconds = 10;
  spawn.jail = jail;
  const auto exit = base::run(spawn, std::chrono::seconds(10));
  if (!exit || !exit->ok()) return {};
  std::istringstream lines(exit->out);
  for (std::string line; std::getline(lines, line);) {
    if (line.find(":?") != std::string::npos) continue;  // several places made one by the compiler
    if (const size_t at = line.rfind("kernel.cu:"); at != std::string::npos) return line.substr(at, line.find(' ', at) - at);
    if (const size_t at = line.rfind("kernel.hip:"); at != std::string::npos) return line.substr(at, line.find(' ', at) - at);
  }
  return {};
}

}  // namespace

int64_t static_shared(const std::map<std::string, double>& facts, const std::string& function) {
  const auto it = facts.find("static_shared_bytes/" + function);
  return it == facts.end() ? 0 : static_cast<int64_t>(it->second);
}

std::string refuse_launches(const SimtDevice& device, const kernel::BoundPlan& plan, const std::map<std::string, double>& facts) {
  for (const kernel::BoundLaunch& launch : plan.launches) {
    if (product(launch.block) > kMostBlockThreads || (launch.block.size() > 2 && launch.block[2] > kMostBlockZ))
      return fmt::format("{} asks for blocks of {} threads; {} are the most, {} in z", launch.function,
                         fmt::join(launch.block, " x "), kMostBlockThreads, kMostBlockZ);
    for (size_t d = 0; d < launch.grid.size(); ++d)
      if (launch.grid[d] > kernel::kMostGrid[d])
        return fmt::format("{} asks for a grid of {}; the most are {}", launch.function, fmt::join(launch.grid, " x "), fmt::join(kernel::kMostGrid, ", "));
    const int64_t fixed = static_shared(facts, launch.function);
    if (fixed > device.static_max)
      return fmt::format("{} declares {} bytes of __shared__ variables; {} are the most on {}", launch.function, fixed, device.static_max,
                         device.model);
    if (launch.shared + fixed > device.shared_max)
      return fmt::format("{} asks for {} bytes of shared memory, {} of them static; a block has {} on {}", launch.function,
                         launch.shared + fixed, fixed, device.shared_max, device.model);
  }
  return {};
}

void prepare_emulation(const SimtDevice& device, const kernel::BoundPlan& plan, const std::map<std::string, double>& facts,
                       std::span<const int64_t> tensor_bytes, worker::Control& control) {
  int64_t shadowed = 4 * device.shared_max, most = 0;
  for (const int64_t bytes : tensor_bytes) shadowed += bytes;
  for (uint32_t i = 0; i < control.workspaces; ++i) shadowed += control.workspace[i].bytes;
  for (size_t i = 0; i < plan.launches.size(); ++i) {
    const kernel::BoundLaunch& launch = plan.launches[i];
    const int64_t fixed = static_shared(facts, launch.function);
    worker::Launch& to = control.launch[i];
    const int64_t together = product(launch.cluster);
    for (size_t d = 0; d < 3; ++d) to.cluster[d] = d < launch.cluster.size() ? launch.cluster[d] : 1;
    to.resident = std::min(resident_blocks(device, launch, fixed) / together * together, product(launch.grid));
    to.together = std::min(to.resident, simt::kWindow * together);
    const int64_t threads = product(launch.block);
    const int64_t block = threads * (kStackBytes + 256) + (threads / device.wave + 1) * 4096 +
                          (together > 1 ? 3 + kShadowPerByte : 3) * device.shared_max + (1 << 16);
    most = std::max(most, to.resident * block);
  }
  control.emulated = 1;
  control.seed = schedule_seed();
  control.arena_bytes = std::min(shadowed * kShadowPerByte + most + (64 << 20), kMostArena);
}

void describe_finding(const simt::Report& shared, const std::filesystem::path& artifact, const std::vector<std::string>& names,
                      BatchOutcome& outcome) {
  simt::Report report;
  std::memcpy(&report, &shared, sizeof report);
  if (report.finding == simt::Finding::kNone || report.finding > simt::Finding::kEmulator) return;
  report.text[sizeof report.text - 1] = 0;
  std::string text = report.text;
  // Text of a candidate's process: printable, and names instead of numbers.
  std::replace_if(text.begin(), text.end(), [](unsigned char c) { return c < 32 || c > 126; }, '?');
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string number = fmt::format("(buffer {})", i);
    if (const size_t at = text.find(number); at != std::string::npos) text.replace(at, number.size(), fmt::format("({})", names[i]));
  }
  // A program of Triton's has no threads that anybody could name; a kernel that is refused before it runs has no program either.
  if (report.thread[0] < 0) {
    const std::string program = report.block[0] < 0 ? "" : fmt::format("program ({}, {}, {}): ", report.block[0], report.block[1], report.block[2]);
    outcome.finding = fmt::format("{}{}{}", report.line > 0 ? fmt::format("kernel.py:{}, ", report.line) : "", program, text);
    outcome.why = outcome.finding;
    outcome.outside = report.finding == simt::Finding::kOutOfBounds;
    return;
  }
  std::string place = place_of(report.pc, artifact);
  if (place.empty() && report.line > 0) place = fmt::format("line {}", report.line);
  if (const std::string other = place_of(report.other_pc, artifact); !other.empty()) text += fmt::format(" (there: {})", other);
  if (const uint64_t seed = schedule_seed(); seed != 0) text += fmt::format(" (schedule seed {})", seed);
  outcome.finding = fmt::format("{}block ({}, {}, {}), thread ({}, {}, {}): {}", place.empty() ? "" : place + ", ", report.block[0],
                                report.block[1], report.block[2], report.thread[0], report.thread[1], report.thread[2], text);
  outcome.why = outcome.finding;
  outcome.outside = report.finding == simt::Finding::kOutOfBounds;
}

}  // namespace hone::target
