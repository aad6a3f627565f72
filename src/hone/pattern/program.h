// A graph as passes over rows. The axes of the nest are split into row axes (a row is one point of
// them) and reduced axes (what lies in a row). Values without reduced axes are row values, the others
// element values. Pass k evaluates the element values that k rounds of reductions lie before. Pure.
#pragma once
#include <string>
#include <vector>

#include "hone/pattern/nest.h"

namespace hone::pattern {

struct Pass {
  std::vector<int> reductions;   ///< nodes reduced in this pass
  std::vector<int> stores;       ///< graph outputs of element rank written in this pass
};

struct Program {
  const task::Task* task = nullptr;
  Nest nest;
  std::vector<int> row_axes;     ///< in loop order
  std::vector<int> inner_axes;   ///< reduced ones, in loop order; by columns: then the innermost axis
  /// The innermost axis is not reduced: reductions are values a column, not a row.
  bool by_columns = false;
  std::vector<Pass> passes;      ///< at least one where any element value is needed
  std::vector<int> row_outputs;  ///< graph outputs that are row values
  std::vector<int> column_outputs;  ///< by columns: outputs without reduced axes
  std::vector<int> depth;        ///< of each node: rounds of reductions before it

  [[nodiscard]] const task::Node& node(int id) const { return nest.graph->node(id); }
  [[nodiscard]] bool is_row_value(int id) const;
  /// By columns: has the innermost axis and no reduced one.
  [[nodiscard]] bool is_column_value(int id) const;
  [[nodiscard]] const task::IntExpr& extent(int axis) const { return nest.axes[static_cast<size_t>(axis)].extent; }
  [[nodiscard]] task::IntExpr rows() const;         ///< product of the row axes
  [[nodiscard]] task::IntExpr row_length() const;   ///< product of the inner axes
  /// Name of the task's tensor that a graph input is, or an output.
  [[nodiscard]] std::string tensor_of_input(int id) const;
  [[nodiscard]] std::string name_of_output(int id) const;
  /// What each pass reduces and writes: "max; sum; write y".
  [[nodiscard]] std::string outline() const;
  /// Element values computed in an earlier pass that a later one needs too and that cost enough
  /// (a transcendental) to be worth keeping, with the pass that computes them first.
  [[nodiscard]] std::vector<int> worth_keeping() const;
  [[nodiscard]] bool has_reductions() const;
  [[nodiscard]] bool has_scans() const;
  /// By columns: all outputs vary from column to column. One that does not would be written by whoever has any column.
  [[nodiscard]] bool outputs_have_columns() const;
};

/// All reductions must remove the same axes (kUnavailable else): other graphs need several kernels.
/// Without reductions the innermost axis is the row; where the innermost axis is not reduced, the
/// program goes by columns if the options allow it.
/// With scans, all must run along one axis: it is the inner one.
[[nodiscard]] Result<Program> find_program(const task::Task& task, const NestOptions& options = {});

}  // namespace hone::pattern
