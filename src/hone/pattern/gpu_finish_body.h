// What is computed behind a product, node by node, as statements for one element (gpu_finish.cc puts functions around them). Pure text.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hone/base/result.h"
#include "hone/pattern/contraction.h"

namespace hone::pattern {

class FinishBody {
 protected:
  /// `places`: names that hold the positions along the loops' axes; empty: line_at and column_at hold them.
  FinishBody(const Contraction& all, std::vector<std::string> places);

  /// The name of a node's value; the statements that make it are appended to row_lines_ or lines_.
  Result<std::string> value(int id);
  [[nodiscard]] std::string columns() const;
  /// Of an output's element: dense, or where the nest has placed it, columns beside each other.
  [[nodiscard]] std::string place_of_output(int id);
  /// The innermost axis is the column's, unless there is but one.
  [[nodiscard]] std::optional<int> column_axis() const;
  [[nodiscard]] std::string column_position() const;
  /// Where a line is along the axes that were asked for.
  [[nodiscard]] std::string row_positions() const;

  const Contraction& all_;
  const Program& program_;
  const Nest& nest_;
  std::set<int> used_, element_axes_;
  std::map<std::string, std::string> lines_of_row_;   ///< names and types of what a line has once
  std::set<std::string> facts_;                       ///< those that an element takes
  std::string row_lines_, lines_;
  bool needs_line_ = false;
  bool in_words_ = false;
  std::vector<std::string> word_members_;
  std::vector<std::pair<std::string, std::string>> word_reads_;  ///< type and address of what else is read of elements beside each other

 private:
  /// The loops' axes, outermost first.
  [[nodiscard]] std::vector<int> axes() const;
  std::string position(int axis);
  /// The other product of a pair.
  [[nodiscard]] bool is_second(int id) const;
  /// Whether a node has another value for each element of a line.
  bool varies(int id);
  [[nodiscard]] bool is_leaf(int id) const;
  /// What a line further is in a tensor whose lines lie one after another as the output's do: no division finds where it is.
  [[nodiscard]] std::optional<task::IntExpr> line_stride(int id) const;
  Result<std::string> leaf(int id);
  /// What an element's node takes from its line.
  void note_facts(int id);

  std::vector<std::string> places_;
  std::map<int, std::string> names_;
  std::map<int, bool> varies_;
};

}  // namespace hone::pattern
