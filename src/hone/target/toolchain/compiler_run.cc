#include "hone/target/toolchain/compiler_run.h"

#include <cstdlib>

#include "hone/base/process/process.h"

namespace hone::target {

Result<CompilerRun> run_compiler(const std::vector<std::string>& argv, const std::filesystem::path& folder,
                                 const std::filesystem::path& headers, std::chrono::seconds deadline,
                                 const ToolNeeds& needs) {
  base::SpawnOptions spawn;
  spawn.argv = argv;
  const char* path = std::getenv("PATH");
  spawn.environment = {{"PATH", path ? path : "/usr/bin:/bin"}, {"LANG", "C"}, {"TMPDIR", folder.string()}};
  spawn.directory = folder;
  spawn.output_limit = needs.output_limit;
  base::Jail jail;
  jail.readable = {headers};
  jail.readable.insert(jail.readable.end(), needs.readable.begin(), needs.readable.end());
  jail.writable = {folder};
  jail.memory_bytes = int64_t{4} << 30;
  jail.cpu_seconds = static_cast<int>(deadline.count()) + 5;
  spawn.jail = jail;
  HONE_TRY(base::Exit exit, base::run(spawn, deadline));
  CompilerRun run;
  run.ok = exit.ok();
  run.late = exit.how == base::Exit::How::kDeadline;
  run.log = std::move(exit.err);
  run.out = std::move(exit.out);
  run.wall_ns = exit.wall_ns;
  // Our headers by the names that kernels include them by: where they lie here is nobody's business.
  if (const std::string prefix = headers.string() + "/"; !headers.empty())
    for (size_t at = run.log.find(prefix); at != std::string::npos; at = run.log.find(prefix, at)) run.log.erase(at, prefix.size());
  if (!run.ok && run.log.empty()) run.log = "the compiler " + exit.describe();
  if (!run.ok && run.log.find("No space left on device") != std::string::npos)
    return fail(ErrorCode::kExhausted, "the compiler found no space on the disk", "free some space");
  return run;
}

}  // namespace hone::target
