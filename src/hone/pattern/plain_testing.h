// Task files for tests of the plain kernels: those of test/cases/plain/, and the suites under tasks/.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "hone/base/testing/covering.h"
#include "hone/evaluate/verifier.h"
#include "hone/task/task.h"

namespace hone::pattern::plain_testing {

struct TaskFile {
  std::string name;  ///< letters, digits and _
  std::filesystem::path path;
};
inline void PrintTo(const TaskFile& file, std::ostream* out) { *out << file.name; }

/// Every task file under a folder of the source tree, sorted by name.
inline std::vector<TaskFile> task_files(const std::string& folder) {
  std::vector<TaskFile> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(HONE_SOURCE_DIR "/" + folder)) {
    if (entry.path().extension() != ".toml") continue;
    std::string name = entry.path().stem().string();
    for (char& c : name)
      if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
    files.push_back({name, entry.path()});
  }
  std::sort(files.begin(), files.end(), [](const TaskFile& a, const TaskFile& b) { return a.name < b.name; });
  return files;
}

/// The task with the workload of this name alone; with all of them if the name is empty.
inline Result<task::Task> task_at(const TaskFile& file, const std::string& workload) {
  HONE_TRY(task::Task task, task::load_task(file.path));
  if (!workload.empty()) std::erase_if(task.workloads, [&](const task::Workload& w) { return w.name != workload; });
  if (task.workloads.empty()) return fail(ErrorCode::kInput, "there is no workload " + workload);
  return task;
}

/// The kernel is right, by the checks that every candidate gets: in `make check` of screening, in `make check-long` with the hidden shapes of a promotion.
inline void expect_accepted(const task::Task& task, const kernel::Kernel& kernel, const std::string& optimisation) {
  evaluate::VerifierOptions options;
  options.optimisation = optimisation;
  options.thorough = base::testing::in_long_part();
  const auto verifier = evaluate::Verifier::create(task, target::cpp_toolchain().value(), options);
  ASSERT_TRUE(verifier) << verifier.error().to_string();
  const auto verdict = (*verifier)->verify(kernel);
  ASSERT_TRUE(verdict) << verdict.error().to_string();
  EXPECT_TRUE(verdict->accepted()) << evaluate::name_of(verdict->kind) << ": " << verdict->reason << "\n"
                                   << verdict->detail << kernel.source;
}

}  // namespace hone::pattern::plain_testing
