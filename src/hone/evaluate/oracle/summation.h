// How sums are formed, where the anchor's own ways are not wanted: the gate's tests stand candidates in
// with other orders and narrower accumulators. Implementations are pure and thread-safe.
#pragma once
#include <cstdint>

namespace hone::evaluate {

class Summation {
 public:
  virtual ~Summation() = default;
  /// Sum, or product, of x[0], x[stride], … x[(n - 1) * stride], all of them fp32 numbers.
  [[nodiscard]] virtual double fold(bool product, int64_t n, const double* x, int64_t stride) const = 0;
  /// Sum of n products.
  [[nodiscard]] virtual double dot(int64_t n, const double* a, int64_t a_stride, const double* b,
                                   int64_t b_stride) const = 0;
  /// y[i] = sum, or product, of x[0] to x[i].
  virtual void scan(bool product, int64_t n, const double* x, double* y) const = 0;
  /// y[i] = a[i] * y[i - 1] + b[i], y[0] = b[0].
  virtual void linear_scan(int64_t n, const double* a, const double* b, double* y) const = 0;
};

}  // namespace hone::evaluate
