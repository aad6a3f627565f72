// A run as its log tells it: the events (docs/events.md) gathered by what the page shows together. It forgives, as reading events
// does: kinds of event that we do not know are counted and passed over, because runs end early and later versions write more
// than we know of.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hone/archive/store.h"
#include "hone/engine/event/event.h"

namespace hone::face::report {

using Facts = std::vector<std::pair<std::string, std::string>>;  ///< name -> value, for people

/// A `screened` event.
struct Evaluation : engine::event::Screened {
  double at = 0;   ///< seconds of active time
  [[nodiscard]] bool accepted() const { return screening.verdict.accepted(); }
  [[nodiscard]] const evaluate::Verdict& verdict() const { return screening.verdict; }
  [[nodiscard]] std::string verdict_name() const { return std::string(evaluate::name_of(screening.verdict.kind)); }
};

/// A `promoted` event.
struct PromotionEvent : engine::event::Promoted {
  double at = 0;
  bool complete = true;   ///< the log lacks nothing of it
};

/// A `yardstick` or `champion` event; of a `raced` one, score is the speed against the race's yardstick.
struct Mark {
  std::string kernel;
  double score = 0, at = 0;
};

struct LoggedWorkload {
  std::string name, bindings;  ///< "large", "B=4096 D=8192"
  double weight = 1;
};

/// What one model did and cost.
struct ModelRow {
  std::string name;
  int calls = 0, failures = 0;
  double seconds = 0;
  int64_t tokens = 0, nanodollars = 0;
};

struct RunLog {
  archive::RunInfo info;
  std::string track, device, toolchain, version, machine_model;
  Facts machine, options;  ///< as `started` has them
  std::vector<LoggedWorkload> workloads;
  std::vector<std::string> opponents;   ///< asked for
  std::vector<double> bounds_ns;        ///< calibrated before the search, per workload: a prior
  std::vector<Evaluation> evaluations;  ///< in the order of the log
  std::vector<Mark> yardsticks, champions;
  std::vector<Mark> races;  ///< finalists, each against the yardstick of the moment
  evaluate::Spent raced;
  std::vector<PromotionEvent> promotions;
  std::vector<engine::event::Diagnosed> diagnoses;
  std::map<std::string, int> considered;  ///< why a proposal was not worth a build -> how many
  std::string stopped;                    ///< why the search ended; empty: it has not
  std::string finished;                   ///< why the run ended; empty: it has not
  double seconds = 0;                     ///< active time up to the last event
  std::string champion;                   ///< kernel hash, or empty
  std::map<std::string, ModelRow> models; ///< by name
  int unread = 0;                         ///< events that are no JSON object
  std::map<std::string, int> unknown;     ///< kinds of event that we do not know -> how many

  /// Index in `evaluations` of the kernel's first accepted evaluation, else of its first.
  std::unordered_map<std::string, size_t> by_kernel;

  [[nodiscard]] const Evaluation* find(const std::string& kernel) const;
  /// The champion's last accepted promotion, or null.
  [[nodiscard]] const PromotionEvent* champion_promotion() const;
  /// The accepted evaluation with the highest score, or null.
  [[nodiscard]] const Evaluation* best() const;
  [[nodiscard]] int accepted() const;
  /// Of a workload by name; 1 where the log does not say.
  [[nodiscard]] double weight_of(std::string_view workload) const;
};

[[nodiscard]] RunLog read_log(const archive::RunInfo& run, const std::vector<archive::Event>& events);

/// "ROWS=4 STREAM=1"
[[nodiscard]] std::string config_text(const kernel::Config& config);

}  // namespace hone::face::report
