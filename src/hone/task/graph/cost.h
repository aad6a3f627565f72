// The least arithmetic of a computation, told apart by kind: what `hone explain` shows. Pure.
#pragma once
#include <map>
#include <string>

#include "hone/task/graph/graph.h"

namespace hone::task {

/// Float operations by primitive ("dot", "exp", "sum", …), as minimal_cost() counts them: their sum is its
/// flops. Primitives without any are left out.
[[nodiscard]] std::map<std::string, double> operations_by_kind(const ConcreteGraph& graph);

}  // namespace hone::task
