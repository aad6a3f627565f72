// A run's diagnoses: of the kernel that is extended next, told to the strategy, and of the champion; and how predictions
// came out, which is kept. Each diagnosis is an event, so that a replay decides alike. One thread.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "hone/engine/event_log.h"
#include "hone/engine/examine.h"
#include "hone/search/strategy.h"

namespace hone::engine {

/// Looks at an accepted kernel; `thorough` for the one that is to be shown.
using Examiner = std::function<Result<Examined>(const kernel::Kernel& kernel, bool thorough)>;
/// What settings of its tunables are expected to do to a kernel with these metrics; nothing where nobody has seen such changes.
using Expecter = std::function<std::vector<search::tune::Effect>(const kernel::Kernel& kernel, const diagnose::Metrics& metrics)>;

class Advisor {
 public:
  explicit Advisor(Examiner examine, Expecter expect = {}) : examine_(std::move(examine)), expect_(std::move(expect)) {}

  /// Diagnoses what the strategy would extend next, if it has no diagnosis yet, and tells it what is expected of changes, or,
  /// where nothing is, the rules' actions. `kernels`: by hash, those that were accepted.
  Status advise(EventLog& log, search::Strategy& strategy, const std::function<const kernel::Kernel*(const std::string&)>& kernel_of);
  /// Looks at an accepted kernel for a model's diagnoser.
  [[nodiscard]] Result<event::Look> profile(EventLog& log, const kernel::Kernel& kernel);
  /// Diagnoses the champion for the report.
  Status conclude(EventLog& log, const kernel::Kernel& champion);

  /// A proposal was evaluated: `score` of it, 0 when refused, and of its parent.
  void outcome(const search::Proposal& proposal, double score, double parent_score);
  /// The same of a prediction that somebody else made.
  void outcome(const std::string& action, const std::string& cause, double predicted, double gained) { rows_.push_back({action, cause, predicted, gained}); }
  /// {"tried", "held", "rows": [{action, cause, predicted, gained (null: refused)}]}; null where nothing was predicted.
  [[nodiscard]] nlohmann::json calibration() const;

 private:
  /// E: event::Diagnosed or event::Profiled.
  template <class E>
  Result<event::Look> look(EventLog& log, const kernel::Kernel& kernel, bool thorough);

  struct Row {
    std::string action, cause;
    double predicted, gained;  ///< gained: 0 when refused
  };
  Examiner examine_;
  Expecter expect_;
  std::vector<Row> rows_;
  std::map<std::string, event::Look> seen_;   ///< what quick looks found, by kernel: not looked at twice
};

}  // namespace hone::engine
