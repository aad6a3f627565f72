#include "hone/target/toolchain/trusted.h"

#include <cstdlib>

#include <fmt/format.h>

#include "hone/base/file.h"
#include "hone/base/hash.h"
#include "hone/base/process/process.h"
#include "hone/target/cpu.h"
#include "hone/target/toolchain/build_cache.h"

namespace hone::target {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kTrustedBuildDeadline{120};

std::string compiler() {
  const char* chosen = std::getenv("HONE_CXX");
  return chosen && *chosen ? chosen : "g++";
}

base::SpawnOptions spawn_of(std::vector<std::string> argv) {
  base::SpawnOptions spawn;
  spawn.argv = std::move(argv);
  const char* path = std::getenv("PATH");
  spawn.environment = {{"PATH", path ? path : "/usr/bin:/bin"}, {"LANG", "C"}};
  return spawn;
}

/// What tells one version of a library from the next without reading all of it.
std::string stamp(const fs::path& file) {
  std::error_code error;
  const auto size = fs::file_size(file, error);
  const auto time = fs::last_write_time(file, error).time_since_epoch().count();
  return fmt::format("{} {} {}", file.string(), size, time);
}

}  // namespace

Result<fs::path> find_library(const std::string& name, const std::string& package) {
  const auto missing = [&] {
    return fail(ErrorCode::kUnavailable, fmt::format("there is no {}", name), fmt::format("apt-get install {}", package));
  };
  const auto exit = base::run(spawn_of({compiler(), "-print-file-name=" + name}), std::chrono::seconds(10));
  if (!exit || !exit->ok()) return missing();
  const fs::path found = exit->out.substr(0, exit->out.find('\n'));
  std::error_code error;
  const fs::path real = found.is_absolute() ? fs::canonical(found, error) : fs::path();
  if (real.empty() || error) return missing();
  return real;
}

Result<BuildOutcome> build_with_library(const std::string& source, const fs::path& library) {
  std::vector<std::string> argv = {compiler(), "-std=c++20", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-o", "opponent.so",
                                   "opponent.cc", library.string(), "-Wl,-rpath," + library.parent_path().string()};
  base::Hasher hasher;
  hasher.add("opponent-build-1").add(cpu_info().model).add(source).add(stamp(library));
  for (const std::string& argument : argv) hasher.add(argument);
  const std::string hash = hasher.finish();
  if (auto kept = kept_build(hash, compiler())) return BuildOutcome(std::move(*kept));

  HONE_TRY(const base::ScratchDirectory scratch, base::ScratchDirectory::create("opponent"));
  HONE_TRY_VOID(base::write_file_atomic(scratch.path() / "opponent.cc", source));
  base::SpawnOptions spawn = spawn_of(argv);
  spawn.environment["TMPDIR"] = scratch.path().string();
  spawn.directory = scratch.path();
  spawn.output_limit = 1 << 16;
  base::Jail jail;
  jail.readable = {library};
  jail.writable = {scratch.path()};
  jail.memory_bytes = int64_t{4} << 30;
  spawn.jail = jail;
  HONE_TRY(const base::Exit exit, base::run(spawn, kTrustedBuildDeadline));
  if (!exit.ok()) return BuildOutcome(BuildFailure{exit.err.empty() ? "the compiler " + exit.describe() : first_error(exit.err), exit.err});
  Build build;
  build.hash = hash;
  build.toolchain = compiler();
  build.command = fmt::format("{}", fmt::join(argv, " "));
  build.wall_ns = exit.wall_ns;
  HONE_TRY(build, keep_build(std::move(build), scratch.path() / "opponent.so"));
  return BuildOutcome(std::move(build));
}

}  // namespace hone::target
