#include "hone/diagnose/profile/remarks.h"

#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "hone/base/file.h"
#include "hone/target/toolchain/compiler_run.h"

namespace hone::diagnose {

int count_missed_loops(std::string_view remarks) {
  std::set<std::string_view> lines;
  while (!remarks.empty()) {
    const size_t end = std::min(remarks.find('\n'), remarks.size());
    const std::string_view line = remarks.substr(0, end);
    remarks.remove_prefix(std::min(end + 1, remarks.size()));
    const bool missed = line.find("missed: couldn't vectorize loop") != std::string_view::npos ||
                        line.find("remark: loop not vectorized") != std::string_view::npos;
    if (!missed || !line.starts_with("kernel.cc:")) continue;
    lines.insert(line.substr(0, line.find(':', std::string_view("kernel.cc:").size())));
  }
  return static_cast<int>(lines.size());
}

Result<int> missed_loops(const kernel::Kernel& kernel, const task::Bindings& bindings, const target::Build& build) {
  if (kernel.header.language != kernel::Language::kCpp)
    return fail(ErrorCode::kUnavailable, "the compiler of this language makes no remarks");
  HONE_TRY(const auto headers, target::device_headers());
  std::string unit = "#include \"hone/cpu.h\"\n";
  for (const auto& [name, value] : kernel.config) unit += fmt::format("#define {} {}\n", name, value);
  for (const std::string& symbol : kernel.header.specialise)
    if (const auto it = bindings.find(symbol); it != bindings.end()) unit += fmt::format("#define {} INT64_C({})\n", symbol, it->second);
  unit += "#line 1 \"kernel.cc\"\n" + kernel.source + "\n";
  HONE_TRY(const base::ScratchDirectory scratch, base::ScratchDirectory::create("remarks"));
  HONE_TRY_VOID(base::write_file_atomic(scratch.path() / "unit.cc", unit));
  // As the build was made, but for what came of it.
  std::vector<std::string> argv;
  std::stringstream words(build.command);
  for (std::string word; words >> word && word != "-o";)
    if (word != "-shared") argv.push_back(word);
  const bool clang = build.toolchain.find("clang") != std::string::npos;
  if (argv.empty()) return fail(ErrorCode::kUnavailable, "the build does not say how it was made");
  argv.insert(argv.end(), {clang ? "-Rpass-missed=loop-vectorize" : "-fopt-info-vec-missed=remarks.txt", "-c", "-o", "unit.o", "unit.cc"});
  target::ToolNeeds needs;
  needs.output_limit = size_t{4} << 20;
  HONE_TRY(const auto run, target::run_compiler(argv, scratch.path(), headers, std::chrono::seconds(60), needs));
  if (!run.ok) return fail(ErrorCode::kUnavailable, "the compiler makes no remarks");
  if (clang) return count_missed_loops(run.log);
  HONE_TRY(const std::string remarks, base::read_file(scratch.path() / "remarks.txt"));
  return count_missed_loops(remarks);
}

}  // namespace hone::diagnose
