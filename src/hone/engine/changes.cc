#include "hone/engine/changes.h"

#include <cmath>
#include <map>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hone/base/embedded.h"
#include "hone/base/gzip.h"
#include "hone/engine/event/event.h"

namespace hone::engine {
namespace {

using nlohmann::json;

/// Of an archive: runs looked through, and changes that are enough.
constexpr int kRuns = 100;
constexpr size_t kEnough = 5000;
/// What counts for one that was refused (log gain).
constexpr double kRefused = -1;

/// "cuda" of "cuda:0".
std::string kind_of(const std::string& target) { return target.substr(0, target.find(':')); }

/// A header that tells role_of() where the kernel runs.
kernel::Header header_for(const std::string& pattern) {
  kernel::Header header;
  header.language = kernel::Language::kCuda;
  header.pattern = pattern;
  return header;
}

/// The tunable in which two configurations of a source differ, where it is one.
const std::string* only_difference(const kernel::Config& a, const kernel::Config& b) {
  const std::string* found = nullptr;
  for (const auto& [name, value] : a) {
    const auto other = b.find(name);
    if (other == b.end()) return nullptr;
    if (other->second == value) continue;
    if (found) return nullptr;
    found = &name;
  }
  return found;
}

struct Seen {
  kernel::Config config;
  double score = 0;   ///< 0: refused
};

/// Kernels of one source: every pair that differs in one tunable, where the first one's metrics are known.
void pair_up(const kernel::Header& header, const std::map<std::string, diagnose::Metrics>& metrics, const std::map<std::string, Seen>& kernels,
             search::Changes& changes) {
  for (const auto& [hash, known] : metrics) {
    const auto before = kernels.find(hash);
    if (before == kernels.end() || before->second.score <= 0) continue;
    for (const auto& [other, after] : kernels)
      if (const std::string* const name = only_difference(before->second.config, after.config))
        changes.add(known, diagnose::role_of(*name, header), before->second.config.at(*name), after.config.at(*name),
                    after.score > 0 ? std::log(after.score / before->second.score) : kRefused);
  }
}

/// As testing/measured_tasks.h writes it.
void add_measured(const json& measured, search::Changes& changes) {
  for (const json& task : measured.at("tasks"))
    for (const json& space : task.at("spaces")) {
      std::map<std::string, diagnose::Metrics> metrics;
      std::map<std::string, Seen> kernels;
      for (const json& one : space.at("kernels")) {
        const std::string name = std::to_string(kernels.size());
        kernels[name] = {one.at("config").get<kernel::Config>(), one.at("score").is_null() ? 0 : one.at("score").get<double>()};
        for (const char* const origin : {"measured", "modelled"})
          if (const auto values = one.find(origin); values != one.end())
            for (const auto& [metric, value] : values->items()) metrics[name].measured(metric, value, "");
      }
      if (!metrics.empty()) pair_up(header_for(space.at("pattern")), metrics, kernels, changes);
    }
}

/// An event that is not as it should be teaches nothing.
void add_run(const std::vector<archive::Event>& events, search::Changes& changes) {
  using Source = std::tuple<std::string, std::string, std::string>;   // author, pattern, note: a source by what it says of itself
  std::map<std::string, diagnose::Metrics> metrics;
  std::map<Source, std::map<std::string, Seen>> sources;
  for_each_event<event::Diagnosed>(events, [&](const event::Diagnosed& e, const LoggedEvent& logged) {
    if (logged.problem.empty() && !e.metrics.all().empty()) metrics[e.kernel] = e.metrics;
  });
  if (metrics.empty()) return;
  for_each_event<event::Screened>(events, [&](const event::Screened& e, const LoggedEvent& logged) {
    if (logged.problem.empty()) sources[{e.author, e.pattern, e.note}][e.kernel] = {e.config, e.score};
  });
  for (const auto& [source, kernels] : sources) pair_up(header_for(std::get<1>(source)), metrics, kernels, changes);
}

/// "NVIDIA H200, sm_90a, 132 multiprocessors, …" -> "sm_90a".
std::string arch_in(const std::string& device) {
  const size_t at = device.find("sm_");
  return at == std::string::npos ? "" : device.substr(at, device.find(',', at) - at);
}

}  // namespace

Result<search::Changes> known_changes(archive::Store* store, const std::string& target, const std::string& device, const std::string& run) {
  search::Changes changes;
  if (kind_of(target) != "cuda") return changes;
  if (const auto shipped = base::find_embedded(fmt::format("data/{}/changes.json.gz", arch_in(device)))) {
    HONE_TRY(const std::string text, base::gunzip(*shipped, size_t{1} << 28, "changes"));
    add_measured(json::parse(text), changes);
  }
  if (!store) return changes;
  HONE_TRY(const std::vector<archive::RunInfo> runs, store->runs(kRuns));
  for (const archive::RunInfo& info : runs) {
    if (info.id == run || kind_of(info.target) != "cuda") continue;
    if (changes.size() >= kEnough) break;
    HONE_TRY(const std::vector<archive::Event> events, store->events(info.id));
    add_run(events, changes);
  }
  return changes;
}

}  // namespace hone::engine
