// The tasks of test/cases/plain/, for tests of the plain kernels.
#pragma once
#include <algorithm>
#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

namespace hone::pattern::testing {

struct TaskFile {
  std::string name;
  std::filesystem::path path;
};
inline void PrintTo(const TaskFile& file, std::ostream* out) { *out << file.name; }

inline std::vector<TaskFile> plain_cases() {
  std::vector<TaskFile> files;
  for (const auto& entry : std::filesystem::directory_iterator(HONE_SOURCE_DIR "/test/cases/plain"))
    files.push_back({entry.path().stem().string(), entry.path()});
  std::sort(files.begin(), files.end(), [](const TaskFile& a, const TaskFile& b) { return a.name < b.name; });
  return files;
}

}  // namespace hone::pattern::testing
