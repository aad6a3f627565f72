// Integer expressions as Python, for code that leaves hone. Pure.
#pragma once
#include <string>

#include "hone/task/language/int_expr.h"

namespace hone::task {

/// A Python expression over ints of the same names, with the same value wherever `expression` has one; Python's
/// ints do not overflow, and division by zero raises ZeroDivisionError.
[[nodiscard]] std::string to_python(const IntExpr& expression);

}  // namespace hone::task
