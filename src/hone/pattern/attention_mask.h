// Which keys a mask made of indices lets a query see: causal, windows, both shifted. Pure.
#pragma once
#include <optional>

#include "hone/task/task.h"

namespace hone::pattern {

/// Keys that a query sees whose index along the axis before the last one is i: those from i + from up to i + to, both included; no end
/// where there is nothing.
struct VisibleKeys {
  std::optional<task::IntExpr> from, to;
  bool exact = true;   ///< all of those; otherwise some of them may be hidden in another way
};

/// Of a condition on [..., queries, keys]; nothing where it is none on indices.
[[nodiscard]] std::optional<VisibleKeys> visible_keys(const task::Graph& graph, int condition);

/// Whether a node is where(condition, ..., -infinity).
[[nodiscard]] bool hides_by_infinity(const task::Graph& graph, int scores);

}  // namespace hone::pattern
