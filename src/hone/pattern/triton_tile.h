// Writes the values of a Program as tiles of a Triton kernel: kept axes run down a tile (positions [ROWS, 1], made of `row`), the others
// along it ([1, BLOCK], made of `at`). Names in the text around it: row, row_in, at, at_in: which lines and places are there. One thread.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "hone/pattern/program.h"

namespace hone::pattern {

/// What the functions of one kernel take: tensors, then extents that the plan computes (e0, e1, …).
class TritonParameters {
 public:
  /// `mark`: how a plan passes extents, "i64:", or "=" as constants.
  explicit TritonParameters(std::string mark = "i64:") : mark_(std::move(mark)) {}
  std::string tensor(const std::string& name);
  /// A number, or the parameter that holds it.
  std::string extent(const task::IntExpr& e);
  [[nodiscard]] std::string parameters() const;   ///< "in_x, out_y, e0"
  [[nodiscard]] std::string arguments() const;    ///< "\"in_x\", \"out_y\", \"i64:N * 2\""
  [[nodiscard]] const std::vector<std::string>& tensors() const { return tensors_; }
  [[nodiscard]] const std::vector<task::IntExpr>& extents() const { return extents_; }

 private:
  std::string mark_;
  std::vector<std::string> tensors_;
  std::vector<task::IntExpr> extents_;
};

class TritonTile {
 public:
  TritonTile(const Program& program, std::vector<int> kept, std::vector<int> along, TritonParameters& parameters);

  /// Positions along the kept axes, from `row`; along the others, from `at`.
  [[nodiscard]] std::string rows_prologue(const std::string& indent);
  [[nodiscard]] std::string places_prologue(const std::string& indent);

  /// The lines of pass p over tiles that hold whole rows: reductions into r5, …, stores.
  [[nodiscard]] std::string pass_held(size_t pass, const std::string& indent);
  /// Those of a pass in segments of BLOCK, with a loop of its own.
  [[nodiscard]] std::string pass_looped(size_t pass, const std::string& indent);
  /// Outputs without places along a row.
  [[nodiscard]] std::string row_stores(const std::string& indent, const std::string& once = "");

  /// A value that is there already: a product's tile.
  void bind(int id, const std::string& text) { names_[id] = text; }
  /// The lines that compute a node, and its name.
  [[nodiscard]] std::pair<std::string, std::string> value(int id, const std::string& indent);
  /// `once`: of what has no axis along a tile, where several programs have tiles of a row, " & " and which of them stores it.
  [[nodiscard]] std::string store(int output, const std::string& indent, const std::string& once = "");
  /// "requires = […]\n", or nothing.
  [[nodiscard]] std::string requirements() const;
  /// kUnavailable where a node is more than one of a single element.
  [[nodiscard]] Status element_wise() const;
  /// Why reductions and scans cannot be written so; empty: they can.
  [[nodiscard]] std::string obstacle() const;

 private:
  [[nodiscard]] bool is_kept(int id) const;   ///< has no axis along a tile
  [[nodiscard]] bool is_leaf(int id) const;
  [[nodiscard]] std::string mask(int id) const;
  std::string decode(const std::vector<int>& axes, const std::string& from, const std::string& indent);
  std::string pointer(int id, const std::string& tensor, const task::IntExpr& base);
  std::string element(int id);
  std::string leaf(int id);
  std::string scan(int id);
  std::string assign(int id, const std::string& text);
  std::string masked(int reduction, const std::string& operand);
  std::string reduced(int reduction, const std::string& tile, const std::string& places);
  void line(const std::string& text, bool kept);

  const Program& program_;
  const Nest& nest_;
  std::vector<int> kept_, along_;
  TritonParameters& parameters_;
  std::map<int, std::string> names_;
  std::string before_, lines_, indent_;   ///< of kept values; of the others
  std::string carries_before_, carries_after_;
  bool looped_ = false;
};

}  // namespace hone::pattern
