#include "hone/target/device/cpu_launch.h"

#include <cstdlib>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

#include "hone/target/device/cpu_plan.h"
#include "hone/target/worker/program.h"
#include "hone/target/worker/walk_protocol.h"

namespace hone::target {
namespace {

/// Address space of a tool beside the tensors (bytes): its own code, tables and symbols.
constexpr int64_t kToolBytes = int64_t{6} << 30;

}  // namespace

Result<base::Exit> walk_under(const std::vector<std::string>& tool, const Build& build, const kernel::BoundPlan& plan,
                              std::span<const LaunchTensor> tensors, int calls, const std::filesystem::path& folder,
                              std::chrono::seconds deadline) {
  HONE_CHECK(!tool.empty(), "somebody watches");
  auto job = std::make_unique<worker::WalkJob>();
  HONE_TRY_VOID(fill_cpu_plan(job->control, plan, static_cast<int>(tensors.size())));
  job->control.calls = static_cast<uint32_t>(calls);
  int64_t bytes = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const std::string contents = tensors[i].contents.string();
    if (contents.size() >= worker::kMaxWalkPath) return fail(ErrorCode::kInput, fmt::format("the path {} is too long", contents));
    std::strcpy(job->contents[i], contents.c_str());
    job->control.tensor_bytes[i] = tensors[i].bytes;
    bytes += tensors[i].bytes;
  }
  for (uint32_t i = 0; i < job->control.workspaces; ++i) bytes += job->control.workspace[i].bytes;
  const std::filesystem::path file = folder / "job";
  std::ofstream out(file, std::ios::binary);
  out.write(reinterpret_cast<const char*>(job.get()), sizeof *job);
  out.close();
  if (!out) return fail(ErrorCode::kExhausted, fmt::format("{} cannot be written", file.string()));

  HONE_TRY(const std::filesystem::path program, worker_program("hone-walk"));
  base::SpawnOptions spawn;
  spawn.argv = tool;
  spawn.argv.insert(spawn.argv.end(), {program.string(), file.string(), build.artifact.string()});
  const char* path = std::getenv("PATH");
  spawn.environment = {{"PATH", path ? path : "/usr/bin:/bin"}, {"LANG", "C"}, {"HOME", folder.string()}, {"TMPDIR", folder.string()}};
  spawn.directory = folder;
  base::Jail jail;
  jail.readable = {program, build.artifact};
  jail.writable = {folder};
  jail.memory_bytes = bytes + kToolBytes;
  jail.cpu_seconds = static_cast<int>(deadline.count()) + 5;
  spawn.jail = jail;
  return base::run(spawn, deadline);
}

}  // namespace hone::target
