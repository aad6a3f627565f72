// Sums of products with their scales: what dots and convolutions share, and the parts of a dot that
// is streamed along its contracted index. Thread-safe apart from the pools.
#pragma once
#include "hone/evaluate/oracle/kernels/kernels.h"
#include "hone/evaluate/oracle/step.h"

namespace hone::evaluate {

/// How products are formed under an arithmetic.
struct ProductRules {
  bool f32 = false;                                 ///< multiply and add in fp32
  GemmOperand::As operands = GemmOperand::kPlain;   ///< rounding of the operands
  bool f16 = false;                                 ///< operands are to be rounded to f16 beforehand
};
[[nodiscard]] ProductRules product_rules(const Step& step);

/// An operand as a matrix: element (o, k) at [o * outer + k * contracted]; scale null where exact.
struct Matrix {
  const double* value;
  const double* scale;
  int64_t outer, contracted;
};

/// c(i, j) += sum over k of a(i, k) b(j, k), values and, unless null, scales.
struct Product {
  int64_t m, n, depth;
  Matrix a, b;
  double* value;
  double* scale;
  int64_t c_row, c_column;
};
void accumulate_product(const ProductRules& rules, const Product& product);

/// Memory for the step's result, zeroed.
[[nodiscard]] Fresh zero_products(const Step& step);
/// Adds the products of parts of a dot's operands: boxes that differ along contracted letters only.
void accumulate_dot(const Step& step, const Tensor& a, const Tensor& b, const Fresh& out);
/// Puts the result's own rounding under its scales. Call once, after all products.
void finish_products(const Step& step, const Fresh& out);

/// A dense copy of the values, rounded to f16; scales are dropped.
[[nodiscard]] Tensor rounded_to_f16(const Tensor& t, Pool& pool);

}  // namespace hone::evaluate
