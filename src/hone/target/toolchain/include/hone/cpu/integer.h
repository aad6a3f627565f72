// Index arithmetic for launch plans and loops, in 64-bit integers. Divisors are positive.
#pragma once
#include <stdint.h>

namespace hone {

/// Division rounding towards minus infinity, and its remainder in [0, b).
constexpr int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }
constexpr int64_t floor_mod(int64_t a, int64_t b) { return a % b + (a % b < 0 ? b : 0); }

/// Division rounding towards plus infinity.
constexpr int64_t ceil_div(int64_t a, int64_t b) { return a / b + (a % b > 0 ? 1 : 0); }

/// The smallest multiple of b that is not below a.
constexpr int64_t align(int64_t a, int64_t b) { return ceil_div(a, b) * b; }

}  // namespace hone

// Under the names that a plan's expressions have in generated code. Divisors may be negative there; a
// division by zero gives 0, since the evaluator refuses such a plan before anything runs.
constexpr int64_t hone_floor_div(int64_t a, int64_t b) { return b == 0 ? 0 : a / b - ((a % b != 0) & ((a % b < 0) != (b < 0))); }
constexpr int64_t hone_mod(int64_t a, int64_t b) { return b == 0 ? 0 : a - hone_floor_div(a, b) * b; }
constexpr int64_t hone_ceil_div(int64_t a, int64_t b) { return -hone_floor_div(-a, b); }
constexpr int64_t hone_min(int64_t a, int64_t b) { return a < b ? a : b; }
constexpr int64_t hone_max(int64_t a, int64_t b) { return a > b ? a : b; }
constexpr int64_t hone_abs(int64_t a) { return a < 0 ? -a : a; }
