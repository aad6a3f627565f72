// Sums of products with their scales: what dots and convolutions share, and the parts of a dot that
// is streamed along its contracted index. Thread-safe apart from the pools.
#pragma once
#include <string>

#include "hone/evaluate/oracle/attributes.h"
#include "hone/evaluate/oracle/kernels/kernels.h"
#include "hone/evaluate/oracle/step.h"

namespace hone::evaluate {

/// How products are formed under an arithmetic.
struct ProductRules {
  bool f32 = false;                                 ///< multiply and add in fp32
  bool cut = false;                                 ///< in fp32: as matrix units sum, which is how factors of 16 bits are multiplied
  bool bytes = false;                               ///< in fp32: as matrix units sum products of two floats of one byte
  GemmOperand::As operands = GemmOperand::kPlain;   ///< rounding of the operands
  bool f16 = false;                                 ///< operands are to be rounded to f16 beforehand
  const Summation* summation = nullptr;             ///< forms the sums, where a test has put one
};
[[nodiscard]] ProductRules product_rules(const Step& step);

/// Terms that one running sum of a dot takes in fp32. Convolutions have one sum whatever its length.
inline constexpr int64_t kLongestRun = 4096;

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
/// Puts the result's own rounding under its scales. Call once, after all products.
void finish_products(const Step& step, const Fresh& out);

/// A contracted index and its length. '\0': there is none.
struct Contracted {
  char letter = '\0';
  int64_t length = 1;
};
[[nodiscard]] Contracted longest_contracted(const EinsumSpec& spec, const Box& a, const Box& b);
/// Cuts an operand's box to `length` from `first` on along a letter, if it has the letter.
[[nodiscard]] Box cut_along(char letter, int64_t first, int64_t length, Box box, const std::string& letters);

/// A dot's result while products are added. In fp32 a running sum ends after kLongestRun terms; the
/// sums of a longer contraction are added one after another.
class DotSums {
 public:
  explicit DotSums(const Step& step) : step_(step), run_(zero_products(step)) {}
  /// Adds the products of parts of the operands: boxes that differ along contracted letters only.
  void add(const Tensor& a, const Tensor& b);
  /// The result; call once.
  [[nodiscard]] Fresh finish();

 private:
  void end_run();

  const Step& step_;
  Fresh run_, total_;   ///< total_ holds memory once a run has ended
  int64_t terms_ = 0;   ///< of the run
};

/// A dense tensor that is about to be rounded: with scales of at least `units` of each value. `t` itself
/// for 0 units.
[[nodiscard]] Tensor with_rounding(const Tensor& t, double units, Pool& pool);

/// A dense copy of the values, rounded to f16; scales are dropped.
[[nodiscard]] Tensor rounded_to_f16(const Tensor& t, Pool& pool);

}  // namespace hone::evaluate
