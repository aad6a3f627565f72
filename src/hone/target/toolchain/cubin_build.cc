#include "hone/target/toolchain/cubin_build.h"

#include <optional>

#include <fmt/format.h>

#include "hone/target/toolchain/compiler_run.h"

namespace hone::target {

void add_cubin_facts(const CubinFacts& cubin, const std::map<std::string, const GpuEntry*>& plan, const std::map<std::string, PtxasFacts>& words, Build& build) {
  build.facts["writable_global_bytes"] = static_cast<double>(cubin.global_bytes);
  for (const auto& [function, entry] : plan) {
    build.symbols[function] = entry->symbol;
    const auto put = [&, &of = function](const std::string& fact, std::optional<int64_t> value) {
      if (value) build.facts[fact + "/" + of] = static_cast<double>(*value);
    };
    int64_t parameters = 0;
    for (const int64_t bytes : entry->parameters) parameters += bytes;
    put("constant_bytes", parameters + cubin.constant_bytes);
    for (const auto& [fact, value] : entry->facts) put(fact, value);
    put("max_threads", most_threads(*entry));
    if (const auto it = words.find(entry->symbol); it != words.end()) {
      put("spill_bytes", it->second.spill_bytes);
      put("static_shared_bytes", it->second.shared_bytes);
    }
  }
}

Status add_sass_mix(const Disassembler& disassembler, const std::filesystem::path& folder, const std::string& cubin, std::chrono::seconds deadline, Build& build) {
  std::vector<std::string> argv = disassembler.options;
  argv.insert(argv.begin(), disassembler.program.string());
  argv.push_back(cubin);
  constexpr size_t kMost = size_t{64} << 20;
  ToolNeeds needs{{}, kMost};
  const std::filesystem::path home = disassembler.program.parent_path();
  if (!home.empty()) needs.readable.push_back(home);
  HONE_TRY(const CompilerRun run, run_compiler(argv, folder, folder, deadline, needs));
  if (!run.ok || run.out.size() >= kMost) return {};
  const auto mixes = read_sass(run.out);
  for (const auto& [function, symbol] : build.symbols)
    if (const auto it = mixes.find(symbol); it != mixes.end())
      for (const auto& [what, count] : it->second) build.facts[fmt::format("mix/{}/{}", function, what)] = static_cast<double>(count);
  return {};
}

}  // namespace hone::target
