#include "hone/target/toolchain/sanitized_runner.h"

#include <algorithm>
#include <map>
#include <mutex>

#include <fmt/format.h>

#include "hone/base/embedded.h"
#include "hone/base/file.h"
#include "hone/base/hash.h"
#include "hone/base/process/process.h"
#include "hone/target/toolchain/build_cache.h"
#include "hone/target/toolchain/compiler_run.h"

namespace hone::target {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSources = "runner/";
constexpr std::chrono::seconds kSanitizedBuildDeadline{120};
/// What a runner without arguments exits with.
constexpr int kUsage = 2;
/// Attributes and functions that switch the sanitizers off, or ask for them.
constexpr std::string_view kOff[] = {"no_sanitize", "no_address_safety_analysis", "__asan_", "__ubsan_",
                                     "__lsan_",     "__sanitizer_",               "disable_sanitizer_instrumentation"};

/// By these a source knows that it is built with sanitizers.
constexpr std::string_view kSanitizerMarks[] = {"__SANITIZE_", "address_sanitizer", "undefined_behavior_sanitizer"};

/// A program with the sanitizers' run-time may compile and still not start in a jail.
Status try_out(const fs::path& program) {
  base::SpawnOptions spawn;
  spawn.argv = {program.string()};
  spawn.environment = {{"LANG", "C"}, {"ASAN_OPTIONS", "detect_leaks=0"}};
  base::Jail jail;
  jail.readable = {program};
  jail.calls = base::Jail::Calls::kRunner;
  spawn.jail = jail;
  HONE_TRY(const base::Exit exit, base::run(spawn, std::chrono::seconds(60)));
  if (exit.how == base::Exit::How::kExited && exit.status == kUsage) return {};
  return fail(ErrorCode::kUnavailable,
              fmt::format("a program with sanitizers does not run in the jail: {}", exit.describe()), exit.err.substr(0, 400));
}

Result<fs::path> build_runner(const std::string& compiler, const std::string& name) {
  std::vector<std::string> argv = {compiler, "-std=c++20", "-O1", "-pthread", "-DHONE_SANITIZED_RUNNER", "-I."};
  for (const std::string_view flag : kSanitizerFlags) argv.emplace_back(flag);
  const auto sources = base::list_embedded(kSources);
  HONE_CHECK(!sources.empty(), "the runner's sources are built in");
  base::Hasher hasher;
  hasher.add(name);
  for (const std::string& argument : argv) hasher.add(argument);
  for (const auto source : sources) hasher.add(source).add(*base::find_embedded(source));
  const fs::path file = base::cache_directory() / "bin" / ("hone-runner-sanitized-" + base::short_hash(hasher.finish()));
  if (fs::exists(file)) return file;
  HONE_TRY(const base::ScratchDirectory scratch, base::ScratchDirectory::create("runner"));
  for (const auto source : sources) {
    const fs::path copy = scratch.path() / source.substr(kSources.size());
    HONE_TRY_VOID(base::make_directories(copy.parent_path()));
    HONE_TRY_VOID(base::write_file_atomic(copy, *base::find_embedded(source)));
  }
  argv.insert(argv.end(), {"-o", "runner", "hone/target/worker/runner_main.cc", "-ldl"});
  HONE_TRY(const CompilerRun run, run_compiler(argv, scratch.path(), scratch.path(), kSanitizedBuildDeadline));
  if (!run.ok)
    return fail(ErrorCode::kUnavailable,
                fmt::format("{} does not build with sanitizers: {}", name, run.late ? "it took too long" : first_error(run.log)));
  HONE_TRY(const std::string image, base::read_file(scratch.path() / "runner"));
  HONE_TRY_VOID(base::make_directories(file.parent_path()));
  HONE_TRY_VOID(base::write_file_once(file, image, 0755));
  return file;
}

/// Adjacent literals as one: a name may be spelled in pieces.
std::string join_literals(std::string_view text) {
  std::string joined;
  joined.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') {
      const size_t next = text.find_first_not_of(" \t\n", i + 1);
      if (next != std::string_view::npos && text[next] == '"') {
        i = next;
        continue;
      }
    }
    joined += text[i];
  }
  return joined;
}

/// unit.cc after its preprocessor.
Result<std::string> preprocess(std::vector<std::string> argv, const fs::path& folder, const fs::path& headers,
                               std::chrono::seconds deadline) {
  argv.insert(argv.end(), {"-E", "-P", "-o", "unit.ii", "unit.cc"});
  HONE_TRY(const CompilerRun run, run_compiler(argv, folder, headers, deadline));
  if (!run.ok) return std::string("does not preprocess");
  return base::read_file(folder / "unit.ii");
}

}  // namespace

Result<fs::path> sanitized_runner(const std::string& compiler, const std::string& name) {
  static std::mutex mutex;
  static std::map<std::string, Result<fs::path>> known;
  const std::scoped_lock lock(mutex);
  if (const auto it = known.find(name); it != known.end()) return it->second;
  Result<fs::path> made = build_runner(compiler, name);
  if (made)
    if (const Status runs = try_out(*made); !runs) made = tl::unexpected(runs.error());
  return known.emplace(name, std::move(made)).first->second;
}

Result<std::string> find_evasion(const std::vector<std::string>& argv, const fs::path& folder, const fs::path& headers,
                                 std::chrono::seconds deadline) {
  HONE_TRY(std::string source, base::read_file(folder / "unit.cc"));
  for (size_t at; (at = source.find("\\\n")) != std::string::npos;) source.erase(at, 2);
  for (const std::string_view name : kSanitizerMarks)
    if (source.find(name) != std::string::npos) return fmt::format("its source names {}, by which a build knows its sanitizers", name);
  HONE_TRY(std::string watched, preprocess(argv, folder, headers, deadline));
  std::vector<std::string> plain = argv;
  std::erase_if(plain, [](const std::string& argument) {
    return std::find(std::begin(kSanitizerFlags), std::end(kSanitizerFlags), argument) != std::end(kSanitizerFlags);
  });
  HONE_TRY(const std::string unwatched, preprocess(plain, folder, headers, deadline));
  if (watched != unwatched) return std::string("its source reads differently when it is built with sanitizers");
  watched = join_literals(watched);
  for (const std::string_view name : kOff)
    if (watched.find(name) != std::string::npos) return fmt::format("its source names {}, which belongs to the sanitizers", name);
  return std::string();
}

}  // namespace hone::target
