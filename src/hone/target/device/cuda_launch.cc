#include "hone/target/device/cuda_launch.h"

#include <unistd.h>

#include <cstring>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "hone/target/device/cuda_session.h"
#include "hone/target/worker/cuda_protocol.h"
#include "hone/target/worker/program.h"

namespace hone::target {
namespace {

constexpr size_t kMostOutput = size_t{32} << 20;

Status write_job(const CardInfo& card, const LaunchJob& job, bool poison, const std::filesystem::path& file) {
  if (const std::string why = refuse_plan(card, job.plan, job.build.facts); !why.empty()) return fail(ErrorCode::kInput, why);
  auto written = std::make_unique<worker::CudaJob>();
  worker::CudaControl& control = written->control;
  HONE_TRY_VOID(fill_plan(control, job.build, job.plan, static_cast<int>(job.tensors.size()), {}));
  control.card = card.ordinal;
  control.regions = static_cast<uint32_t>(job.tensors.size());
  for (size_t i = 0; i < job.tensors.size(); ++i) {
    const std::string contents = job.tensors[i].contents.string();
    if (contents.size() >= worker::kMaxPath) return fail(ErrorCode::kInput, fmt::format("the path {} is too long", contents));
    control.region[i] = {job.tensors[i].bytes, contents.empty(), 0};
    std::strcpy(written->contents[i], contents.c_str());
  }
  written->poison = poison;
  HONE_TRY(const std::string image, base::read_file(job.build.artifact));
  control.image_bytes = static_cast<int64_t>(image.size());
  std::ofstream out(file, std::ios::binary);
  out.write(reinterpret_cast<const char*>(written.get()), sizeof *written).write(image.data(), static_cast<std::streamsize>(image.size()));
  out.flush();
  if (!out) return fail(ErrorCode::kExhausted, fmt::format("{} cannot be written", file.string()));
  return {};
}

}  // namespace

Result<Launched> launch_under(const CardInfo& card, const std::vector<std::string>& tool, std::span<const LaunchJob> jobs, bool poison,
                              std::chrono::seconds deadline) {
  HONE_CHECK(!tool.empty() && !jobs.empty(), "somebody watches something");
  HONE_TRY(const base::ScratchDirectory scratch, base::ScratchDirectory::create("launch"));
  HONE_TRY(const std::filesystem::path program, worker_program("hone-cuda"));
  const std::filesystem::path answer = scratch.path() / "answer";
  base::SpawnOptions spawn;
  spawn.argv = tool;
  spawn.argv.insert(spawn.argv.end(), {program.string(), "launch", answer.string()});
  for (size_t i = 0; i < jobs.size(); ++i) {
    const std::filesystem::path file = scratch.path() / fmt::format("job{}", i);
    HONE_TRY_VOID(write_job(card, jobs[i], poison, file));
    spawn.argv.push_back(file.string());
  }
  spawn.environment = {{"LANG", "C"}, {"HOME", scratch.path().string()}, {"TMPDIR", scratch.path().string()}};
  for (const char* name : {"PATH", "HONE_CUDA_DRIVER", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"})
    if (const char* value = std::getenv(name)) spawn.environment[name] = value;
  spawn.directory = scratch.path();
  spawn.output_limit = kMostOutput;
  Launched launched;
  HONE_TRY(launched.exit, base::run(spawn, deadline));
  std::ifstream lines(answer);
  for (std::string line; std::getline(lines, line) && launched.problems.size() < jobs.size();) launched.problems.push_back(line == "done" ? "" : line);
  launched.problems.resize(jobs.size(), "it was not launched: " + launched.exit.describe());
  return launched;
}

Result<std::filesystem::path> find_card_tool(const std::string& name, const char* variable) {
  const auto runs = [](const std::filesystem::path& file) { return ::access(file.c_str(), X_OK) == 0; };
  if (const char* given = std::getenv(variable); given && *given) {
    if (std::string_view(given) != "none" && runs(given)) return std::filesystem::absolute(given);
    return fail(ErrorCode::kUnavailable, fmt::format("{} is switched off or wrong: {}", variable, given));
  }
  const char* const path = std::getenv("PATH");
  std::stringstream folders(std::string(path ? path : "/usr/bin:/bin") + ":/usr/local/cuda/bin");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (const std::filesystem::path file = std::filesystem::path(folder) / name; !folder.empty() && runs(file)) return file;
  return fail(ErrorCode::kUnavailable, fmt::format("there is no {}", name), "it comes with NVIDIA's CUDA toolkit");
}

}  // namespace hone::target
