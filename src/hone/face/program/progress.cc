#include "hone/face/program/progress.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "hone/base/file.h"
#include "hone/engine/run.h"

namespace hone::face {

using base::Json;

std::optional<archive::RunInfo> Progress::run_of(const std::vector<archive::RunInfo>& runs, size_t task, const std::string& task_hash, const std::string& target) const {
  const auto it = std::find_if(runs.begin(), runs.end(), [&](const archive::RunInfo& run) {
    if (run.task_hash != task_hash || run.target != target || run.created_unix_ms < started_unix_ms || run.status == "failed") return false;
    const auto options = engine::RunOptions::from_json(run.options_json);
    return options && std::abs(options->budget_seconds - seconds.at(task)) < 1e-6;
  });
  return it == runs.end() ? std::nullopt : std::optional(*it);
}

std::optional<Progress> read_progress(const std::filesystem::path& file, const Json& asked, size_t tasks) {
  const auto text = base::read_file(file);
  if (!text) return std::nullopt;
  const auto kept = base::parse_json(*text, "progress");
  if (!kept || !kept->is_object() || kept->value("asked", Json()) != asked) return std::nullopt;
  const Json seconds = kept->value("seconds", Json::array()), started = kept->value("started_unix_ms", Json());
  if (!seconds.is_array() || seconds.size() != tasks || !started.is_number_integer()) return std::nullopt;
  Progress progress;
  progress.started_unix_ms = started.get<int64_t>();
  for (const Json& one : seconds) progress.seconds.push_back(one.is_number() ? one.get<double>() : 0);
  return progress;
}

Status write_progress(const std::filesystem::path& file, const Json& asked, const Progress& progress) {
  return base::write_file_atomic(file, base::canonical_json({{"asked", asked}, {"seconds", progress.seconds}, {"started_unix_ms", progress.started_unix_ms}}) + "\n");
}

}  // namespace hone::face
