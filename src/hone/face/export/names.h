// Words of the generated code: which C++ identifiers stand for the task's tensors and symbols, which
// types for its element types, and lists of arguments broken into lines. Pure.
#pragma once
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "hone/task/task.h"

namespace hone::face {

/// A tensor called `new` or `begin` does no harm: names keep their spelling, with _ behind where C++ or
/// the generated code has another use for them.
class PlanNames {
 public:
  /// `taken`: besides keywords and what the generated code itself uses.
  PlanNames(const task::Task& task, std::set<std::string> taken);
  [[nodiscard]] const std::string& tensor(const std::string& name) const { return tensors_.at(name); }
  [[nodiscard]] const std::string& symbol(const std::string& name) const { return symbols_.at(name); }
  [[nodiscard]] bool has_tensor(const std::string& name) const { return tensors_.count(name) > 0; }
  [[nodiscard]] bool has_symbol(const std::string& name) const { return symbols_.count(name) > 0; }
  /// An identifier near `name` that nothing else has.
  [[nodiscard]] std::string fresh(const std::string& name) const;
  /// The expression over the identifiers.
  [[nodiscard]] task::IntExpr renamed(const task::IntExpr& expression) const;
  [[nodiscard]] task::TensorType renamed(const task::TensorType& type) const;

 private:
  std::set<std::string> taken_;
  std::map<std::string, std::string> tensors_, symbols_;
};

/// Element type of a pointer in the public header: task::cpp_name_of, but "uint16_t" for "hone::bf16".
[[nodiscard]] std::string_view public_type(task::DType type);

/// "head(a, b)", continued with `indent` blanks wherever a line would pass 100 columns.
[[nodiscard]] std::string with_arguments(const std::string& head, const std::vector<std::string>& arguments,
                                         size_t indent);

}  // namespace hone::face
