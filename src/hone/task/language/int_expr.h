// Integer expressions over named symbols: shapes in task files, grids, sizes and conditions in
// kernel headers. 64-bit, checked: overflow and division by zero are errors, never wrap-around.
// Values are immutable and cheap to copy; thread-safe.
//
// Grammar, loosest first:   a or b | a and b | not a | comparisons == != < <= > >= | + - | * / // % |
// unary - | calls | (…) | integer | name.   Division is floor division, % takes the divisor's sign.
// Calls: min(a, …) max(a, …) ceil_div(a, b) align(a, b) abs(a) select(cond, a, b) next_power_of_2(a). Truth is
// non-zero; `and`, `or` and `select` evaluate only what they need.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "hone/base/result.h"
#include "hone/task/types.h"

namespace hone::task {

class IntExpr {
 public:
  IntExpr() : IntExpr(0) {}
  IntExpr(int64_t value);  // NOLINT(google-explicit-constructor): literals are expressions
  [[nodiscard]] static IntExpr symbol(std::string name);
  /// Errors carry the column in the text and what was expected there.
  [[nodiscard]] static Result<IntExpr> parse(std::string_view text);

  /// Unbound symbols, overflow and division by zero are errors that name the expression.
  [[nodiscard]] Result<int64_t> eval(const Bindings& values) const;
  /// Names used, sorted.
  [[nodiscard]] std::set<std::string> symbols() const;
  [[nodiscard]] bool is_constant() const;
  /// The value of a constant expression; HONE_CHECKs that it is one.
  [[nodiscard]] int64_t constant() const;

  /// Operands and operators of its text: what printing, comparing and evaluating cost. At most 2^31.
  [[nodiscard]] size_t size() const;

  /// Replaces symbols by expressions; names that `with` does not hold stay.
  [[nodiscard]] IntExpr substitute(const std::map<std::string, IntExpr, std::less<>>& with) const;

  /// a / b where b divides a as a polynomial ("B*H*W" by "B*W" is "H"); takes b to be non-zero.
  [[nodiscard]] static std::optional<IntExpr> divide_exactly(const IntExpr& a, const IntExpr& b);
  /// True if no positive values of the symbols make a equal to b.
  [[nodiscard]] static bool never_equal(const IntExpr& a, const IntExpr& b);

  /// Canonical text without needless parentheses; parse(to_string()) is equal to *this.
  [[nodiscard]] std::string to_string() const;
  /// The same as a C++ expression over int64_t variables of the same names (hone_ceil_div and the
  /// like are in hone's device headers).
  [[nodiscard]] std::string to_cpp() const;

  /// Equal for all values, as far as folding, commutation and polynomial normalisation can show.
  friend bool operator==(const IntExpr& a, const IntExpr& b);

  friend IntExpr operator+(const IntExpr& a, const IntExpr& b);
  friend IntExpr operator-(const IntExpr& a, const IntExpr& b);
  friend IntExpr operator*(const IntExpr& a, const IntExpr& b);
  [[nodiscard]] static IntExpr floor_div(const IntExpr& a, const IntExpr& b);
  [[nodiscard]] static IntExpr mod(const IntExpr& a, const IntExpr& b);
  [[nodiscard]] static IntExpr ceil_div(const IntExpr& a, const IntExpr& b);
  [[nodiscard]] static IntExpr min(const IntExpr& a, const IntExpr& b);
  [[nodiscard]] static IntExpr max(const IntExpr& a, const IntExpr& b);

  struct Node;

 private:
  explicit IntExpr(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
  std::shared_ptr<const Node> node_;
};

}  // namespace hone::task
