// A matrix product inside a graph: one kDot, its letters sorted into batch, row, column and depth, what
// is done to its operands before and to its result after. Pure.
#pragma once
#include <map>
#include <memory>
#include <optional>
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

/// What an index says of where a factor's elements lie: element (i0, i1, …) of node `index`, at i0 * strides[0] + i1 * strides[1] + … of it by
/// the factor's letters, times `stride`. From `bound` on, where there is one, all that is picked is zero.
struct Pick {
  int index = -1;                ///< graph node of whole numbers, read or computed
  std::vector<task::IntExpr> strides;
  task::IntExpr stride;
  std::optional<task::IntExpr> bound;
};

/// One factor: a tensor of the task, as it lies in memory.
struct Factor {
  int input = -1;                ///< graph node: kInput; -1: it is computed (Contraction::computed)
  std::string letters;           ///< of its dimensions
  std::vector<task::IntExpr> strides;
  task::IntExpr begin = 0;       ///< elements of the input before it
  std::optional<Pick> pick;      ///< of find_picked
  [[nodiscard]] task::IntExpr stride(char letter) const;  ///< 0 for a letter it does not have
  [[nodiscard]] task::IntExpr pick_stride(char letter) const;   ///< along the index; 0 for a letter it does not have
  [[nodiscard]] bool has(const AxisGroup& group) const;
};

/// result[batch, row, column] = sum over depth of a[batch, row, depth] * b[batch, depth, column], followed by
/// an element-wise epilogue. Rows and columns are chosen so that columns are contiguous in the result.
struct Contraction {
  AxisGroup batch, row, column, depth;
  Factor a, b;
  int computed = -1;             ///< of find_computed: the graph node that one of the factors is, before it is widened
  std::string computed_letters;  ///< of its dimensions; others that its factor has are further pieces of those before them
  std::optional<Factor> second;  ///< of a pair (find_pair): the other product's right factor, laid out as b is
  std::map<char, task::IntExpr> extents;   ///< of every letter
  task::DType accumulate = task::DType::kF32;
  bool convolves = false;                  ///< a convolution, before normal_form()
  /// The task whose first input is the product (named "product"), of a pair the second the other one ("second"), and whose outputs are
  /// the task's.
  task::Task epilogue;
  Program program;               ///< of the epilogue; points into it
};

/// What follows node `product`, as a task of its own with that node as its first input, "product", and node `second`, if there is one,
/// as its second. kUnavailable where a reduction lies beside it.
[[nodiscard]] Result<task::Task> epilogue_of(const task::Task& task, int product, int second = -1);

/// kUnavailable where the graph is anything but one product of two inputs (cast, at most) and element-wise
/// work on its result. Sums are in f32, f64, or i32 of two factors of i8.
[[nodiscard]] Result<std::unique_ptr<Contraction>> find_contraction(const task::Task& task);

/// The same where one factor is computed from inputs, if only by giving one byte a wider type: operand.h says whether element by element.
[[nodiscard]] Result<std::unique_ptr<Contraction>> find_computed(const task::Task& task);

/// The same where an index picks the left factor's rows or the right factor (rows of tokens, an expert's weights), by row or by product of the
/// batch. Rows may then be letters of both factors, or of the right one alone, that nothing but its pick moves along: each row has a right
/// factor of its own, which it shares with others. kUnavailable too where the task is about NaN and zeros would be multiplied by what is not there.
[[nodiscard]] Result<std::unique_ptr<Contraction>> find_picked(const task::Task& task);

/// The same for two products of one left factor, with right factors that are read alike, and element-wise work on both: a gate and what it
/// lets through. Right factors may be slices of inputs.
[[nodiscard]] Result<std::unique_ptr<Contraction>> find_pair(const task::Task& task);

}  // namespace hone::pattern
