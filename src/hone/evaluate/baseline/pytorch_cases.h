// Reads test/cases/pytorch/*.toml for the emitter's and the session's tests. A broken file fails the
// test that reads it.
#pragma once
#include <gtest/gtest.h>

#include <toml++/toml.h>
#include <algorithm>
#include <filesystem>
#include <ranges>
#include <regex>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "hone/task/task.h"

namespace hone::evaluate {

struct PytorchCase {
  std::string where;  ///< "reduction.toml:12"
  std::string compute;
  std::vector<std::string> inputs;  ///< "x=f32[B, D]"
  std::string bindings;             ///< "B=2,D=8"
  std::string forward;              ///< expected body
  std::string refused;              ///< or a part of the error's message

  /// Those that the computation names.
  [[nodiscard]] std::vector<std::string> used_inputs() const {
    std::vector<std::string> used;
    for (const std::string& input : inputs)
      if (names(compute, input.substr(0, input.find('=')))) used.push_back(input);
    return used;
  }

  [[nodiscard]] Result<task::Task> task() const {
    std::string shapes, bound;
    for (const std::string& input : used_inputs()) shapes += input.substr(input.find('[')) + " ";
    for (const auto& part : std::views::split(bindings, ',')) {
      const std::string binding(part.begin(), part.end());
      if (names(shapes, binding.substr(0, binding.find('=')))) bound += (bound.empty() ? "" : ",") + binding;
    }
    return task::task_from_expressions(compute, used_inputs(), {bound});
  }

 private:
  static bool names(const std::string& text, const std::string& name) {
    return std::regex_search(text, std::regex("\\b" + name + "\\b"));
  }
};

/// A file holds `inputs` and `bindings` for all its cases (each takes those it names), and [[case]] tables
/// with compute, and forward or refused; a case may have its own inputs and bindings.
inline std::vector<PytorchCase> load_pytorch_cases() {
  namespace fs = std::filesystem;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(HONE_SOURCE_DIR "/test/cases/pytorch"))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<PytorchCase> cases;
  for (const fs::path& file : files) {
    const toml::parse_result parsed = toml::parse_file(file.string());
    if (!parsed) throw std::runtime_error(file.string() + ": " + std::string(parsed.error().description()));
    const toml::table& table = parsed.table();
    const auto strings = [&](const toml::table& from) {
      const toml::array* list = from["inputs"].as_array();
      if (list == nullptr) list = table["inputs"].as_array();
      std::vector<std::string> result;
      for (const auto& item : *list) result.push_back(item.value_or(std::string()));
      return result;
    };
    for (const auto& item : *table["case"].as_array()) {
      const toml::table& one = *item.as_table();
      PytorchCase& c = cases.emplace_back();
      c.where = file.filename().string() + ":" + std::to_string(one.source().begin.line);
      c.compute = one["compute"].value_or(std::string());
      c.inputs = strings(one);
      c.bindings = one["bindings"].value_or(table["bindings"].value_or(std::string()));
      c.forward = one["forward"].value_or(std::string());
      c.refused = one["refused"].value_or(std::string());
    }
  }
  EXPECT_FALSE(cases.empty());
  return cases;
}

}  // namespace hone::evaluate
