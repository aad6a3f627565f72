#include "hone/evaluate/card_sanitize.h"

#include <algorithm>
#include <future>
#include <regex>

#include <fmt/format.h>

#include "hone/base/file.h"
#include "hone/base/random.h"
#include "hone/base/trace.h"
#include "hone/evaluate/launch_case.h"
#include "hone/evaluate/measure/batch.h"
#include "hone/target/toolchain/cubin.h"
#include "hone/target/toolchain/cuda_tools.h"

namespace hone::evaluate {
namespace {

constexpr std::string_view kRaces = "racecheck";
constexpr std::string_view kTools[] = {"memcheck", "synccheck", kRaces};
/// Of a tool on all shapes; a context under it takes a second or two.
constexpr std::chrono::seconds kDeadline{60};
constexpr int kFound = 77;
/// A call of the driver that failed: of the launching program, no fault of the kernel.
constexpr std::string_view kFailedCall = "Program hit ";

/// Of a line of the report: what is longer names something absurd, and the library's expressions recurse at every character.
constexpr size_t kLongestWord = 1000;

/// A line of the report without its mark; empty for one that has none.
std::string_view body_of(std::string_view line) {
  constexpr std::string_view kMark = "========= ";
  return line.starts_with(kMark) ? line.substr(kMark.size()) : std::string_view();
}

bool begins_a_finding(std::string_view body) {
  for (const std::string_view word : {"Invalid __", "Error: Race", "Uninitialized __", "Barrier error detected", "Misaligned", "Memory error", "Stack overflow"})
    if (body.starts_with(word)) return true;
  return false;
}

Result<std::vector<target::LaunchJob>> jobs_for(const kernel::Kernel& kernel, std::span<const task::Bindings> shapes, Loader& loader,
                                                const std::filesystem::path& folder) {
  std::vector<target::LaunchJob> jobs;
  for (const task::Bindings& bindings : shapes) {
    HONE_TRY(const target::BuildOutcome built, loader.build(kernel, bindings));
    const auto* const build = std::get_if<target::Build>(&built);
    // What does not build or bind at a shape was judged there before.
    if (!build) continue;
    const auto plan = target::plan_of(kernel, *build, loader.task(), bindings, loader.limits_for(kernel));
    if (!plan) continue;
    auto tensors = write_tensors(loader.task(), bindings, Family::kNormal, base::secret_seed(), folder, fmt::format("{}", jobs.size()));
    if (!tensors && tensors.error().code == ErrorCode::kInput) continue;
    if (!tensors) return tl::unexpected(tensors.error());
    jobs.push_back({*build, *plan, std::move(*tensors)});
  }
  return jobs;
}

/// Whether a kernel among them has barriers with phases (mbarrier).
Result<bool> has_phases(const std::vector<target::LaunchJob>& jobs) {
  for (const target::LaunchJob& job : jobs) {
    HONE_TRY(const target::CubinFacts facts, target::read_cubin(job.build.artifact));
    if (facts.phase_barriers) return true;
  }
  return false;
}

}  // namespace

CardFinding first_card_finding(std::string_view report) {
  CardFinding found;
  for (size_t begin = 0; begin < report.size();) {
    const size_t end = std::min(report.find('\n', begin), report.size());
    const std::string_view body = body_of(report.substr(begin, std::min(end - begin, kLongestWord)));
    begin = end + 1;
    if (found.text.empty()) {
      if (begins_a_finding(body)) found.text = body;
      continue;
    }
    // The lines that say more are indented.
    if (!body.starts_with("    ")) break;
    const std::string_view more = body.substr(body.find_first_not_of(' '));
    if (more.starts_with("at ") || more.starts_with("and Read") || more.starts_with("and Write")) found.text += fmt::format(" {}", more);
    if (more.starts_with("by thread ")) found.text += fmt::format(", {}", more.substr(3));
    if (more.starts_with("Access ")) {
      found.outside |= more.find("out of bounds") != std::string_view::npos;
      found.text += more.find("misaligned") != std::string_view::npos ? ", misaligned" : ", out of bounds";
    }
  }
  found.text = std::regex_replace(found.text, std::regex("\\+0x[0-9a-f]+"), "");
  return found;
}

Result<Sanitized> sanitize_on_card(const kernel::Kernel& kernel, std::span<const task::Bindings> shapes, Loader& loader, Spent& spent) {
  Sanitized result;
  const auto program = target::find_card_tool("compute-sanitizer", "HONE_COMPUTE_SANITIZER");
  if (!program) {
    result.unavailable = program.error().message;
    return result;
  }
  const Stopwatch watch(spent.sanitize);
  const base::Span span("compute-sanitizer");
  HONE_TRY(const base::ScratchDirectory folder, base::ScratchDirectory::create("sanitize"));
  HONE_TRY(const auto jobs, jobs_for(kernel, shapes, loader, folder.path()));
  if (jobs.empty()) {
    result.unavailable = "its requirements admit no small shape";
    return result;
  }
  // Each in a process of its own, side by side: what they watch is small, and most of their time is starting.
  std::vector<std::future<Result<target::Launched>>> under;
  for (const std::string_view tool : kTools)
    under.push_back(std::async(std::launch::async, [&, tool] {
      const std::vector<std::string> command = {program->string(), "--tool", std::string(tool), "--error-exitcode", std::to_string(kFound), "--print-limit", "10"};
      return target::launch_under(loader.card()->info(), command, jobs, true, kDeadline);
    }));
  for (size_t t = 0; t < under.size(); ++t) {
    const std::string_view tool = kTools[t];
    HONE_TRY(const target::Launched launched, under[t].get());
    const CardFinding found = first_card_finding(launched.exit.out + "\n" + launched.exit.err);
    if (!found.text.empty() && tool == kRaces) {
      HONE_TRY(const bool phases, has_phases(jobs));
      if (phases) {
        // It takes what such barriers order for races where waves of one block do different things: correct pipelines of
        // others are named, too (flash-attention, AI/RACECHECK_TMA_HAZARD.md). The emulator follows them.
        result.unavailable = fmt::format("racecheck does not follow barriers with phases, which this kernel has; it named: {}", found.text);
        break;
      }
    }
    if (!found.text.empty()) {
      result.verdict.kind = found.outside ? VerdictKind::kOutOfBounds : VerdictKind::kLaunchFails;
      result.verdict.reason = fmt::format("compute-sanitizer ({}): {}", tool, found.text);
      result.verdict.detail = launched.exit.out.substr(0, 4000);
      return result;
    }
    if (!launched.exit.ok()) {
      result.unavailable = fmt::format("compute-sanitizer's {} {}", tool, launched.exit.describe());
      const auto problem = std::find_if(launched.problems.begin(), launched.problems.end(), [](const std::string& p) { return !p.empty(); });
      if (problem != launched.problems.end()) result.unavailable += ": " + *problem;
      else if (const std::string_view said = base::line_from(launched.exit.out, kFailedCall); !said.empty())
        result.unavailable += fmt::format(": {}", said);
      return result;
    }
  }
  result.shapes = static_cast<int>(jobs.size());
  return result;
}

}  // namespace hone::evaluate
