// Tasks whose kernels were all measured once: every source, every configuration, what it scored and, where somebody looked,
// its metrics. Kept as JSON, so that searches can be simulated on them anywhere, as often as wanted, without noise.
#pragma once
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "hone/base/gzip.h"
#include "hone/engine/testing/diagnosis_space.h"

namespace hone::engine::testing {

struct MeasuredTask {
  std::string compute, workload;
  std::vector<std::string> inputs;
  kernel::Limits limits;
  std::vector<Space> spaces;   ///< a source each, in order of promise; scores are over the first one's default

  [[nodiscard]] task::Task task() const {
    task::Task made = must(task::task_from_expressions(compute, inputs, {workload}));
    made.name = compute;
    return made;
  }
};

struct Measured {
  std::string device, toolchain;
  std::vector<MeasuredTask> tasks;
};

/// {"device", "toolchain", "tasks": [{"compute", "inputs", "workload", "limits", "spaces": [{"pattern", "action",
/// "source": its text, "values": {TUNABLE: [those that were measured]}, "kernels": [{"config", "score": null where it was
/// refused, "measured": {METRIC: value}, "modelled": {…}}]}]}]}
inline nlohmann::json to_json(const Measured& all) {
  using nlohmann::json;
  json out = {{"device", all.device}, {"toolchain", all.toolchain}, {"tasks", json::array()}};
  for (const MeasuredTask& t : all.tasks) {
    json spaces = json::array();
    for (const Space& space : t.spaces) {
      json values = json::object(), kernels = json::array();
      for (const kernel::Tunable& tunable : space.kernel.header.tunables) values[tunable.name] = tunable.values;
      for (const auto& [config, entry] : space.entries) {
        json one = {{"config", config}, {"score", entry.accepted ? json(entry.score) : json()}};
        for (const diagnose::Metric& metric : entry.metrics.all())
          if (metric.origin != diagnose::Origin::kAbsent) one[std::string(diagnose::name_of(metric.origin))][metric.name] = metric.value;
        kernels.push_back(std::move(one));
      }
      spaces.push_back({{"pattern", space.pattern}, {"action", space.action}, {"source", space.kernel.source}, {"values", values}, {"kernels", kernels}});
    }
    out["tasks"].push_back({{"compute", t.compute}, {"inputs", t.inputs}, {"workload", t.workload}, {"limits", t.limits}, {"spaces", spaces}});
  }
  return out;
}

/// As to_json() wrote it, gzipped or not.
inline Measured measured_from(const std::filesystem::path& path) {
  using nlohmann::json;
  std::string text = must(base::read_file(path));
  if (base::is_gzip(text)) text = must(base::gunzip(text, size_t{1} << 28, path.string()));
  const json all = json::parse(text);
  Measured out{all.at("device"), all.at("toolchain"), {}};
  for (const json& t : all.at("tasks")) {
    MeasuredTask task{t.at("compute"), t.at("workload"), t.at("inputs"), t.at("limits").get<kernel::Limits>(), {}};
    for (const json& s : t.at("spaces")) {
      Space space{task.compute, must(kernel::parse_kernel(s.at("source").get<std::string>(), s.at("pattern"))), task.limits, {}, s.at("pattern"), s.at("action")};
      for (kernel::Tunable& tunable : space.kernel.header.tunables) tunable.values = s.at("values").at(tunable.name).get<std::vector<int64_t>>();
      for (const json& k : s.at("kernels")) {
        Entry& entry = space.entries[k.at("config").get<Config>()];
        entry.accepted = !k.at("score").is_null();
        if (entry.accepted) entry.score = k.at("score");
        if (const auto known = k.find("measured"); known != k.end())
          for (const auto& [name, value] : known->items()) entry.metrics.measured(name, value, "");
        if (const auto known = k.find("modelled"); known != k.end())
          for (const auto& [name, value] : known->items()) entry.metrics.modelled(name, value, "");
      }
      task.spaces.push_back(std::move(space));
    }
    out.tasks.push_back(std::move(task));
  }
  return out;
}

inline search::Seed seed_of(const Space& space) {
  search::Seed seed{space.kernel, space.pattern, space.action, true};
  seed.kernel.author = "pattern:" + space.pattern;
  return seed;
}

/// Of every kernel that was measured, by its hash: a time in units of the first default's millionth part, 0 where it was refused.
inline std::map<std::string, double> times_of(const MeasuredTask& measured) {
  std::map<std::string, double> times;
  for (const Space& space : measured.spaces) {
    Kernel kernel = seed_of(space).kernel;
    for (const auto& [config, entry] : space.entries) {
      kernel.config = config;
      times[kernel.hash()] = entry.accepted ? 1e6 / entry.score : 0;
    }
  }
  return times;
}

/// A bench on which that task's kernels are searched and take as long as they took. `scramble`: 0 for the library's own order and
/// defaults; else a seed for sources in any order, each with one of its accepted configurations for a default, as where nobody
/// has looked for good ones.
inline void set_up(Bench& bench, const MeasuredTask& measured, uint64_t scramble) {
  bench.task = measured.task();
  bench.limits = measured.limits;
  for (const Space& space : measured.spaces) bench.own_seeds.push_back(seed_of(space));
  bench.truth.measured_ns = [times = times_of(measured)](const Kernel& kernel) { return times.at(kernel.hash()); };
  if (scramble == 0) return;
  base::Rng rng(scramble);
  for (size_t s = 0; s < measured.spaces.size(); ++s) {
    std::vector<Config> accepted;
    for (const auto& [config, entry] : measured.spaces[s].entries)
      if (entry.accepted) accepted.push_back(config);
    if (!accepted.empty()) bench.own_seeds[s].kernel.config = accepted[rng.below(accepted.size())];
    bench.own_seeds[s].chosen = false;
  }
  for (size_t s = bench.own_seeds.size(); s > 1; --s) std::swap(bench.own_seeds[s - 1], bench.own_seeds[rng.below(s)]);
}

}  // namespace hone::engine::testing
