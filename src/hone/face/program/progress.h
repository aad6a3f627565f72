// A program's search on its way: how its budget was shared out, in its folder while it lasts. The same command, given again
// after Ctrl-C or a kill, goes on with it.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "hone/archive/store.h"
#include "hone/base/json.h"
#include "hone/base/result.h"

namespace hone::face {

struct Progress {
  int64_t started_unix_ms = 0;
  std::vector<double> seconds;   ///< by task

  [[nodiscard]] std::optional<archive::RunInfo> run_of(const std::vector<archive::RunInfo>& runs, size_t task, const std::string& task_hash, const std::string& target) const;
};

/// Of a search that was asked the same; none where there is none.
[[nodiscard]] std::optional<Progress> read_progress(const std::filesystem::path& file, const base::Json& asked, size_t tasks);
[[nodiscard]] Status write_progress(const std::filesystem::path& file, const base::Json& asked, const Progress& progress);

}  // namespace hone::face
