// Mutants of a task's plain kernel: each holds one mistake of the kind that people and programs make. Made
// from the task's graph (a term left out, a comparison flipped, …) or from the kernel's text (a loop that ends
// too early, two axes swapped, …). Pure.
#pragma once
#include <string>
#include <vector>

#include "hone/kernel/kernel.h"
#include "hone/task/task.h"

namespace hone::sensitivity {

struct Mutant {
  std::string what;        ///< "the last term left out"
  std::string where;       ///< the first line of the kernel that differs, without its indentation
  kernel::Kernel kernel;
};

/// Those whose text differs from the right kernel's and from each other's.
[[nodiscard]] std::vector<Mutant> mutants_of(const task::Task& task);

/// A graph with one mistake in it.
struct WrongGraph {
  std::string what;
  task::Graph graph;
};
[[nodiscard]] std::vector<WrongGraph> wrong_graphs(const task::Graph& graph);

}  // namespace hone::sensitivity
