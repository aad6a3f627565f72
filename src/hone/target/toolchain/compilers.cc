#include "hone/target/toolchain/compilers.h"

#include <cstdlib>
#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include "hone/base/process/process.h"

namespace hone::target {
namespace {

namespace fs = std::filesystem;

/// The first line that `program OPTIONS` prints; nothing when it does not run.
std::optional<std::string> answer_of(const std::string& program, std::vector<std::string> options) {
  base::SpawnOptions spawn;
  spawn.argv = std::move(options);
  spawn.argv.insert(spawn.argv.begin(), program);
  const char* path = std::getenv("PATH");
  spawn.environment = {{"PATH", path ? path : "/usr/bin:/bin"}, {"LANG", "C"}};
  const auto exit = base::run(spawn, std::chrono::seconds(10));
  if (!exit || !exit->ok()) return std::nullopt;
  return exit->out.substr(0, exit->out.find('\n'));
}

}  // namespace

std::optional<Compiler> find_compiler(const std::string& program) {
  const auto version = answer_of(program, {"-dumpfullversion", "-dumpversion"});
  if (!version) return std::nullopt;
  const auto words = answer_of(program, {"--version"});
  const bool clang = words && words->find("clang") != std::string::npos;
  return Compiler{program, fs::path(program).filename().string() + " " + *version, clang ? "clang" : "g++"};
}

std::optional<Compiler> find_clang() {
  for (int version = kNewestClang; version >= kOldestClang; --version)
    if (auto found = find_compiler(fmt::format("clang++-{}", version))) return found;
  return find_compiler("clang++");
}

}  // namespace hone::target
