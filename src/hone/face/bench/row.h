// What became of one task of a bench: a row of its tables. Plain values with a JSON form (docs/json.md).
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "hone/archive/store.h"
#include "hone/evaluate/verdict.h"
#include "hone/task/task.h"

namespace hone::face::bench {

/// Against one opponent, over the task's workloads: weighted geometric means.
struct Speedup {
  std::string opponent;
  evaluate::Ratio ratio;        ///< time(opponent) / time(champion)
  evaluate::Comparison comparison = evaluate::Comparison::kInconclusive;
  double dispatch_ns = 0;       ///< of the opponent's time, what an empty call takes; 0: nothing of the kind, or not known
  evaluate::Ratio less_dispatch{};  ///< `ratio` with that taken off; means nothing where it is 0

  [[nodiscard]] const evaluate::Ratio& without_dispatch() const { return dispatch_ns > 0 ? less_dispatch : ratio; }
  /// `comparison`, where the interval without dispatch bears it out.
  [[nodiscard]] evaluate::Comparison comparison_without_dispatch() const;
};

struct Row {
  std::string task;             ///< its name; the file's where it could not be read
  std::string verdict;          ///< "accepted"; of a refused champion why; "none": no candidate was; "error": it could not be tried
  std::string reason;           ///< one line; empty when accepted
  bool compiled = false;        ///< some candidate did
  evaluate::Comparison comparison = evaluate::Comparison::kInconclusive;  ///< against `opponent`
  std::string opponent;         ///< the strongest; empty: none took part
  std::vector<Speedup> speedups;
  double sol_fraction = 0;      ///< of the champion, weighted geometric mean; 0: none
  double seconds = 0;           ///< of work on the task
  std::string run, champion;    ///< empty: none
  std::string pattern;          ///< of the champion; empty: none, or not known
  double least_ns = 0;          ///< of the task, by the model that parts are weighed with (pattern/least_time.h)
  double plain_share = 0;       ///< of it: what the champion does by plain loops, 0 to 1; 1 without a champion
  bool recalled = false;        ///< the champion came from an earlier run: verified and measured anew, not searched for
  std::vector<std::string> absent;  ///< opponents that could not take part, with the reason

  [[nodiscard]] bool accepted() const { return verdict == "accepted"; }
  [[nodiscard]] const Speedup* against(const std::string& name) const;
};

[[nodiscard]] nlohmann::json to_json(const Row& row);
/// kCorrupt where it is no row.
[[nodiscard]] Result<Row> row_from(const nlohmann::json& value);

/// The row of a task that could not be tried.
[[nodiscard]] Row failed_row(const std::string& task, const Error& error, double seconds);
/// The row of a run that has ended, from what the archive holds of it.
[[nodiscard]] Result<Row> row_of_run(archive::Store& store, const std::string& run, const task::Task& task);

}  // namespace hone::face::bench
