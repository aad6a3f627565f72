// Sorted rows in a graph: keys and places of one thing, with what keeps the first of each. Pure.
#pragma once
#include "hone/base/result.h"
#include "hone/task/task.h"

namespace hone::pattern {

/// One node sorted along one axis in one direction; each output is the keys or the places of a row's first ones.
struct Sorting {
  int keys = -1;            ///< graph node that is sorted: an input, or computed
  size_t axis = 0;
  bool descending = false;
  task::IntExpr rows = 1;   ///< how many are sorted
  task::IntExpr beside = 1; ///< rows that lie side by side, element by element: 1 where the last axis is sorted
  task::IntExpr length;     ///< of a row

  /// How many of a row an output has.
  [[nodiscard]] task::IntExpr kept(const task::Graph& graph, int output) const { return graph.node(output).type.dims[axis]; }
};

[[nodiscard]] bool has_sort(const task::Graph& graph);

/// kUnavailable where any output is anything else. Of what is computed before the sort nothing is said.
[[nodiscard]] Result<Sorting> find_sorting(const task::Graph& graph);

/// Whether an output of such a graph is the places of elements, not their keys.
[[nodiscard]] bool is_places(const task::Graph& graph, const Sorting& sorting, int output);

/// The longest row of the task's workloads.
[[nodiscard]] int64_t longest_row(const task::Task& task, const Sorting& sorting);

}  // namespace hone::pattern
