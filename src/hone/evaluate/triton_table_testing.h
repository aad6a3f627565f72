// The table of small Triton kernels (test/triton): a file a kernel, with the task that it is for and the verdict it must get.
//   # task: y = 2 * x | x=f32[1000] |              symbols behind the bar; "| nan" behind them: NaN belongs to the contract;
//                                                  an input "i=i32[8]:index(4)" holds whole numbers from 0 to 3
//   # expect: accepted          or: out of bounds: words of the reason;   wrong or less accurate
// Shapes are numbers, so each kernel is built once: what Triton made of it is kept in test/triton/ttir.json.gz, and the
// interpreter is tested where there is no Triton.
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

struct TritonCase {
  std::string name, source;
  std::string verdict, words;  ///< expected; words that the reason must have in it
  std::string found;           ///< "accepted", or the verdict and its reason

  [[nodiscard]] bool expects(std::string_view kind) const {
    // Which of the two, the secret inputs decide.
    if (verdict == "wrong" && kind == "less accurate") return true;
    const size_t either = verdict.find(" or ");
    return kind == verdict.substr(0, either) || (either != std::string::npos && kind == verdict.substr(either + 4));
  }
  [[nodiscard]] std::string after(const std::string& mark) const {
    const size_t at = source.find(mark);
    if (at == std::string::npos) return {};
    return source.substr(at + mark.size(), source.find('\n', at) - at - mark.size());
  }
  [[nodiscard]] Result<task::Task> task() const {
    std::string parts[4];
    std::stringstream in(after("# task: "));
    for (std::string& part : parts) std::getline(in, part, '|');
    const auto split = [](const std::string& text) {
      std::vector<std::string> all;
      std::stringstream of(text);
      for (std::string word; of >> word;) all.push_back(word);
      return all;
    };
    // "i=i32[N]:index(V)": whole numbers from 0 to V - 1.
    std::vector<std::string> inputs = split(parts[1]), bounds(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i)
      if (const size_t at = inputs[i].find(":index("); at != std::string::npos) {
        bounds[i] = inputs[i].substr(at + 7, inputs[i].size() - at - 8);
        inputs[i].resize(at);
      }
    auto made = task::task_from_expressions(parts[0], inputs, split(parts[2]));
    if (!made) return made;
    for (size_t i = 0; i < inputs.size(); ++i)
      if (!bounds[i].empty()) {
        HONE_TRY(made->inputs[i].index_bound, task::IntExpr::parse(bounds[i]));
        made->inputs[i].domain = task::Domain::kIndex;
      }
    made->nan_policy = parts[3] == " nan";
    return made;
  }
};

/// The table, or the ordinary kernels ("ordinary"), which say only grid and arguments. Sorted by name. HONE_TRITON_ONLY=name leaves those whose file has the name in it.
inline std::vector<TritonCase> triton_table(const std::string& folder = "") {
  const char* const only = std::getenv("HONE_TRITON_ONLY");
  std::vector<TritonCase> all;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(HONE_SOURCE_DIR "/test/triton/") + folder)) {
    if (entry.path().extension() != ".py") continue;
    TritonCase c;
    c.name = entry.path().filename().string();
    if (only && c.name.find(only) == std::string::npos) continue;
    c.source = base::read_file(entry.path()).value();
    const std::string expect = c.after("# expect: ");
    const size_t colon = expect.find(": ");
    c.verdict = expect.substr(0, colon);
    if (colon != std::string::npos) c.words = expect.substr(colon + 2);
    all.push_back(std::move(c));
  }
  std::sort(all.begin(), all.end(), [](const TritonCase& a, const TritonCase& b) { return a.name < b.name; });
  return all;
}

}  // namespace hone::evaluate
