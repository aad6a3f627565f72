// Integer arithmetic of launch plans. Division by zero gives zero: a plan that divides by zero has no
// meaning, and what becomes of it fails the checks on its extents.
#pragma once
#include <stdint.h>

namespace runtime {

constexpr int64_t hone_floor_div(int64_t a, int64_t b) {
  return b == 0 ? 0 : a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}
constexpr int64_t hone_mod(int64_t a, int64_t b) { return b == 0 ? 0 : a - hone_floor_div(a, b) * b; }
constexpr int64_t hone_ceil_div(int64_t a, int64_t b) { return -hone_floor_div(-a, b); }
constexpr int64_t hone_min(int64_t a, int64_t b) { return a < b ? a : b; }
constexpr int64_t hone_max(int64_t a, int64_t b) { return a > b ? a : b; }
constexpr int64_t hone_abs(int64_t a) { return a < 0 ? -a : a; }

}  // namespace runtime
