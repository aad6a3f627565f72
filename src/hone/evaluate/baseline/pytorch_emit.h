// Writing one surface node as Python; private to the PyTorch emitter. A Writer sees a Site (the node
// and its operands as text) and gives a Term. Rows of writers live in pytorch_ops_*.cc by family, one
// a surface operation. Pure values.
#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hone/base/result.h"
#include "hone/task/graph/graph.h"
#include "hone/task/graph/op_table.h"

namespace hone::evaluate {

/// How tightly Python's operators bind, loosest first.
enum class Binding : uint8_t {
  kComparison,
  kOr,
  kXor,
  kAnd,
  kShift,
  kSum,
  kProduct,
  kUnary,
  kPower,
  kPrimary,
};

/// A Python expression.
struct Term {
  std::string text;
  Binding binding = Binding::kPrimary;
  bool number = false;       ///< a Python number, not a tensor
  bool strided = false;      ///< may not be dense row-major
  bool alias = false;        ///< may share memory with an argument of forward()
  std::map<int, int> reads;  ///< variables in the text, and how often: filled in by the emitter
};

/// A call or a name: `text` binds tightest and is a new dense tensor.
[[nodiscard]] inline Term call_term(std::string text) { return Term{std::move(text)}; }
/// `text` with brackets unless it binds at least as tightly as `least`.
[[nodiscard]] std::string bracket(const Term& term, Binding least);
/// A Python literal: 1e-05, float('inf'), 2.0.
[[nodiscard]] std::string literal(double value);
/// "(0, 2)", "(1,)"
[[nodiscard]] std::string tuple(std::span<const int64_t> values);
/// "2, 3", the arguments of reshape and the like; "()" for none.
[[nodiscard]] std::string extents(std::span<const int64_t> values);
/// "3" where all are equal, else as tuple().
[[nodiscard]] std::string one_or_tuple(std::span<const int64_t> values);

/// Helpers that emit_pytorch() defines where a text calls them.
inline constexpr std::string_view kF8Product = "_f8_product(", kI8Product = "_i8_product(";

/// A node to be written, for one workload.
class Site {
 public:
  Site(const task::Graph& graph, const task::Node& node, std::vector<Term> operands,
       const task::Bindings& bindings)
      : graph_(graph), node_(node), operands_(std::move(operands)), bindings_(bindings) {}

  [[nodiscard]] const task::Node& node() const { return node_; }
  [[nodiscard]] size_t size() const { return operands_.size(); }
  [[nodiscard]] const Term& operand(size_t i) const { return operands_[i]; }
  /// The text of operand i as an argument of a call; a number stays one.
  [[nodiscard]] const std::string& argument(size_t i) const { return operands_[i].text; }
  /// The same as a tensor even where it is a number.
  [[nodiscard]] std::string tensor(size_t i) const;
  /// The same in floating point: PyTorch takes integers in few functions that give floats.
  [[nodiscard]] std::string real(size_t i) const;
  /// Operand i in the result's type, for functions that promote nothing.
  [[nodiscard]] Term in_result_type(size_t i) const;
  /// Operand i in the result's type where PyTorch would not promote `operands` to it by itself.
  [[nodiscard]] Term promoted(size_t i, std::span<const size_t> operands) const;
  [[nodiscard]] const task::TensorType& type(size_t i) const { return graph_.node(node_.operands[i]).type; }
  /// Operand i before it was cast to the type that it has, where nothing but a transposition was done to it besides.
  struct Kept {
    task::DType dtype;
    std::string text;
  };
  [[nodiscard]] std::optional<Kept> kept(size_t i) const;
  [[nodiscard]] int rank(size_t i) const { return static_cast<int>(type(i).dims.size()); }
  /// The operand bound to a parameter, if it was given.
  [[nodiscard]] std::optional<size_t> find(std::string_view parameter) const;
  /// ", name=text" for an optional tensor that was given, else empty.
  [[nodiscard]] std::string optional_tensor(std::string_view parameter, std::string_view keyword) const;

  [[nodiscard]] bool has(std::string_view key) const { return node_.attrs.contains(key); }
  [[nodiscard]] bool flag(std::string_view key) const;
  [[nodiscard]] std::string word(std::string_view key) const;
  [[nodiscard]] double number(std::string_view key) const;
  /// Integers of an attribute, whatever form it has: int, ints, dim or dims (evaluated).
  [[nodiscard]] std::vector<int64_t> integers(std::string_view key) const;
  [[nodiscard]] int64_t integer(std::string_view key) const;
  /// Concrete shapes.
  [[nodiscard]] std::vector<int64_t> shape(size_t i) const;
  [[nodiscard]] std::vector<int64_t> result_shape() const;

  /// The axis named by an attribute as a user would say it: -1 for the last.
  [[nodiscard]] int64_t axis(std::string_view key, size_t of = 0) const;
  /// ", key=value", empty where the value is PyTorch's own default.
  [[nodiscard]] std::string keyword(std::string_view key, double fallback) const;
  /// The same for integers: one number where all are equal, else a tuple.
  [[nodiscard]] std::string keyword_ints(std::string_view key, int64_t fallback) const;

 private:
  [[nodiscard]] std::vector<int64_t> evaluate(const task::Dims& dims) const;
  const task::Graph& graph_;
  const task::Node& node_;
  std::vector<Term> operands_;
  const task::Bindings& bindings_;
};

/// ", dim=-1, keepdim=True" from attributes axis and keepdims; nothing for all axes where that is the
/// function's default.
[[nodiscard]] std::string reduced(const Site& site, bool all_is_default = true);

/// kUnavailable, for a form of the operation that PyTorch does not have.
[[nodiscard]] tl::unexpected<Error> no_form(const Site& site, std::string_view reason);

/// One surface operation. `detail` is the writer's own: a function's name, an operator. Where a call
/// has several results, each a node, `parts` names them as members of what the text gives.
struct WriterRow {
  std::string_view op;
  Result<Term> (*write)(const Site&, std::string_view detail);
  std::string_view detail{};
  std::span<const std::string_view> parts{};
};

[[nodiscard]] std::span<const WriterRow> elementwise_writers();
[[nodiscard]] std::span<const WriterRow> activation_writers();
[[nodiscard]] std::span<const WriterRow> reduction_writers();
[[nodiscard]] std::span<const WriterRow> norm_writers();
[[nodiscard]] std::span<const WriterRow> product_writers();
[[nodiscard]] std::span<const WriterRow> window_writers();
[[nodiscard]] std::span<const WriterRow> loss_writers();
[[nodiscard]] std::span<const WriterRow> shape_writers();
[[nodiscard]] std::span<const WriterRow> index_writers();
/// Null where the operation has no writer.
[[nodiscard]] const WriterRow* find_writer(std::string_view op);

}  // namespace hone::evaluate
