// A task that is one matrix product over dense inputs, seen as libraries see it: M, N, K, strides, and
// batch axes around them. Pure.
#pragma once
#include <vector>

#include "hone/base/result.h"
#include "hone/task/graph/graph.h"

namespace hone::evaluate {

struct GemmForm {
  /// Strides count elements; 0: the operand does not move along the axis.
  struct Axis {
    int64_t extent = 1, a = 0, b = 0, c = 0;
  };
  int a = 0, b = 0;               ///< numbers of the task's inputs
  task::DType a_type{}, b_type{}, c_type{};  ///< as they lie in memory
  std::vector<Axis> batch;        ///< outermost first
  Axis m, n, k;                   ///< m: a and c move; n: b and c; k: a and b
};

/// kUnavailable where the graph is something else, or where an axis to sum over is not one segment.
[[nodiscard]] Result<GemmForm> as_gemm(const task::ConcreteGraph& graph);

}  // namespace hone::evaluate
