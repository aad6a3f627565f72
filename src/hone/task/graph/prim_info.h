// What is known of an element-wise primitive, by its row of elementwise.h. Pure; immutable.
#pragma once
#include <string_view>

#include "hone/task/graph/graph.h"

namespace hone::task {

struct PrimInfo {
  enum Kind : uint8_t {
    kArithmetic,      ///< about an addition's time
    kDivision,
    kRoot,
    kRemainder,
    kTranscendental,
    kTruth,           ///< its result is bool
    kChoice,
    kConversion,
    kNoElements,      ///< not element-wise
  };
  enum Fact : uint16_t {
    kKeepsZero = 1,         ///< 0 for 0
    kWithinOne = 2,         ///< results lie in [-1, 1]
    kJumps = 4,             ///< not continuous: a last bit of an operand may move the result by much
    kPeriodic = 8,          ///< takes its operand modulo something first: as many digits as the operand has
    kToWhole = 16,          ///< rounds to a whole number, and leaves integers alone
    kTerms = 32,            ///< operands are the terms of a sum, or what is picked from: their sizes count, not their ratios
    kPoleAtZero = 64,       ///< infinite where its first operand is 0
    kNeverOverflows = 128,  ///< of numbers infinite at poles only
    kUnderflows = 256,      ///< a number's result may be too small for any type, and 0
  };

  std::string_view name;
  int operands = 0;
  Kind kind = kNoElements;
  /// Units of one fp32 rounding that an honest fp32 implementation may lose: 1 for arithmetic, 2 where a division may be a product
  /// with a reciprocal, twice the units in the last place that CUDA documents for its fp32 library functions; 0: exact.
  int roundings = 1;
  int facts = 0;
  double (*value)(double x, double y) = nullptr;  ///< for folding; null: left to run time

  [[nodiscard]] bool is(Fact fact) const { return (facts & fact) != 0; }
};

/// The row of a primitive; of one that is not element-wise a row that claims nothing.
[[nodiscard]] const PrimInfo& info_of(Prim op);

}  // namespace hone::task
