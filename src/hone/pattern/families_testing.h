// The tasks of test/cases/pattern/ for tests of the patterns.
#pragma once
#include <gtest/gtest.h>
#include <toml++/toml.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "hone/base/testing/covering.h"
#include "hone/task/task.h"

namespace hone::pattern::families_testing {

struct Case {
  std::string name, compute;
  std::vector<std::string> inputs;
  std::vector<std::string> patterns;      ///< that must cover it on a CPU
  std::vector<std::string> gpu;           ///< on a GPU
  std::vector<std::string> cuda;          ///< on NVIDIA's alone
  std::vector<std::string> tilelang;      ///< in TileLang
  std::map<std::string, std::string> indices;   ///< inputs that hold numbers below a bound
};

inline void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

inline std::vector<std::string> strings(const toml::array* array) {
  std::vector<std::string> all;
  if (array)
    for (const toml::node& node : *array) all.push_back(node.value_or(std::string()));
  return all;
}

inline std::vector<Case> cases() {
  std::vector<Case> all;
  std::set<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(HONE_SOURCE_DIR "/test/cases/pattern")) paths.insert(entry.path());
  for (const std::filesystem::path& path : paths) {
    const auto file = toml::parse_file(path.string());
    if (!file) {
      ADD_FAILURE() << path << ": " << file.error().description();
      continue;
    }
    for (const toml::node& node : *file.table()["case"].as_array()) {
      const toml::table& table = *node.as_table();
      std::map<std::string, std::string> indices;
      if (const toml::table* bounds = table["indices"].as_table())
        for (const auto& [name, bound] : *bounds) indices[std::string(name.str())] = bound.value_or(std::string());
      all.push_back({table["name"].value_or(std::string()), table["compute"].value_or(std::string()), strings(table["inputs"].as_array()),
                     strings(table["patterns"].as_array()), strings(table["gpu"].as_array()),
                     strings(table["cuda"].as_array()), strings(table["tilelang"].as_array()), std::move(indices)});
    }
  }
  return all;
}

/// Who takes the table, and what `make check` shows there: CPUs and GPUs their own patterns, CPUs the types and dimensions of inputs too,
/// Triton the operations.
enum class By : uint8_t { kCpu, kGpu, kTriton };

inline std::set<std::string> shown_by(const Case& c, By by) {
  if (by == By::kTriton) return base::testing::names_applied(c.compute);
  std::set<std::string> all;
  if (by == By::kGpu) {
    for (const std::string& pattern : c.gpu) all.insert("on a GPU: " + pattern);
    for (const std::string& pattern : c.cuda) all.insert("on NVIDIA's: " + pattern);
    return all;
  }
  for (const std::string& pattern : c.patterns) all.insert("on a CPU: " + pattern);
  for (const std::string& input : c.inputs) {
    all.merge(base::testing::names_applied(input));
    all.insert(fmt::format("{} dimensions", 1 + std::count(input.begin(), input.end(), ',')));
  }
  return all;
}

/// What `make check` takes: cases that together show all that any case shows.
inline std::vector<Case> covering_cases(By by) {
  return base::testing::part_of(cases(), true, [by](const Case& c) { return shown_by(c, by); });
}

struct Extents {
  const char *D, *B, *A, *N;
};

/// The case with a workload for each of `sizes`.
inline Result<task::Task> task_of(const Case& c, const std::vector<Extents>& sizes) {
  std::vector<std::string> workloads;
  for (const Extents& size : sizes) {
    std::string text;
    const auto bind = [&](char symbol, const char* extent) {
      const bool used = std::any_of(c.inputs.begin(), c.inputs.end(), [&](const std::string& input) {
        return input.find(symbol, input.find('[')) != std::string::npos;
      });
      if (used) text += fmt::format("{}{}={}", text.empty() ? "" : ",", symbol, extent);
    };
    bind('D', size.D);
    bind('B', size.B);
    bind('A', size.A);
    bind('N', size.N);
    if (!text.empty()) workloads.push_back(text);
  }
  HONE_TRY(task::Task task, task::task_from_expressions(c.compute, c.inputs, workloads));
  for (task::InputSpec& input : task.inputs)
    if (const auto bound = c.indices.find(input.name); bound != c.indices.end()) {
      input.domain = task::Domain::kIndex;
      input.index_bound = task::IntExpr::parse(bound->second).value();
    }
  return task;
}

inline std::string test_name(const Case& c) {
  std::string name = c.name;
  for (char& letter : name)
    if (!std::isalnum(static_cast<unsigned char>(letter))) letter = '_';
  return name;
}

}  // namespace hone::pattern::families_testing
