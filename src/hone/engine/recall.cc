#include "hone/engine/recall.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "hone/base/fields.h"
#include "hone/base/hash.h"
#include "hone/engine/event/event.h"
#include "hone/target/card.h"

namespace hone::engine {
namespace {

using nlohmann::json;

/// Share of a promotion's sampling that a recalled champion gets.
constexpr double kSamplingAgain = 0.4;

bool same_workloads(const std::vector<event::Started::Workload>& recorded, const task::Task& task) {
  return std::equal(recorded.begin(), recorded.end(), task.workloads.begin(), task.workloads.end(),
                    [](const auto& there, const task::Workload& here) { return there.bindings == here.bindings && there.weight == here.weight; });
}

/// Whether the run's first event tells of `task` at `place`.
Result<bool> fits(archive::Store& store, const archive::RunInfo& run, const task::Task& task, const Place& place) {
  HONE_TRY(const std::vector<archive::Event> events, store.events(run.id));
  const LoggedEvent first = events.empty() ? LoggedEvent() : read_event(events.front());
  const auto* const started = first.as<event::Started>();
  return started && started->device == place.device && started->toolchain == place.toolchain && same_workloads(started->workloads, task);
}

/// The same target, or another card of the same driver: which model it is says the device.
bool same_kind(const std::string& a, const std::string& b) {
  return a == b || (target::card_ordinal(a) && target::card_ordinal(b) && target::card_driver(a) == target::card_driver(b));
}

double sol_fraction_of(const archive::RunInfo& run) {
  const json summary = json::parse(run.summary_json, nullptr, false);
  if (!summary.is_object()) return 0;
  const auto fraction = summary.find("sol_fraction");
  return fraction != summary.end() && fraction->is_number() ? fraction->get<double>() : 0;
}

}  // namespace

Result<kernel::Kernel> kernel_from(const archive::KernelRow& row) {
  HONE_TRY(kernel::Kernel kernel, kernel::parse_kernel(row.source, base::short_hash(row.hash)));
  const json config = json::parse(row.config_json, nullptr, false);
  base::Notes notes;
  if (config.is_object()) base::read_value(config, kernel.config, "its configuration", notes);
  if (!notes.empty()) return fail(ErrorCode::kCorrupt, fmt::format("kernel {} cannot be read: {}", base::short_hash(row.hash), notes.front()));
  kernel.parent = row.parent;
  kernel.author = row.author;
  return kernel;
}

Result<std::optional<std::string>> known_champion(archive::Store& store, const std::vector<archive::RunInfo>& runs,
                                                  const task::Task& task, const Place& place) {
  std::optional<std::string> best;
  double best_fraction = -1;
  const std::string hash = task.hash();
  for (const archive::RunInfo& run : runs) {
    if (run.champion.empty() || run.status != "finished" || run.task_hash != hash || !same_kind(run.target, place.target)) continue;
    const double fraction = sol_fraction_of(run);
    if (fraction <= best_fraction) continue;
    HONE_TRY(const bool same, fits(store, run, task, place));
    if (!same) continue;
    best = run.champion;
    best_fraction = fraction;
  }
  return best;
}

RunOptions recalling(RunOptions options, const std::string& champion) {
  options.recall = champion;
  options.memory = false;  // its score would be over itself
  options.start_source.clear();
  options.strategy = search::StrategyKind::kTune;
  options.budget_evaluations = 1;
  // Its first interval is in the archive; this one says whether it still holds.
  options.sampling_seconds *= kSamplingAgain;
  return options;
}

}  // namespace hone::engine
