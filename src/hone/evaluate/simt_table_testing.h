// The table of small GPU kernels (test/simt): a file a kernel, with the task that it is for and the verdict it must get.
//   // task: y = 2 * x | x=f32[N] | N=1000
//   // expect: accepted            or: launch fails: a race on shared memory
//                                  or: wrong or less accurate   (which, the secret inputs decide)
// HONE_SIMT_ONLY=name leaves those whose file has the name in it; HONE_SIMT_TABLE is the table's folder on a machine
// where it lies elsewhere than where this was built.
#pragma once
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/file.h"
#include "hone/task/task.h"

namespace hone::evaluate {

struct SimtCase {
  std::string name, source;
  std::string verdict, words;  ///< expected; words that the reason must have in it

  [[nodiscard]] bool expects(std::string_view found_verdict) const {
    const size_t either = verdict.find(" or ");
    return found_verdict == verdict.substr(0, either) || (either != std::string::npos && found_verdict == verdict.substr(either + 4));
  }
  /// What follows `mark` on its line of the source; empty where there is none.
  [[nodiscard]] std::string after(const std::string& mark) const {
    const size_t at = source.find(mark);
    if (at == std::string::npos) return {};
    return source.substr(at + mark.size(), source.find('\n', at) - at - mark.size());
  }
  /// From the line "// task: EXPRESSION | INPUTS | WORKLOADS".
  [[nodiscard]] Result<task::Task> task() const {
    std::string parts[3];
    std::stringstream in(after("// task: "));
    for (std::string& part : parts) std::getline(in, part, '|');
    const auto split = [](const std::string& text) {
      std::vector<std::string> all;
      std::stringstream of(text);
      for (std::string word; of >> word;) all.push_back(word);
      return all;
    };
    return task::task_from_expressions(parts[0], split(parts[1]), split(parts[2]));
  }
};

/// Sorted by name.
inline std::vector<SimtCase> simt_table() {
  const char* const only = std::getenv("HONE_SIMT_ONLY");
  const char* const elsewhere = std::getenv("HONE_SIMT_TABLE");
  std::vector<SimtCase> all;
  for (const auto& entry : std::filesystem::directory_iterator(elsewhere ? elsewhere : HONE_SOURCE_DIR "/test/simt")) {
    if (entry.path().extension() != ".cu" && entry.path().extension() != ".hip") continue;
    SimtCase c;
    c.name = entry.path().filename().string();
    if (only && c.name.find(only) == std::string::npos) continue;
    c.source = base::read_file(entry.path()).value();
    const std::string expect = c.after("// expect: ");
    const size_t colon = expect.find(": ");
    c.verdict = expect.substr(0, colon);
    if (colon != std::string::npos) c.words = expect.substr(colon + 2);
    all.push_back(std::move(c));
  }
  std::sort(all.begin(), all.end(), [](const SimtCase& a, const SimtCase& b) { return a.name < b.name; });
  return all;
}

}  // namespace hone::evaluate
