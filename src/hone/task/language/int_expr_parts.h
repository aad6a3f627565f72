// What an integer expression tells apart: the conditions inside it, and the numbers that it compares with. For whoever looks
// for values of its symbols on both sides of each. Pure.
#pragma once
#include <set>
#include <vector>

#include "hone/task/language/int_expr.h"

namespace hone::task {

/// Conditions that hold for some values of the symbols and not for others: each comparison inside, and whether its sides are
/// equal or neighbours; divisibility, where there is a quotient or a remainder; which argument is the least or the largest.
[[nodiscard]] std::vector<IntExpr> distinctions(const IntExpr& expression);

/// Every number in it.
[[nodiscard]] std::set<int64_t> numbers_in(const IntExpr& expression);

}  // namespace hone::task
