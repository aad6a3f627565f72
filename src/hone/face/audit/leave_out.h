// Graphs with something left out, as people and programs do by mistake: a term of a sum, the last element of a reduction. Pure.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "hone/task/task.h"

namespace hone::face::audit {

struct LeftOut {
  std::string what;           ///< "a term left out: mul (2:5) of add (2:9)"
  task::ConcreteGraph graph;
  int changed = -1;           ///< the node that has less than it should have
  std::set<int> inputs;       ///< of a term: numbers of the inputs that it depends on
};
/// Every node that `id` depends on, itself among them.
[[nodiscard]] std::set<int> ancestors(const task::Graph& graph, int id);
/// Numbers of the inputs that a node depends on.
[[nodiscard]] std::set<int> inputs_behind(const task::Graph& graph, int id);
[[nodiscard]] std::vector<LeftOut> leave_out(const task::ConcreteGraph& graph);

}  // namespace hone::face::audit
