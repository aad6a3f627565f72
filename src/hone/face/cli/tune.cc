// hone tune --replay: reads the files, runs the replays, prints.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>

#include "hone/base/file.h"
#include "hone/base/gzip.h"
#include "hone/base/json.h"
#include "hone/face/cli/commands.h"
#include "hone/face/cli/context.h"
#include "hone/face/tune/contest.h"

namespace hone::face {
namespace {

namespace tuner = search::tune;

/// A large space with raw timings is some tens of megabytes.
constexpr size_t kMostBytes = size_t{1} << 30;

struct NamedCache {
  std::string file, name;   ///< name: the file's, without folder and endings
  tuner::TuningCache cache;
};

std::string short_name(const std::filesystem::path& path) {
  std::string name = path.filename().string();
  for (const char* ending : {".gz", ".json"})
    if (name.ends_with(ending)) name.resize(name.size() - std::string_view(ending).size());
  return name;
}

Result<NamedCache> read_cache(const std::string& file) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return fail(ErrorCode::kNotFound, fmt::format("there is no file {}", file));
  if (std::filesystem::is_directory(file, ignored)) return fail(ErrorCode::kInput, fmt::format("{} is a folder, not a tuning cache", file));
  HONE_TRY(std::string text, base::read_file(file));
  if (base::is_gzip(text)) {
    HONE_TRY(text, base::gunzip(text, kMostBytes, file));
  }
  HONE_TRY(tuner::TuningCache cache, tuner::parse_cache(text, file));
  return NamedCache{file, short_name(file), std::move(cache)};
}

/// The files named, those of folders in the order of their names; T1 files in a folder are no caches.
Result<std::vector<std::string>> files_of(const std::vector<std::string>& given) {
  std::vector<std::string> files;
  for (const std::string& path : given) {
    std::error_code failed;
    if (!std::filesystem::is_directory(path, failed)) {
      files.push_back(path);
      continue;
    }
    std::vector<std::string> inside;
    for (const auto& entry : std::filesystem::directory_iterator(path, failed)) {
      const std::string name = entry.path().filename().string();
      if ((name.ends_with(".json") || name.ends_with(".json.gz")) && name.find("_T1") == std::string::npos) inside.push_back(entry.path().string());
    }
    if (inside.empty()) return fail(ErrorCode::kNotFound, fmt::format("the folder {} holds no tuning caches (.json, .json.gz)", path));
    std::sort(inside.begin(), inside.end());
    files.insert(files.end(), inside.begin(), inside.end());
  }
  return files;
}

Status check(const TuneArguments& a) {
  const auto wrong = [](std::string message) { return fail(ErrorCode::kUsage, std::move(message)); };
  if (a.evaluations < 1 || a.evaluations > 1'000'000) return wrong(fmt::format("--evals {}: expected 1 to 1000000", a.evaluations));
  if (a.repeats < 1 || a.repeats > 100'000) return wrong(fmt::format("--repeats {}: expected 1 to 100000", a.repeats));
  if (a.batch < 1 || a.batch > 10'000) return wrong(fmt::format("--batch {}: expected 1 to 10000", a.batch));
  return {};
}

Result<std::vector<tuning::Method>> methods_of(const TuneArguments& a) {
  std::vector<tuning::Method> methods;
  for (const std::string& name : a.methods) {
    HONE_TRY(tuning::Method method, tuning::method_from(name));
    methods.push_back(std::move(method));
  }
  if (methods.empty()) {
    HONE_TRY(tuning::Method method, tuning::method_from(a.warm.empty() ? "tuner" : "warm"));
    methods.push_back(std::move(method));
  }
  return methods;
}

/// Those given with --warm, and every other cache given to replay that is of the same kernel.
std::vector<tuner::Experience> warm_for(const NamedCache& cache, const std::vector<NamedCache>& all, const std::vector<NamedCache>& warm) {
  std::vector<tuner::Experience> known;
  for (const NamedCache& other : warm) known.push_back(other.cache.experience());
  if (warm.empty())
    for (const NamedCache& other : all)
      if (&other != &cache && other.cache.kernel == cache.cache.kernel) known.push_back(other.cache.experience());
  return known;
}

/// What a replay evaluated, in its order.
tuner::TuningCache evaluated(const tuner::TuningCache& cache, const tuner::Replay& replay) {
  tuner::PointMap<size_t> index;
  for (size_t n = 0; n < cache.points.size(); ++n) index[cache.points[n]] = n;
  tuner::TuningCache result{cache.device, cache.kernel, cache.problem_size, cache.subject, cache.objective, cache.parameters, replay.points, {}, {}};
  for (const tuner::Point& point : replay.points) {
    result.keys.push_back(cache.keys[index.at(point)]);
    result.measured.push_back(cache.measured[index.at(point)]);
  }
  return result;
}

void print_replay(const tuner::TuningCache& run, const tuner::Replay& replay, int number, bool as_json) {
  base::Json line = {{"keys", run.keys}, {"times", base::Json::array()}, {"search_seconds", replay.search_seconds}};
  double best = 0;
  for (const auto& cost : replay.costs) {
    line["times"].push_back(cost ? base::Json(*cost) : base::Json());
    if (cost && (best == 0 || *cost < best)) best = *cost;
  }
  if (as_json) fmt::print("{}\n", base::canonical_json(line));
  else fmt::print("repeat {}: best {} after {} evaluations, {:.3f} s of search\n", number, best, replay.costs.size(), replay.search_seconds);
}

Status save(const std::string& file, std::string text) {
  if (file.empty()) return {};
  return base::write_file_atomic(file, file.ends_with(".gz") ? base::gzip(text) : text);
}

}  // namespace

Result<int> tune(const TuneArguments& arguments) {
  if (arguments.replay.empty()) return measure_space(arguments);
  if (!arguments.kernel.empty() || !arguments.cache.empty() || !arguments.strategy.empty())
    return fail(ErrorCode::kUsage, "a kernel is measured or caches are replayed: not both");
  HONE_TRY_VOID(check(arguments));
  HONE_TRY(const auto methods, methods_of(arguments));
  HONE_TRY(const auto files, files_of(arguments.replay));
  std::vector<NamedCache> caches, warm;
  for (const std::string& file : files) {
    HONE_TRY(NamedCache cache, read_cache(file));
    caches.push_back(std::move(cache));
  }
  HONE_TRY(const auto warm_files, files_of(arguments.warm));
  for (const std::string& file : warm_files) {
    HONE_TRY(NamedCache cache, read_cache(file));
    warm.push_back(std::move(cache));
  }
  if (!arguments.space.empty()) {
    HONE_TRY(const std::string text, read_text(arguments.space, "T1 file"));
    HONE_TRY(const tuner::Space t1, tuner::parse_t1(text, arguments.space));
    for (NamedCache& cache : caches) {
      HONE_TRY(cache.cache, tuner::within(cache.cache, t1, cache.file, arguments.space));
    }
  }
  const bool scoring = arguments.score || arguments.race || !arguments.html.empty();
  for (const NamedCache& cache : caches)
    if (scoring && std::none_of(cache.cache.measured.begin(), cache.cache.measured.end(), [](const auto& m) { return m.cost.has_value(); }))
      return fail(ErrorCode::kInput, fmt::format("nothing in {} worked: there is no optimum to score against", cache.file));

  const tuning::Contest contest{arguments.evaluations, arguments.repeats, arguments.batch, arguments.seed};
  std::vector<tuning::Score> scores;
  std::vector<tuning::RaceScore> races;
  bool first = true;
  for (const NamedCache& cache : caches) {
    for (const tuning::Method& method : methods) {
      const auto known = method.warm ? warm_for(cache, caches, warm) : std::vector<tuner::Experience>();
      std::vector<tuner::Replay> replays;
      for (int r = 0; r < contest.repeats; ++r) {
        replays.push_back(tuning::replay_of(method, cache.cache, known, contest, r));
        const auto run = evaluated(cache.cache, replays.back());
        if (!scoring) print_replay(run, replays.back(), r + 1, arguments.json);
        if (first) {
          HONE_TRY_VOID(save(arguments.save_cache, arguments.save_cache.empty() ? "" : tuner::cache_text(run)));
          HONE_TRY_VOID(save(arguments.save_t4, arguments.save_t4.empty() ? "" : tuner::t4_text(run)));
          first = false;
        }
      }
      if (!scoring) continue;
      scores.push_back(tuning::score_of(cache.name, method, cache.cache, replays, contest));
      if (!arguments.json) fmt::print(stderr, "{} {}: P {:.2f}\n", cache.name, method.name, scores.back().p.value);
    }
    if (arguments.race) races.push_back(tuning::race_of(cache.name, methods.back(), cache.cache, contest));
  }
  if (!scoring) return 0;
  if (!arguments.html.empty()) HONE_TRY_VOID(base::write_file_atomic(arguments.html, tuning::page_of(scores, races, contest)));
  if (arguments.json) fmt::print("{}\n", base::canonical_json(tuning::json_of(scores, races, contest)));
  else fmt::print("{}", tuning::table_of(scores, races));
  return 0;
}

}  // namespace hone::face
