// The inside of IntExpr, shared by its parser, printer and arithmetic; nobody else includes it.
// Every expression is kept in canonical form: a sum of terms, each a coefficient times a sorted
// product of atoms (symbols and operations that are no polynomials). Nodes are immutable.
#pragma once
#include <compare>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hone/task/language/int_expr.h"

namespace hone::task {

enum class IntOp : uint8_t {
  kConstant,
  kSymbol,
  kSum,
  kFloorDiv,
  kMod,
  kCeilDiv,
  kMin,
  kMax,
  kAbs,
  kSelect,
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kAnd,
  kOr,
  kNot,
  kWideAdd,
  kWideMul,  ///< a sum or product whose coefficients leave 64 bits: evaluates to an error
  kNextPower2,
};

struct IntExpr::Node {
  using Ptr = std::shared_ptr<const Node>;
  struct Term {
    int64_t coefficient = 0;
    std::vector<Ptr> factors;  ///< sorted; none in the constant term
  };

  IntOp op = IntOp::kConstant;
  int64_t value = 0;
  std::string name{};
  std::vector<Term> terms{};    ///< kSum: sorted, at least one, no zero coefficient
  std::vector<IntExpr> args{};  ///< the others
  size_t size = 1;              ///< of the tree that this node is printed as; shared parts count again

  static const Node& of(const IntExpr& e) { return *e.node_; }
  static const Ptr& pointer(const IntExpr& e) { return e.node_; }
  static IntExpr wrap(Ptr node) { return IntExpr(std::move(node)); }
  static IntExpr make(IntOp op, std::vector<IntExpr> args);
  static IntExpr from_terms(std::vector<Term> terms);
  static std::vector<Term> terms_of(const IntExpr& e);
  /// A total order on structure: symbols by name, then the operations.
  static std::strong_ordering compare(const Node& a, const Node& b);
};

/// Folding constructors; arguments as in the grammar.
IntExpr int_compare(IntOp op, const IntExpr& a, const IntExpr& b);
IntExpr int_and(const IntExpr& a, const IntExpr& b);
IntExpr int_or(const IntExpr& a, const IntExpr& b);
IntExpr int_not(const IntExpr& a);
IntExpr int_abs(const IntExpr& a);
IntExpr int_next_power_of_2(const IntExpr& a);
IntExpr int_select(const IntExpr& condition, const IntExpr& a, const IntExpr& b);
IntExpr int_extreme(IntOp op, std::vector<IntExpr> args);

/// Floor division and its remainder; false where they overflow or b is 0.
bool checked_floor_div(int64_t a, int64_t b, int64_t& quotient);
bool checked_mod(int64_t a, int64_t b, int64_t& rest);
bool checked_ceil_div(int64_t a, int64_t b, int64_t& quotient);
/// The least power of two that is no less; 1 of what is not positive. False where it has no 64 bits.
bool checked_next_power_of_2(int64_t a, int64_t& power);

}  // namespace hone::task
