// Evaluation, substitution and the symbols of an integer expression.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "hone/task/language/int_expr_node.h"

namespace hone::task {
namespace {

using ExprNode = IntExpr::Node;
using Evaluation = tl::expected<int64_t, std::string>;  // the error: what went wrong
__extension__ using Wide = __int128;

Evaluation eval(const ExprNode& node, const Bindings& values);

tl::unexpected<std::string> overflow() {
  return tl::unexpected<std::string>("the result does not fit 64 bits");
}

/// Sums in 128 bits, so that "A*C - B*C" works where only the difference fits.
Evaluation eval_sum(const ExprNode& node, const Bindings& values) {
  Wide sum = 0;
  for (const ExprNode::Term& term : node.terms) {
    Wide product = term.coefficient;
    for (const ExprNode::Ptr& factor : term.factors) {
      const Evaluation value = eval(*factor, values);
      if (!value) return value;
      if (__builtin_mul_overflow(product, Wide{*value}, &product)) return overflow();
    }
    if (__builtin_add_overflow(sum, product, &sum)) return overflow();
  }
  if (sum < std::numeric_limits<int64_t>::min() || sum > std::numeric_limits<int64_t>::max())
    return overflow();
  return static_cast<int64_t>(sum);
}

/// The operations that look at their first argument before the others.
Evaluation eval_lazy(const ExprNode& node, const Bindings& values) {
  const Evaluation first = eval(ExprNode::of(node.args[0]), values);
  if (!first) return first;
  if (node.op == IntOp::kSelect) return eval(ExprNode::of(node.args[*first != 0 ? 1 : 2]), values);
  if (node.op == IntOp::kAnd && *first == 0) return 0;
  if (node.op == IntOp::kOr && *first != 0) return 1;
  const Evaluation second = eval(ExprNode::of(node.args[1]), values);
  if (!second) return second;
  return *second != 0 ? 1 : 0;
}

Evaluation eval(const ExprNode& node, const Bindings& values) {
  switch (node.op) {
    case IntOp::kConstant:
      return node.value;
    case IntOp::kSum:
      return eval_sum(node, values);
    case IntOp::kSymbol: {
      const auto it = values.find(node.name);
      if (it == values.end()) return tl::unexpected<std::string>(fmt::format("'{}' has no value", node.name));
      return it->second;
    }
    case IntOp::kAnd:
    case IntOp::kOr:
    case IntOp::kSelect:
      return eval_lazy(node, values);
    default:
      break;
  }
  std::vector<int64_t> args;
  for (const IntExpr& arg : node.args) {
    const Evaluation value = eval(ExprNode::of(arg), values);
    if (!value) return value;
    args.push_back(*value);
  }
  const int64_t a = args[0];
  const int64_t b = args.size() > 1 ? args[1] : 0;
  int64_t result = 0;
  bool fits = true;
  switch (node.op) {
    case IntOp::kFloorDiv:
    case IntOp::kMod:
    case IntOp::kCeilDiv:
      if (b == 0)
        return tl::unexpected<std::string>(fmt::format("'{}' is zero and divides", node.args[1].to_string()));
      fits = node.op == IntOp::kMod        ? checked_mod(a, b, result)
             : node.op == IntOp::kFloorDiv ? checked_floor_div(a, b, result)
                                           : checked_ceil_div(a, b, result);
      break;
    case IntOp::kMin:
      result = *std::min_element(args.begin(), args.end());
      break;
    case IntOp::kMax:
      result = *std::max_element(args.begin(), args.end());
      break;
    case IntOp::kAbs:
      fits = !__builtin_sub_overflow(int64_t{0}, a, &result);
      result = a < 0 ? result : a;
      break;
    case IntOp::kNextPower2:
      fits = checked_next_power_of_2(a, result);
      break;
    case IntOp::kEq:
      result = a == b;
      break;
    case IntOp::kNe:
      result = a != b;
      break;
    case IntOp::kLt:
      result = a < b;
      break;
    case IntOp::kLe:
      result = a <= b;
      break;
    case IntOp::kGt:
      result = a > b;
      break;
    case IntOp::kGe:
      result = a >= b;
      break;
    case IntOp::kNot:
      result = a == 0;
      break;
    case IntOp::kWideAdd:
      fits = !__builtin_add_overflow(a, b, &result);
      break;
    case IntOp::kWideMul:
      fits = !__builtin_mul_overflow(a, b, &result);
      break;
    default:
      HONE_CHECK(false, "operation of an integer expression");
  }
  if (!fits) return overflow();
  return result;
}

void collect(const ExprNode& node, std::set<std::string>& names) {
  if (node.op == IntOp::kSymbol) names.insert(node.name);
  for (const ExprNode::Term& term : node.terms)
    for (const ExprNode::Ptr& factor : term.factors) collect(*factor, names);
  for (const IntExpr& arg : node.args) collect(ExprNode::of(arg), names);
}

}  // namespace

Result<int64_t> IntExpr::eval(const Bindings& values) const {
  const Evaluation value = task::eval(*node_, values);
  if (!value) return fail(ErrorCode::kInput, fmt::format("{} in '{}'", value.error(), to_string()));
  return *value;
}

std::set<std::string> IntExpr::symbols() const {
  std::set<std::string> names;
  collect(*node_, names);
  return names;
}

IntExpr IntExpr::substitute(const std::map<std::string, IntExpr, std::less<>>& with) const {
  const ExprNode& node = *node_;
  if (node.op == IntOp::kConstant) return *this;
  if (node.op == IntOp::kSymbol) {
    const auto it = with.find(node.name);
    return it == with.end() ? *this : it->second;
  }
  if (node.op == IntOp::kSum) {
    IntExpr sum = 0;
    for (const ExprNode::Term& term : node.terms) {
      IntExpr product = term.coefficient;
      for (const ExprNode::Ptr& factor : term.factors) product = product * ExprNode::wrap(factor).substitute(with);
      sum = sum + product;
    }
    return sum;
  }
  std::vector<IntExpr> args;
  for (const IntExpr& arg : node.args) args.push_back(arg.substitute(with));
  switch (node.op) {
    case IntOp::kFloorDiv:
      return floor_div(args[0], args[1]);
    case IntOp::kMod:
      return mod(args[0], args[1]);
    case IntOp::kCeilDiv:
      return ceil_div(args[0], args[1]);
    case IntOp::kMin:
    case IntOp::kMax:
      return int_extreme(node.op, std::move(args));
    case IntOp::kAbs:
      return int_abs(args[0]);
    case IntOp::kNextPower2:
      return int_next_power_of_2(args[0]);
    case IntOp::kSelect:
      return int_select(args[0], args[1], args[2]);
    case IntOp::kAnd:
      return int_and(args[0], args[1]);
    case IntOp::kOr:
      return int_or(args[0], args[1]);
    case IntOp::kNot:
      return int_not(args[0]);
    case IntOp::kWideAdd:
      return args[0] + args[1];
    case IntOp::kWideMul:
      return args[0] * args[1];
    default:
      return int_compare(node.op, args[0], args[1]);
  }
}

}  // namespace hone::task
