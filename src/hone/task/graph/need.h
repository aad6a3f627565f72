// Which elements of every node the outputs depend on. Pure.
#pragma once
#include <vector>

#include "hone/task/graph/graph.h"
#include "hone/task/graph/region.h"

namespace hone::task {

/// One Need a node, empty where nothing depends on it.
[[nodiscard]] std::vector<Need> needed_elements(const ConcreteGraph& graph);

}  // namespace hone::task
