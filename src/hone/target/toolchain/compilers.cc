#include "hone/target/toolchain/compilers.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "hone/base/process/process.h"

namespace hone::target {
namespace {

namespace fs = std::filesystem;

/// What `program OPTIONS` prints; nothing when it does not run.
std::optional<std::string> output_of(const std::string& program, std::vector<std::string> options) {
  base::SpawnOptions spawn;
  spawn.argv = std::move(options);
  spawn.argv.insert(spawn.argv.begin(), program);
  const char* path = std::getenv("PATH");
  spawn.environment = {{"PATH", path ? path : "/usr/bin:/bin"}, {"LANG", "C"}};
  const auto exit = base::run(spawn, std::chrono::seconds(10));
  if (!exit || !exit->ok()) return std::nullopt;
  return exit->out;
}

std::optional<std::string> answer_of(const std::string& program, std::vector<std::string> options) {
  auto out = output_of(program, std::move(options));
  if (out) out->resize(std::min(out->size(), out->find('\n')));
  return out;
}

}  // namespace

std::vector<std::string> contraction_flags(const Compiler& compiler) {
  if (compiler.family != "clang") return {"-ffp-contract=fast"};
  return {"-Xclang", "-ffp-contract=fast-honor-pragmas"};  // its driver takes the word in new versions only
}

std::vector<std::string> scheduling_flags(const Compiler& compiler) {
  if (compiler.family == "clang") return {};
  return {"-fschedule-insns", "-fsched-pressure"};
}

std::optional<Compiler> find_compiler(const std::string& program) {
  const auto version = answer_of(program, {"-dumpfullversion", "-dumpversion"});
  if (!version) return std::nullopt;
  const auto words = answer_of(program, {"--version"});
  const bool clang = words && words->find("clang") != std::string::npos;
  return Compiler{program, fs::path(program).filename().string() + " " + *version, clang ? "clang" : "g++"};
}

std::vector<std::string> native_extensions(const std::string& program) {
  std::vector<std::string> all;
  const auto macros = output_of(program, {"-march=native", "-dM", "-E", "-x", "c++", "/dev/null"});
  if (!macros) return all;
  constexpr std::string_view kDefine = "#define __", kOn = "__ 1";
  for (size_t at = 0; at < macros->size();) {
    const size_t end = std::min(macros->find('\n', at), macros->size());
    std::string_view line(macros->data() + at, end - at);
    at = end + 1;
    if (!line.starts_with(kDefine) || !line.ends_with(kOn)) continue;
    line.remove_prefix(kDefine.size());
    line.remove_suffix(kOn.size());
    for (const std::string_view family : {"AVX", "FMA", "F16C", "BMI", "AMX", "SSE4", "GFNI", "POPCNT", "LZCNT"})
      if (line.starts_with(family)) all.emplace_back(line);
  }
  std::sort(all.begin(), all.end());
  return all;
}

std::optional<Compiler> find_clang() {
  for (int version = kNewestClang; version >= kOldestClang; --version)
    if (auto found = find_compiler(fmt::format("clang++-{}", version))) return found;
  return find_compiler("clang++");
}

}  // namespace hone::target
