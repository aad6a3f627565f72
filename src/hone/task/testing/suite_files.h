// The task files of the suites under tasks/, for tests of every room.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/task/task.h"

namespace hone::task {

/// By folder under tasks/.
inline constexpr std::string_view kSuites[] = {"kernelbench/level1", "kernelbench/level2", "inference"};

/// For names of tests: "kernelbench_level1".
inline std::string suite_name(std::string_view suite) {
  std::string name(suite);
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
}

/// Sorted by name; a folder that is missing or empty fails the test that asks.
inline std::vector<std::filesystem::path> suite_files(std::string_view suite) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(HONE_SOURCE_DIR "/tasks") / suite, error))
    if (entry.path().extension() == ".toml") files.push_back(entry.path());
  EXPECT_FALSE(files.empty()) << suite << ": " << error.message();
  std::sort(files.begin(), files.end());
  return files;
}

/// Every workload of the file; one that does not parse fails the test that asks.
inline std::optional<Task> suite_task(const std::filesystem::path& file) {
  auto task = load_task(file);
  EXPECT_TRUE(task.has_value()) << (task ? "" : task.error().to_string());
  if (!task) return std::nullopt;
  return std::move(*task);
}

/// Null where there is none of that name.
inline const Workload* find_workload(const Task& task, std::string_view name) {
  const auto found = std::find_if(task.workloads.begin(), task.workloads.end(),
                                  [&](const Workload& workload) { return workload.name == name; });
  return found == task.workloads.end() ? nullptr : &*found;
}

}  // namespace hone::task
