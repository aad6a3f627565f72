// hone audit: each task of a suite, looked at before anybody writes a kernel for it.
#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hone/base/json.h"
#include "hone/face/audit/audit.h"
#include "hone/face/bench/suite.h"
#include "hone/face/cli/context.h"
#include "hone/face/cli/live_line.h"
#include "hone/target/cpu.h"

namespace hone::face {
namespace {

/// A task of the suite as it stands there, or why it cannot be read.
struct ToAudit {
  std::string name, file;
  Result<task::Task> task;
};

Result<std::vector<ToAudit>> audited_suite(const AuditArguments& arguments) {
  std::vector<ToAudit> all;
  if (!arguments.drawn.empty()) {
    HONE_TRY(const bench::DrawnSuite drawn, bench::drawn_suite(arguments.drawn, arguments.mix, arguments.only));
    for (const auto& one : drawn.tasks) all.push_back({one.name, "", task::parse_task(one.toml, one.name)});
    return all;
  }
  HONE_TRY(const auto files, bench::suite_files(arguments.suite, arguments.only));
  for (const auto& file : files) all.push_back({file.stem().string(), file.string(), task::load_task(file)});
  return all;
}

Result<audit::Audited> audit_one(const ToAudit& one, const AuditArguments& arguments) {
  HONE_TRY(const task::Task read, one.task);
  HONE_TRY(task::Task whole, task::select_track(read, arguments.task.track));
  HONE_TRY(task::Task task, arguments.task.workloads.empty() ? audit::cheapest_workload(whole) : task::select_workloads(whole, arguments.task.workloads));
  HONE_TRY_VOID(check_fits(task, one.file));
  return audit::audit_task(task, whole, arguments.seed, target::cpu_info().threads);
}

}  // namespace

Result<int> audit_suite(const AuditArguments& arguments) {
  if (arguments.suite.empty() == arguments.drawn.empty())
    return fail(ErrorCode::kUsage, "a suite is to be given: folders, task files or --drawn SEED:N", "for example hone audit tasks/kernelbench/level2");
  if (arguments.task.workloads.size() > 1) return fail(ErrorCode::kUsage, "one workload is audited at a time", "give -w once");
  HONE_TRY(const std::vector<ToAudit> suite, audited_suite(arguments));
  watch_interrupts();
  std::vector<audit::Audited> all;
  LiveLine line;
  for (const ToAudit& one : suite) {
    if (interrupted()) return fail(ErrorCode::kInterrupted, fmt::format("interrupted after {} of {} tasks", all.size(), suite.size()));
    if (line.terminal()) line.renew(fmt::format("{} of {}: {}", all.size() + 1, suite.size(), one.name));
    auto audited = audit_one(one, arguments);
    if (!audited && audited.error().code == ErrorCode::kUsage) return tl::unexpected(audited.error());
    if (!audited) audited = audit::Audited{one.name, "", "", audited.error().to_string(), {}};
    audited->file = one.file;
    all.push_back(*std::move(audited));
  }
  line.end();
  fmt::print(arguments.json ? stderr : stdout, "{}", audit::text_of(all));
  if (arguments.json) fmt::print("{}\n", base::canonical_json(audit::to_json(all)));
  const bool clean = std::all_of(all.begin(), all.end(), [](const audit::Audited& a) { return a.error.empty() && a.findings.empty(); });
  return clean ? 0 : 1;
}

}  // namespace hone::face
