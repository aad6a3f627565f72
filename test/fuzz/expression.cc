// Expressions of shapes and plans.
#include "fuzz.h"
#include "hone/task/language/int_expr.h"

namespace hone::task {
namespace {

HONE_FUZZ(expression) {
  if (input.size() > fuzz::kMostBytes) return;
  const auto expression = task::IntExpr::parse(input);
  if (!expression) return;
  const task::IntExpr& e = *expression;
  const auto again = task::IntExpr::parse(e.to_string());
  fuzz::require(again.has_value() && *again == e, "the text of an expression is that expression");
  const task::Bindings some{{"B", 5}, {"D", 7}}, ends{{"B", INT64_MIN}, {"D", -1}};
  const auto value = e.eval(some), read = again->eval(some);
  fuzz::require(value.has_value() == read.has_value() && (!value || *value == *read), "and has its value");
  static_cast<void>(e.eval(ends)), static_cast<void>(e.to_cpp()), static_cast<void>(e.size());
  const task::IntExpr b = task::IntExpr::symbol("B");
  const task::IntExpr larger = e.substitute({{"D", b + e}});
  static_cast<void>(task::IntExpr::divide_exactly(e * b, b)), static_cast<void>(task::IntExpr::never_equal(e, larger));
}

}  // namespace
}  // namespace hone::task
