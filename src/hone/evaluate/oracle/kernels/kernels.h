// Inner loops of the oracle over short contiguous runs of doubles: values and first-order scales.
// One table for each instruction set, built from the same source (kernels.inc) and chosen once by
// what the processor has. Pure; thread-safe. The scale rules are explained in
// docs/accuracy.md.
#pragma once
#include <cstdint>

#include "hone/task/graph/graph.h"

namespace hone::evaluate {

/// The unit that scales are counted in: one fp32 rounding.
inline constexpr double kUnit = 0x1p-24;
/// In units: the smallest normal fp32 number, which hardware may flush any result below to zero.
inline constexpr double kUnderflow = 0x1p-126 / kUnit;
/// A comparison whose operands are within this many times their combined scale may go either way.
inline constexpr double kAmbiguous = 16 * kUnit;

/// A matrix operand: element (o, k) at data[o * outer + k * contracted].
struct GemmOperand {
  enum As : uint8_t { kPlain, kMagnitude, kTf32, kBf16 };
  const double* data;
  int64_t outer, contracted;
  As as = kPlain;  ///< what is made of an element before it is multiplied
};

/// How the products of a matrix product are summed.
enum class GemmSums : uint8_t {
  kExact,     ///< in fp64
  kRounded,   ///< in fp32, one running sum (fused multiply-add where the processor has it)
  kCut,       ///< as matrix units do: kCutDepth products at a time are added to the running sum, which is cut to fp32 and not rounded
};
inline constexpr int64_t kCutDepth = 16;

inline constexpr int64_t kGemmScratch = int64_t{1} << 18;

struct Kernels {
  /// y = op(a); a and y may be the same array.
  void (*unary)(task::Prim op, int64_t n, const double* a, double* y);
  void (*binary)(task::Prim op, int64_t n, const double* a, const double* b, double* y);
  /// y = c ? a : b
  void (*select)(int64_t n, const double* c, const double* a, const double* b, double* y);

  /// s = scale of y = op(a) where sa is the scale of a; at least own * |y|.
  void (*unary_scale)(task::Prim op, int64_t n, const double* a, const double* sa, const double* y,
                      double own, double* s);
  void (*binary_scale)(task::Prim op, int64_t n, const double* a, const double* sa, const double* b,
                       const double* sb, const double* y, double own, double* s);
  void (*select_scale)(int64_t n, const double* c, const double* sc, const double* a,
                       const double* sa, const double* b, const double* sb, double* s);
  /// s = factor * |y|
  void (*magnitude)(int64_t n, const double* y, double factor, double* s);
  /// s = max(s, factor * |y| + kUnderflow): an operation's own rounding
  void (*at_least)(int64_t n, const double* y, double factor, double* s);
  /// s += factor * max(|y|, least): the rounding of a computed value to a narrower float whose smallest normal is `least`
  void (*narrowed)(int64_t n, const double* y, double factor, double least, double* s);

  /// s = the scale of x - m, which was s, where m is x's own largest or least element (less_extreme_scale())
  void (*less_extreme)(int64_t n, const double* x, const double* sx, const double* m, double* s);
  /// y and s, made of x, where x is lost (is_lost_number()): lost as well
  void (*keep_lost)(int64_t n, const double* x, const double* sx, double* y, double* s);

  /// y = (double)(float)y
  void (*round_f32)(int64_t n, double* y);

  /// Sum of a run: pairwise in fp64, or with every addition rounded to fp32 and pairwise over running
  /// sums of 128 terms (up to 512 in sums of more than 4,096; one running sum up to 256 terms).
  double (*sum)(int64_t n, const double* x, bool f32);
  double (*sum_magnitudes)(int64_t n, const double* x);
  double (*max)(int64_t n, const double* x);  ///< a NaN anywhere gives NaN
  double (*min)(int64_t n, const double* x);

  /// c[i * c_row + j * c_column] += sum over k of a(i, k) b(j, k); in fp32 c's element starts the running sum. `scratch` holds
  /// max(kGemmScratch, depth) doubles.
  void (*gemm)(int64_t m, int64_t n, int64_t depth, const GemmOperand& a, const GemmOperand& b,
               GemmSums sums, double* c, int64_t c_row, int64_t c_column, double* scratch);
};

/// For kernels asked for an operation they do not have: our own bug.
[[noreturn]] void no_such_kernel(task::Prim op);

/// The fastest table this processor can run.
[[nodiscard]] const Kernels& kernels();

}  // namespace hone::evaluate
