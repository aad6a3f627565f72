// Mutants of task files, for tests that the reader survives anything. A mutant is a function of the files
// and its number alone, so a failure can be looked at again.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/file.h"
#include "hone/base/testing/mutator.h"
#include "hone/task/graph/op_table.h"
#include "hone/task/testing/promise.h"

namespace hone::task {

/// The texts of all task files of the repository, sorted by path.
inline std::vector<std::string> task_texts() {
  std::vector<std::filesystem::path> paths;
  for (const char* folder : {"/examples", "/tasks"})
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(std::string(HONE_SOURCE_DIR) + folder))
      if (entry.path().extension() == ".toml") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> texts;
  for (const auto& path : paths) {
    auto text = base::read_file(path);
    EXPECT_TRUE(text.has_value()) << path;
    if (text) texts.push_back(std::move(*text));
  }
  return texts;
}

/// Of all task files of the repository.
class TaskMutator : public base::testing::Mutator {
 public:
  explicit TaskMutator(std::vector<std::string> texts) : Mutator(std::move(texts), words(), "compute") {}

  /// A sound task file around a mutant of its computation or of an input's type: what gets past TOML.
  std::string inner_mutant(uint64_t number) {
    begin(2 * number + 1);
    while (true) {
      const auto task = parse_task(any_text(), "task.toml");
      if (!task) continue;
      std::string compute = task->compute;
      const bool types = below(4) == 0;
      if (!types)
        for (size_t changes = 1 + below(3); changes > 0; --changes) change(compute);
      std::string text = "name = \"t\"\ncompute = '''\n" + without(compute, "'") + "'''\nworkloads = [\n  { ";
      for (const auto& [symbol, value] : task->workloads.back().bindings)
        text += symbol + " = " + std::to_string(below(8) == 0 ? below(3) : static_cast<size_t>(value)) + ", ";
      text += "weight = 1 }\n]\n[inputs]\n";
      for (const InputSpec& input : task->inputs) {
        std::string type = input.type.to_string();
        if (types && below(2) == 0) change(type);
        text += input.name + " = '" + without(type, "'\n\r\t") + "'\n";
      }
      return text;
    }
  }

 private:
  static std::vector<std::string> words() {
    std::vector<std::string> all = all_op_names();
    for (std::string& word : base::testing::common_words()) all.push_back(std::move(word));
    for (const char* word : {"\"\"\"", "'''", "f16", "i8", "bool", "bf16[", "B", "D", "B * D", "B // (D - 1)", "x", "y = ", "axis=", "axis=-1", "keepdims=true",
                             "dtype=", "index(", "domain = \"simplex\"", "structure = \"triu\"", "workloads", "inputs", "ceil_div(", "min(", "[None]", ".T",
                             ".shape", "1, ", "[[workloads]]"})
      all.emplace_back(word);
    return all;
  }
  static std::string without(std::string text, std::string_view characters) {
    std::erase_if(text, [&](char c) {
      const auto byte = static_cast<unsigned char>(c);
      return characters.find(c) != std::string_view::npos || byte >= 0x7f || (byte < 0x20 && c != '\n');
    });
    return text;
  }
};

}  // namespace hone::task
