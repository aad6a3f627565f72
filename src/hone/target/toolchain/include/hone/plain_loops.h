// What plain kernels (patterns/cpp/plain.cc, patterns/gpu/plain.cu) are made of, scalar and simple enough to be
// believed: the same text for CPUs and GPUs. Whoever includes it defines HONE_INLINE. No state; nothing fails.
#pragma once
#include "hone/whole.h"

namespace hone::plain {

using hone::to_odd;

/// Columns that a block takes at a time: accumulators for them stay in the first-level cache.
constexpr int64_t kColumns = 256;
/// Elements of a vector that a block takes at a time.
constexpr int64_t kElements = 4096;

HONE_INLINE constexpr int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
HONE_INLINE constexpr int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

/// The sum of term(0) ... term(n - 1) in eight running sums, which vectorise.
template <class Term>
HONE_INLINE double sum_of(int64_t n, Term term) {
  double s[8] = {};
  int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (int64_t lane = 0; lane < 8; ++lane) s[lane] += term(i + lane);
  for (; i < n; ++i) s[0] += term(i);
  return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
}

/// Remainder with the divisor's sign, and the quotient that goes with it.
HONE_INLINE double modulo(double a, double b) {
  const double rest = __builtin_fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
HONE_INLINE double floor_quotient(double a, double b) {
  const double q = __builtin_floor(a / b);
  const double rest = q == 0 ? a : __builtin_fma(-q, b, a);  // its sign tells whether the division rounded up
  if (__builtin_fabs(a) == __builtin_inf()) return __builtin_nan("");
  return rest != 0 && (rest < 0) != (b < 0) ? q - 1 : q;
}

/// A value as the integer type that holds it: truncated, held to the type's range; NaN is 0.
template <class T, class V>
HONE_INLINE T whole(V x) {
  constexpr int kBits = 8 * static_cast<int>(sizeof(T));
  constexpr int64_t kHigh = static_cast<int64_t>(~uint64_t{0} >> (65 - kBits)), kLow = -kHigh - 1;
  if (x != x) return 0;
  if (x <= static_cast<V>(kLow)) return static_cast<T>(kLow);
  if (x >= static_cast<V>(kHigh)) return static_cast<T>(kHigh);
  return static_cast<T>(x);
}

/// log(exp(a) + exp(b)) without overflow or underflow on the way.
HONE_INLINE double log_add_exp(double a, double b) {
  const double larger = a > b || a != a ? a : b;
  if (!(__builtin_fabs(larger) < __builtin_inf())) return b != b ? b : larger;
  return larger + __builtin_log1p(__builtin_exp(-__builtin_fabs(a - b)));
}

/// a before b in a sort: NaN counts as the largest.
template <class T>
HONE_INLINE bool below(T a, T b) {
  return b != b ? a == a : a < b;
}

/// Puts into `order` the indices of the n `keys` in sorted order. Stable: a merge sort, bottom up.
template <class T, class Before>
HONE_INLINE void sort_indices(int64_t n, const T* keys, int64_t* order, int64_t* scratch, Before before) {
  for (int64_t i = 0; i < n; ++i) order[i] = i;
  for (int64_t run = 1; run < n; run *= 2) {
    for (int64_t start = 0; start < n; start += 2 * run) {
      const int64_t middle = least(start + run, n), end = least(start + 2 * run, n);
      int64_t left = start, right = middle;
      for (int64_t i = start; i < end; ++i) {
        const bool take_right = left == middle || (right < end && before(keys[order[right]], keys[order[left]]));
        scratch[i] = take_right ? order[right++] : order[left++];
      }
    }
    for (int64_t i = 0; i < n; ++i) order[i] = scratch[i];
  }
}

}  // namespace hone::plain
