// ATen's operators in the task language: one row an operator, by family in aten_*.cc. The other direction, from the language
// to PyTorch, is evaluate/baseline/pytorch_ops_*.cc; where both are run on the same tensors they must agree with the
// operator itself (face/program/program_slow_test.cc). Pure.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "hone/program/program.h"

namespace hone::program {

/// What the results of nodes are called in a text, by node; an empty name where the language has none for one.
using Terms = std::unordered_map<int, std::vector<std::string>>;

/// One call to be written; `terms` are those of nodes before it.
class Site {
 public:
  Site(const Program& program, const Node& node, const Terms& terms) : program_(program), node_(node), terms_(terms) {}

  [[nodiscard]] const Program& program() const { return program_; }
  [[nodiscard]] const Node& node() const { return node_; }
  [[nodiscard]] const ValueType& type() const { return node_.type(); }
  /// Of a tensor that must be given. This and list() throw std::out_of_range where it is not: write() below catches it.
  [[nodiscard]] const ValueType& type_of(std::string_view argument) const;
  [[nodiscard]] int rank(std::string_view argument) const { return static_cast<int>(type_of(argument).shape.size()); }
  [[nodiscard]] const Argument::List& list(std::string_view argument) const;  ///< that must be given
  /// Given, and not None.
  [[nodiscard]] bool has(std::string_view argument) const;
  /// The argument in the language: a name, a number, a list in brackets, "none".
  [[nodiscard]] std::string text(std::string_view argument) const;
  /// The first of the arguments that is there: overloads differ in names.
  [[nodiscard]] std::string any(std::initializer_list<std::string_view> arguments) const;
  [[nodiscard]] double number(std::string_view argument, double fallback) const;
  [[nodiscard]] int64_t integer(std::string_view argument, int64_t fallback) const;
  [[nodiscard]] bool flag(std::string_view argument) const { return integer(argument, 0) != 0; }
  [[nodiscard]] std::string word(std::string_view argument) const;
  /// One number or a list of them; repeated to `count` where it is one.
  [[nodiscard]] std::vector<int64_t> integers(std::string_view argument, size_t count = 0) const;
  /// An axis counted from 0.
  [[nodiscard]] int64_t axis(std::string_view argument, std::string_view of, int64_t fallback) const;
  [[nodiscard]] std::string term(const Argument& argument) const;

 private:
  const Program& program_;
  const Node& node_;
  const Terms& terms_;
};

/// Texts of the node's results; an empty one where the language does not say it. kUnavailable with the reason where it says none.
using Written = Result<std::vector<std::string>>;

struct Row {
  std::string_view op;      ///< "aten.add.Tensor"
  Written (*write)(const Site&, std::string_view detail);
  std::string_view detail{};  ///< the writer's own: the operation's name, an operator
  bool heavy = false;         ///< a product, a convolution, attention: what a kernel is built around
  bool alone = false;         ///< an order: shares a task with views only, as kernels that sort do nothing else
};

[[nodiscard]] std::span<const Row> elementwise_rows();
[[nodiscard]] std::span<const Row> reduction_rows();
[[nodiscard]] std::span<const Row> product_rows();
[[nodiscard]] std::span<const Row> window_rows();
[[nodiscard]] std::span<const Row> shape_rows();
[[nodiscard]] std::span<const Row> index_rows();
[[nodiscard]] std::span<const Row> scatter_rows();
[[nodiscard]] std::span<const Row> loss_rows();
/// The row's text. A call that lacks what the operator must be given, or whose shapes are not those that it gives, is kUnavailable too.
[[nodiscard]] Written write(const Row& row, const Site& site);
/// Null where the language has nothing for it.
[[nodiscard]] const Row* find_row(std::string_view op);
[[nodiscard]] std::vector<std::string> known_operators();

/// Of integers that pick elements: whether it is seen from the graph that none is below 0, from where PyTorch counts from the end.
[[nodiscard]] bool never_negative(const Program& program, int id);
/// Of whole numbers that the graph tells, none below 0: the largest.
[[nodiscard]] std::optional<int64_t> largest_of(const Program& program, int id);

/// A number as the language reads it back: "1e-05", "-inf" in brackets.
[[nodiscard]] std::string number_text(double value);
[[nodiscard]] std::string list_text(std::span<const int64_t> values);

[[nodiscard]] inline Written written(std::string text) { return std::vector<std::string>{std::move(text)}; }
[[nodiscard]] tl::unexpected<Error> no_word(const Site& site, std::string_view reason);

}  // namespace hone::program
