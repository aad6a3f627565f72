// A matrix product inside a graph: one kDot, its letters sorted into batch, row, column and depth, what
// is done to its operands before and to its result after. Pure.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hone/base/result.h"
#include "hone/pattern/program.h"
#include "hone/task/task.h"

namespace hone::pattern {

/// Axes that are walked as one: their letters in order, the first changing slowest.
struct AxisGroup {
  std::string letters;
  task::IntExpr extent = 1;
};

/// One factor: a tensor of the task, as it lies in memory.
struct Factor {
  int input = -1;                ///< graph node: kInput
  std::string letters;           ///< of its dimensions
  std::vector<task::IntExpr> strides;
  [[nodiscard]] task::IntExpr stride(char letter) const;  ///< 0 for a letter it does not have
  [[nodiscard]] bool has(const AxisGroup& group) const;
};

/// result[batch, row, column] = sum over depth of a[batch, row, depth] * b[batch, depth, column], followed by
/// an element-wise epilogue. Rows and columns are chosen so that columns are contiguous in the result.
struct Contraction {
  AxisGroup batch, row, column, depth;
  Factor a, b;
  std::map<char, task::IntExpr> extents;   ///< of every letter
  task::DType accumulate = task::DType::kF32;
  bool convolves = false;                  ///< a convolution, before normal_form()
  /// The task whose first input is the product (named "product") and whose outputs are the task's.
  task::Task epilogue;
  Program program;               ///< of the epilogue; points into it
};

/// What follows node `product`, as a task of its own with that node as its first input, "product". kUnavailable where
/// a reduction lies beside it.
[[nodiscard]] Result<task::Task> epilogue_of(const task::Task& task, int product);

/// kUnavailable where the graph is anything but one product of two inputs (cast, at most) and element-wise
/// work on its result. Sums are in f32, f64, or i32 of two factors of i8.
[[nodiscard]] Result<std::unique_ptr<Contraction>> find_contraction(const task::Task& task);

}  // namespace hone::pattern
