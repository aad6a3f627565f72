// Which values of a graph a plain kernel keeps in memory, and under which name. The others are computed
// where they are read. Pure.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "hone/kernel/kernel.h"
#include "hone/task/task.h"

namespace hone::pattern::plain {

/// Write node `node` to the tensor `tensor`.
struct Store {
  int node;
  std::string tensor;
};

struct Plan {
  task::Graph graph;                    ///< the task's, with sums over everything done in two steps
  std::vector<std::string> memory;      ///< of each node: the tensor that holds it, dense; empty: none
  std::vector<Store> stores;            ///< in the order to do them
  std::vector<kernel::Workspace> workspaces;
  std::vector<bool> exact;              ///< of each node: nothing was rounded on the way from the inputs
};

[[nodiscard]] Plan make_plan(const task::Task& task);

/// Runs of dimensions of a reshape that hold the same elements: from[from_begin, from_end) is
/// to[to_begin, to_end). Dimensions that are written 1 belong to no run.
struct Run {
  std::vector<size_t> from, to;
};
[[nodiscard]] std::vector<Run> match_reshape(const task::Dims& from, const task::Dims& to);

[[nodiscard]] inline bool is_one(const task::IntExpr& extent) { return extent == task::IntExpr(1); }

}  // namespace hone::pattern::plain
