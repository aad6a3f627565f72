// The one line that a run ends with: docs/json.md, `optimize`. Pure.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "hone/evaluate/verdict.h"
#include "hone/task/task.h"

namespace hone::engine {

/// The strongest opponent of a promotion over all workloads, with the ratio against it.
struct Headline {
  std::string opponent;              ///< empty: none took part
  evaluate::Ratio speedup;           ///< weighted geometric mean over workloads, of medians and interval ends
  evaluate::Ratio without_dispatch;  ///< likewise, with what an empty call takes off the opponent's time
  double dispatch_ns = 0;            ///< of such a call, weighted geometric mean; 0: not measured on every workload
  evaluate::Comparison comparison = evaluate::Comparison::kInconclusive;  ///< called on every workload alike, else inconclusive
  double sol_fraction = 0;           ///< weighted geometric mean
};
[[nodiscard]] Headline headline_of(const evaluate::Promotion& promotion, const task::Task& task);

/// Ratio against one opponent over all workloads; nothing when it did not play them all.
[[nodiscard]] std::optional<Headline> against(const evaluate::Promotion& promotion, const task::Task& task,
                                              const std::string& opponent);

}  // namespace hone::engine
