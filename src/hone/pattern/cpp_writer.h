// Writes the parts of a C++ kernel that depend on the graph: parameters, addresses, row values and the
// bodies of passes. Shared by the row, map and loop patterns. One writer makes one kernel's text.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "hone/pattern/expression.h"
#include "hone/pattern/program.h"

namespace hone::pattern {

/// What part of the innermost axis a pass runs over: all of it, or `count` elements from `start`.
enum class Span : uint8_t { kWhole, kSlice };

/// Shape symbols that a task's kernel may need: those of its inputs and, in a part of a larger task, of its nodes.
[[nodiscard]] std::set<std::string> symbols_of(const task::Task& task);
/// A task's tensors and symbols as a function's parameters ("const float* x, float* y, int64_t B") and as plan
/// arguments ("\"x\", \"y\", \"i64:B\"").
[[nodiscard]] std::string parameters_of(const task::Task& task);
[[nodiscard]] std::string arguments_of(const task::Task& task);

/// Vectors of 32-bit lanes where every value fits them, else of 64-bit lanes. kUnavailable: neither will do.
/// `apart`: outputs may be written element by element, every so manyth.
[[nodiscard]] Result<Way> way_for(const Program& program, bool apart = false);

class CppWriter {
 public:
  /// `kept`: element values to store in scratch when first computed and to load afterwards. `local`: inputs
  /// whose row pointer NAME_row the surrounding text declares.
  CppWriter(const Program& program, Way way, std::vector<int> kept, std::vector<int> local = {});

  [[nodiscard]] std::string parameters() const { return parameters_of(*program_.task); }
  [[nodiscard]] std::string arguments() const { return arguments_of(*program_.task); }
  /// "requires = [...]\n" or nothing.
  [[nodiscard]] std::string requirements() const;

  /// `const int64_t at0 = …;` for the row axes from the linear index `from`, and row pointers.
  [[nodiscard]] std::string row_prologue(const std::string& from, const std::string& indent);
  /// Pointers to where `keep` arrays lie in `shared`, those of the row `slot` among rows in step; empty without any.
  [[nodiscard]] std::string keep_prologue(const std::string& indent, const std::string& slot = "") const;
  /// Bytes of `shared`: an expression for the plan.
  [[nodiscard]] task::IntExpr keep_bytes() const;

  /// Pass number `pass` over the row, and the row values that its reductions give.
  [[nodiscard]] std::string pass_text(size_t pass, const std::string& indent, Span span = Span::kWhole);
  /// Reduction `id` is known under `name` from here on.
  void adopt(int id, const std::string& name);
  /// By columns: the values a column that pass `pass` needs, then the pass over all rows of a tile of
  /// `count` columns from `start`.
  [[nodiscard]] std::string column_pass_text(size_t pass, const std::string& indent);
  [[nodiscard]] std::string column_stores(const std::string& indent);
  /// Row values that are outputs, stored.
  [[nodiscard]] std::string row_stores(const std::string& indent);
  /// One sentence: "max; sum; write y".
  [[nodiscard]] std::string outline() const { return program_.outline(); }

  /// True when the innermost loop axis is unit-stride or absent in everything it touches; of one pass, in everything it writes, or not even
  /// there where outputs may lie `apart`.
  [[nodiscard]] bool vectorisable(bool apart = false) const;
  [[nodiscard]] bool stores_elements() const;
  /// Two outputs whose elements take turns in one tensor: they are stored together, side by side.
  [[nodiscard]] bool stores_in_turns() const;

 private:
  [[nodiscard]] std::string tensor_type(int id) const;
  [[nodiscard]] std::string offset(int node, const std::vector<int>& axes) const;
  [[nodiscard]] std::string element_pointer(int node, const std::string& tensor) const;
  [[nodiscard]] int row_index(int node) const;           ///< the row value that says where it is picked from; -1: none does
  [[nodiscard]] int leaf_index(int node) const;          ///< what is read side by side and says it for every element; -1: it is computed
  [[nodiscard]] bool only_picks(int id) const;           ///< read as such an index and as nothing else: never in a vector
  std::string picked(int node);
  std::string element(int id);
  std::string compute_element(int id);
  std::string divisor(int id);
  std::string row(int id);
  [[nodiscard]] bool is_view(int id) const;
  [[nodiscard]] bool is_leaf(int id) const;              ///< read from memory: an input, or a slice of one
  [[nodiscard]] std::string leaf_tensor(int id) const;   ///< what it is read from: "x", "x + D"
  [[nodiscard]] std::string leaf_name(int id) const;     ///< what its row pointer is called, without _row
  [[nodiscard]] bool is_arg_view(int id) const;          ///< an index that an arg-reduction found
  [[nodiscard]] bool is_computed_on(int id) const;
  [[nodiscard]] bool scans_can_be_written() const;
  [[nodiscard]] bool goes_back() const;
  [[nodiscard]] bool is_side_by_side(int id) const;      ///< neighbours along the vector are neighbours in memory, or one value
  [[nodiscard]] int vector_axis() const { return program_.inner_axes.back(); }
  [[nodiscard]] std::string output_name(int id) const { return program_.name_of_output(id); }
  [[nodiscard]] std::string output_row(int id) const;     ///< what its row pointer is called, without _row
  [[nodiscard]] std::string output_tensor(int id) const;  ///< where it begins: "y", "y + D"
  [[nodiscard]] std::string prefetches(size_t pass) const;
  [[nodiscard]] std::string aligned_head(size_t number, const std::string& indent, const char* start, const std::string& vector) const;
  std::string take_row_lines(const std::string& indent);

  const Program& program_;
  Way way_;
  std::vector<int> kept_;
  std::vector<int> local_;
  std::vector<int> element_inputs_;          ///< leaves read element by element
  // State of the pass being written.
  size_t pass_ = 0;
  std::map<int, std::string> element_names_; ///< in the current body
  std::vector<std::string> body_;            ///< its lines
  std::vector<std::string> hoisted_;         ///< lines before the loop
  std::map<int, std::string> row_names_;     ///< for the whole row
  std::vector<std::string> row_lines_;       ///< not yet written out
  std::set<int> hoisted_ids_;
  std::set<int> divisor_ids_;                ///< likewise hoisted
  bool in_rows_ = false;                     ///< by columns: the body runs once a row and column
  std::vector<int> columns_needed_;          ///< column values that the body loads
  std::set<int> columns_known_;              ///< those that have their array
};

}  // namespace hone::pattern
