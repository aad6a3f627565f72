#include "hone/face/bench/suite.h"

#include <fnmatch.h>

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hone::face::bench {
namespace {

namespace fs = std::filesystem;

Result<std::vector<fs::path>> files_of(const fs::path& folder) {
  std::vector<fs::path> files, folders;
  std::error_code error;
  fs::directory_iterator it(folder, error);
  for (; !error && it != fs::directory_iterator(); it.increment(error)) {
    std::error_code ignored;
    if (it->is_directory(ignored)) folders.push_back(it->path());
    else if (it->path().extension() == ".toml") files.push_back(it->path());
  }
  if (error) return fail(ErrorCode::kInput, fmt::format("cannot read the folder {}: {}", folder.string(), error.message()));
  if (!files.empty()) return files;
  std::sort(folders.begin(), folders.end());
  std::string hint = "a suite is a folder with one file a task, such as tasks/kernelbench/level1, or a list of task files";
  if (!folders.empty()) hint = fmt::format("its folders are looked into one at a time, for example {}", folders.front().string());
  return fail(ErrorCode::kInput, fmt::format("{} holds no task files (*.toml)", folder.string()), hint);
}

bool matches(const fs::path& file, const std::string& only) {
  const std::string name = file.stem().string();
  if (only.find_first_of("*?[") == std::string::npos) return name.find(only) != std::string::npos;
  return ::fnmatch(only.c_str(), name.c_str(), 0) == 0;
}

}  // namespace

Result<std::vector<fs::path>> suite_files(const std::vector<std::string>& suite, const std::string& only) {
  std::vector<fs::path> all;
  for (const std::string& name : suite) {
    std::error_code ignored;
    const fs::path path = fs::absolute(name, ignored).lexically_normal();
    const fs::file_status status = fs::status(path, ignored);
    if (!fs::exists(status)) return fail(ErrorCode::kNotFound, fmt::format("there is no folder or task file {}", name));
    if (!fs::is_directory(status)) {
      all.push_back(path);
      continue;
    }
    HONE_TRY(const std::vector<fs::path> files, files_of(path));
    all.insert(all.end(), files.begin(), files.end());
  }
  const auto key = [](const fs::path& p) { return std::pair(p.filename().string(), p.string()); };
  std::sort(all.begin(), all.end(), [&](const fs::path& a, const fs::path& b) { return key(a) < key(b); });
  all.erase(std::unique(all.begin(), all.end()), all.end());
  if (only.empty()) return all;
  std::vector<fs::path> kept;
  std::copy_if(all.begin(), all.end(), std::back_inserter(kept), [&](const fs::path& file) { return matches(file, only); });
  if (!kept.empty() || all.empty()) return kept;
  return fail(ErrorCode::kInput, fmt::format("none of the {} tasks has a name that matches \"{}\"", all.size(), only),
              fmt::format("a part of a name, or a pattern such as '*softmax*'; the first task is {}", all.front().stem().string()));
}

}  // namespace hone::face::bench
