// Writes the parts of a kernel in OpenCL C that depend on the graph: addresses, row values, passes over rows. A pass goes
// over a row in vectors of VEC lanes where every tensor lies along it, and over what is left one element at a time; one
// text for both (expression.h). One writer makes one function's text.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "hone/pattern/opencl_text.h"
#include "hone/pattern/program.h"

namespace hone::pattern::opencl {

/// Who walks a row: each takes element or word `first`, and then every `step`th.
struct Walk {
  std::string first = "0", step = "1";
  bool group = false;   ///< the items of a group share it: results are combined between them
  /// Lanes are VEC neighbours along the innermost row axis, each with a row of its own: no item shares a row.
  bool columns = false;
};

class Writer {
 public:
  Writer(const Program& program, Walk walk);
  /// By columns: writes lanes where `lanes`, else one element.
  void choose(bool lanes);

  /// "requires = [...]\n" or nothing.
  [[nodiscard]] std::string requirements() const;
  [[nodiscard]] std::string parameters() const { return parameters_of(*program_.task, narrow_); }
  [[nodiscard]] std::string arguments() const { return arguments_of(*program_.task, narrow_); }
  [[nodiscard]] const char* index() const { return narrow_ ? "int" : "long"; }   ///< type of indices
  /// "VEC = [8, 4, …]", or VEC = [1] where elements do not lie side by side.
  [[nodiscard]] std::string vector_tunable(int64_t best) const;
  [[nodiscard]] bool lanes() const { return lanes_; }
  /// Empty where the program can be written; else why not.
  [[nodiscard]] std::string obstacle() const;
  [[nodiscard]] std::string outline() const { return program_.outline(); }

  /// Positions along the row axes from the linear index `from`, and pointers NAME_row to where the row begins.
  [[nodiscard]] std::string row_prologue(const std::string& from, const std::string& indent);
  /// Pass number `pass` over the row: afterwards r7, … hold what it found, combined where the walk is a group's.
  [[nodiscard]] std::string pass_text(size_t pass, const std::string& indent);
  /// What pass_text leaves in r7, …, as row values for what comes behind.
  [[nodiscard]] std::string found(size_t pass, const std::string& indent);
  /// Declares r7, … with what a search begins with.
  [[nodiscard]] std::string begun(size_t pass, const std::string& indent) const;
  /// Combines r7, … between the items of the group.
  [[nodiscard]] std::string combined(size_t pass, const std::string& indent) const;
  /// Row values that are outputs, stored by the item for which `condition` holds ("" for all).
  [[nodiscard]] std::string row_stores(const std::string& indent, const std::string& condition);
  /// `__local` arrays that `combined` needs.
  [[nodiscard]] std::string shares(const std::string& indent) const;

  [[nodiscard]] bool is_arg(int id) const;
  [[nodiscard]] std::string running_type(int id, Way way = Way::kItem) const;   ///< of r7
  /// "LARGER" and the like, for r7 and for combining; of arg-reductions "ABOVE", "BELOW".
  [[nodiscard]] const char* fold(int id) const;

 private:
  [[nodiscard]] bool is_leaf(int id) const;
  [[nodiscard]] bool is_view(int id) const;
  [[nodiscard]] bool lies_along(int id) const;      ///< elements of a row side by side, in the order of the row
  [[nodiscard]] bool fits_lanes() const;
  [[nodiscard]] bool fits_columns() const;
  [[nodiscard]] bool has_lane(int id) const;        ///< by columns: differs from lane to lane
  [[nodiscard]] bool is_scalar(int id) const;       ///< one value for all lanes and the whole row
  std::string operand(int id);
  [[nodiscard]] bool is_real_sum(int id) const;
  [[nodiscard]] bool sums_reals(const Pass& pass) const;
  [[nodiscard]] std::string taken(int id, Way way, const std::string& into, const std::string& lost, const std::string& value) const;
  [[nodiscard]] std::string leaf_name(int id) const;
  [[nodiscard]] std::string leaf_tensor(int id) const;
  [[nodiscard]] std::string output_name(int id) const;
  [[nodiscard]] std::string offset(int id, const std::vector<int>& axes) const;
  std::string place(int axis);
  std::string picked(int id);
  std::string at_element(int id);
  std::string element(int id);
  std::string row(int id);
  [[nodiscard]] std::string start(int id, Way way) const;
  std::string body(const Pass& pass, Way way, const std::string& indent);
  std::string loop(const Pass& pass, Way way, const std::string& begin, const std::string& end, const std::string& indent);
  std::string take_row_lines(const std::string& indent);

  const Program& program_;
  Walk walk_;
  bool narrow_, lanes_;
  Way way_ = Way::kItem;                      ///< of the body being written
  bool decodes_ = false;                      ///< it needs its place along each of several axes
  std::map<int, std::string> element_names_;
  std::vector<std::string> lines_;
  std::map<int, std::string> row_names_;
  std::vector<std::string> row_lines_;
};

}  // namespace hone::pattern::opencl
