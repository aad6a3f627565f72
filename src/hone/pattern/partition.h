// Covers a graph with parts, each a task of its own that one pattern can write: what lies between parts goes
// through memory, so parts are as large as patterns allow. Pure.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "hone/task/task.h"

namespace hone::pattern {

/// A piece of the graph. Its inputs and outputs are tensors of the whole task, or of `between`.
struct Part {
  task::Task task;
};

struct Partition {
  std::vector<Part> parts;                                        ///< in an order that respects their needs
  std::vector<std::pair<std::string, task::TensorType>> between;  ///< tensors that one part writes and others read
};

/// Whether a task can be written by one pattern.
using Covered = std::function<bool(const task::Task& task)>;

/// The graph in as few parts as greedy merging finds; the pairs with most bytes between them merge first.
/// Nodes that `covered` cannot take even by themselves stay alone; a view is stored where that helps whoever reads it.
/// `reread`: slices are read in place, and 16-bit values widened by each part that reads them: neither is ever stored.
[[nodiscard]] Partition partition(const task::Task& task, const Covered& covered, bool reread = false);

}  // namespace hone::pattern
