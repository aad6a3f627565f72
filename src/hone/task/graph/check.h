// The rules of graph.h on concrete shapes. Pure.
#pragma once
#include <string>
#include <vector>

#include "hone/task/graph/graph.h"

namespace hone::task {

/// What is wrong with the last node of `shapes` (`symbolic`; `concrete` is the same with its
/// attributes settled), or an empty text. Shapes of all earlier nodes are known.
[[nodiscard]] std::string broken_rule(const Graph& graph, const Node& symbolic, const Node& concrete,
                                      const std::vector<Shape>& shapes);

/// What the user's operations ask of one workload beyond the rules of their primitives, said in their
/// words: every extent positive, parts that add up, no more elements than there are. The error's context
/// is "line:column" of the operation.
[[nodiscard]] Status check_surface(const Graph& surface, const Bindings& bindings);

}  // namespace hone::task
