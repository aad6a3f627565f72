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

// What IntExpr::to_cpp writes.
constexpr int64_t hone_floor_div(int64_t a, int64_t b) { return hone::floor_div(a, b); }
constexpr int64_t hone_mod(int64_t a, int64_t b) { return hone::floor_mod(a, b); }
constexpr int64_t hone_ceil_div(int64_t a, int64_t b) { return hone::ceil_div(a, b); }
constexpr int64_t hone_min(int64_t a, int64_t b) { return a < b ? a : b; }
constexpr int64_t hone_max(int64_t a, int64_t b) { return a > b ? a : b; }
constexpr int64_t hone_abs(int64_t a) { return a < 0 ? -a : a; }
