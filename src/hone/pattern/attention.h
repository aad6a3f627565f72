// Attention inside a graph: a softmax over the last axis of what is made element by element of a product (queries by keys), as the
// left factor of another product (by values), whether it was written as attention(…) or out by hand. Pure.
#pragma once
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "hone/pattern/attention_mask.h"
#include "hone/pattern/contraction.h"

namespace hone::pattern {

struct Attention {
  task::Task scores_task, plain_task, values_task;
  /// Rows are queries, columns keys; its epilogue's one output is the scores, before the softmax.
  std::unique_ptr<Contraction> scores;
  /// The left factor is the weights; columns are the values' and the epilogue is the task's.
  std::unique_ptr<Contraction> values;
  bool rounds_weights = false;            ///< weights are rounded to 16 bits before they are multiplied
  std::optional<VisibleKeys> visible;     ///< nothing: all keys may count
  /// As `scores`, of a key that the query sees where `visible` is exact: without the mask. Null: no simpler than `scores`.
  std::unique_ptr<Contraction> plain;
};

/// kUnavailable where the task is anything but one attention over inputs and element-wise work on its result.
[[nodiscard]] Result<Attention> find_attention(const task::Task& task);

/// Of each attention in a graph the nodes from the first product to the second, both included: what belongs together when a graph
/// is cut into parts.
[[nodiscard]] std::vector<std::set<int>> attention_cores(const task::Graph& graph);

}  // namespace hone::pattern
