// Integer arithmetic under the names that a plan's expressions have in generated code (IntExpr::to_cpp).
// Divisors may be negative; a division by zero gives 0, since such a plan is refused before anything runs.
#pragma once
#include <stdint.h>

constexpr int64_t hone_floor_div(int64_t a, int64_t b) { return b == 0 ? 0 : a / b - ((a % b != 0) & ((a % b < 0) != (b < 0))); }
constexpr int64_t hone_mod(int64_t a, int64_t b) { return b == 0 ? 0 : a - hone_floor_div(a, b) * b; }
constexpr int64_t hone_ceil_div(int64_t a, int64_t b) { return -hone_floor_div(-a, b); }
constexpr int64_t hone_min(int64_t a, int64_t b) { return a < b ? a : b; }
constexpr int64_t hone_max(int64_t a, int64_t b) { return a > b ? a : b; }
constexpr int64_t hone_abs(int64_t a) { return a < 0 ? -a : a; }
