#include "hone/target/gpu/launch.h"

#include <cstring>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "hone/target/gpu/protocol.h"
#include "hone/target/gpu/session.h"
#include "hone/target/gpu/worker.h"

namespace hone::target {
namespace {

constexpr size_t kMostOutput = size_t{32} << 20;
/// For a process to find its driver and make a context.
constexpr std::chrono::seconds kStart{20};

struct Manner {
  bool poison = true;
  int rounds = 0;
  int64_t slack = 0;
  std::chrono::seconds each{0};
};

Status write_job(const CardInfo& card, const LaunchJob& job, const std::string& given, const Manner& manner, const std::filesystem::path& file) {
  if (const std::string why = refuse_plan(card, job.plan, job.build.facts); !why.empty()) return fail(ErrorCode::kInput, why);
  auto written = std::make_unique<worker::GpuJob>();
  worker::GpuControl& control = written->control;
  HONE_TRY_VOID(fill_plan(control, job.build, job.plan, static_cast<int>(job.tensors.size()), {}));
  control.card = card.ordinal;
  control.regions = static_cast<uint32_t>(job.tensors.size());
  for (size_t i = 0; i < job.tensors.size(); ++i) {
    const std::string contents = job.tensors[i].contents.string();
    if (contents.size() >= worker::kMaxPath) return fail(ErrorCode::kInput, fmt::format("the path {} is too long", contents));
    control.region[i] = {job.tensors[i].bytes, contents.empty(), 0};
    std::strcpy(written->contents[i], contents.c_str());
  }
  written->poison = manner.poison;
  written->rounds = static_cast<uint32_t>(manner.rounds);
  written->slack = manner.slack;
  written->seconds = static_cast<uint32_t>(manner.each.count());
  // The process makes room for it when it starts, whichever job comes first.
  if (manner.each.count() > 0) control.flush_bytes = flush_bytes(card);
  std::string image = given;
  if (image.empty()) {
    HONE_TRY(image, base::read_file(job.build.artifact));
  }
  control.image_bytes = static_cast<int64_t>(image.size());
  written->counts = image.find(worker::kCountsName) != std::string::npos;
  std::ofstream out(file, std::ios::binary);
  out.write(reinterpret_cast<const char*>(written.get()), sizeof *written).write(image.data(), static_cast<std::streamsize>(image.size()));
  out.flush();
  if (!out) return fail(ErrorCode::kExhausted, fmt::format("{} cannot be written", file.string()));
  return {};
}

/// What a process that launches the jobs in `files` is started with; it leaves a line for each in `answer`.
Result<base::SpawnOptions> launcher(const CardInfo& card, const std::vector<std::string>& tool, const base::ScratchDirectory& scratch,
                                    const std::filesystem::path& answer, std::span<const std::filesystem::path> files) {
  HONE_TRY(const std::vector<std::string> worker, worker_command(card));
  base::SpawnOptions spawn;
  spawn.argv = tool;
  spawn.argv.insert(spawn.argv.end(), worker.begin(), worker.end());
  spawn.argv.insert(spawn.argv.end(), {"launch", answer.string()});
  for (const std::filesystem::path& file : files) spawn.argv.push_back(file.string());
  spawn.environment = driver_environment(card);
  spawn.environment["HOME"] = spawn.environment["TMPDIR"] = scratch.path().string();
  if (const char* const path = std::getenv("PATH")) spawn.environment["PATH"] = path;
  spawn.directory = scratch.path();
  spawn.output_limit = kMostOutput;
  return spawn;
}

std::vector<std::string> lines_of(const std::filesystem::path& answer) {
  std::ifstream in(answer);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(std::move(line));
  return lines;
}

constexpr std::string_view kRan = "done ";

TimedPlan timed_of(const std::string& line) {
  TimedPlan plan;
  if (!line.starts_with(kRan)) {
    plan.problem = line;
    return plan;
  }
  std::istringstream words(line.substr(kRan.size()));
  words >> plan.ns;
  for (uint64_t count = 0; words >> count;) plan.counts.push_back(count);
  return plan;
}

}  // namespace

Result<Launched> launch_under(const CardInfo& card, const std::vector<std::string>& tool, std::span<const LaunchJob> jobs, bool poison,
                              std::chrono::seconds deadline) {
  HONE_CHECK(!tool.empty() && !jobs.empty(), "somebody watches something");
  HONE_TRY(const base::ScratchDirectory scratch, base::ScratchDirectory::create("launch"));
  std::vector<std::filesystem::path> files;
  for (size_t i = 0; i < jobs.size(); ++i) {
    files.push_back(scratch.path() / fmt::format("job{}", i));
    HONE_TRY_VOID(write_job(card, jobs[i], {}, {.poison = poison}, files.back()));
  }
  const std::filesystem::path answer = scratch.path() / "answer";
  HONE_TRY(const base::SpawnOptions spawn, launcher(card, tool, scratch, answer, files));
  Launched launched;
  HONE_TRY(launched.exit, base::run(spawn, deadline));
  for (const std::string& line : lines_of(answer)) launched.problems.push_back(line.starts_with(kRan) ? "" : line);
  launched.problems.resize(jobs.size(), "it was not launched: " + launched.exit.describe());
  return launched;
}

Result<std::vector<TimedPlan>> time_plans(const CardInfo& card, std::span<const TimedJob> jobs, int64_t slack, std::chrono::seconds each) {
  HONE_TRY(const base::ScratchDirectory scratch, base::ScratchDirectory::create("launch"));
  std::vector<std::filesystem::path> files;
  for (size_t i = 0; i < jobs.size(); ++i) {
    files.push_back(scratch.path() / fmt::format("job{}", i));
    HONE_TRY_VOID(write_job(card, jobs[i].job, jobs[i].image, {.rounds = jobs[i].rounds, .slack = slack, .each = each}, files.back()));
  }
  std::vector<TimedPlan> all;
  while (all.size() < jobs.size()) {
    const auto rest = std::span(files).subspan(all.size());
    const std::filesystem::path answer = scratch.path() / fmt::format("answer{}", all.size());
    HONE_TRY(base::SpawnOptions spawn, launcher(card, {}, scratch, answer, rest));
    HONE_TRY(const base::Exit exit, base::run(spawn, kStart + static_cast<int>(rest.size() + 1) * each));
    std::vector<std::string> lines = lines_of(answer);
    lines.resize(std::min(lines.size(), rest.size()));
    for (const std::string& line : lines) all.push_back(timed_of(line));
    // It ended before its last job was done: what it was at is that job's own affair, and the ones behind go on without it. A
    // fault has been told already.
    if (lines.size() < rest.size() && (lines.empty() || lines.back().starts_with(kRan))) all.push_back({.problem = "it does not finish: " + exit.describe()});
  }
  return all;
}

}  // namespace hone::target
