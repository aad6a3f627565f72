#include "hone/face/bench/suite.h"

#include <fnmatch.h>

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/base/file.h"

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

bool matches(const std::string& name, const std::string& only) {
  if (only.find_first_of("*?[") == std::string::npos) return name.find(only) != std::string::npos;
  return ::fnmatch(only.c_str(), name.c_str(), 0) == 0;
}

Error nothing_matches(size_t tasks, const std::string& only, const std::string& first) {
  return {ErrorCode::kInput, fmt::format("none of the {} tasks has a name that matches \"{}\"", tasks, only),
          fmt::format("a part of a name, or a pattern such as '*softmax*'; the first task is {}", first)};
}

Result<task::drawn::Mix> mix_of(const std::string& file) {
  if (file.empty()) return task::drawn::builtin_mix();
  HONE_TRY(const std::string text, base::read_file(file));
  return task::drawn::parse_mix(text, file);
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
  std::copy_if(all.begin(), all.end(), std::back_inserter(kept), [&](const fs::path& file) { return matches(file.stem().string(), only); });
  if (!kept.empty() || all.empty()) return kept;
  return tl::unexpected(nothing_matches(all.size(), only, all.front().stem().string()));
}

Result<DrawnSuite> drawn_suite(const std::string& wanted, const std::string& mix_file, const std::string& only) {
  HONE_TRY(const task::drawn::Wanted which, task::drawn::parse_wanted(wanted));
  HONE_TRY(const task::drawn::Mix mix, mix_of(mix_file));
  DrawnSuite suite;
  suite.says = fmt::format("{}:{} of the mix {}, version {} ({})", which.seed, which.count, mix.name, mix.version, mix.hash());
  suite.tasks = task::drawn::draw_tasks(mix, which);
  const std::string first = suite.tasks.front().name;
  if (!only.empty()) std::erase_if(suite.tasks, [&](const task::drawn::DrawnTask& task) { return !matches(task.name, only); });
  if (suite.tasks.empty()) return tl::unexpected(nothing_matches(static_cast<size_t>(which.count), only, first));
  return suite;
}

}  // namespace hone::face::bench
