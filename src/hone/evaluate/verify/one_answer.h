// Of which elements of an output only one answer is right, to the last bit: numbers that are only moved, exact ones that are rounded to 16 or 8
// bits, sums and products of two such that fp32 holds, and computed ones that are far from the middle between two floats of one byte. Pure.
#pragma once
#include "hone/evaluate/oracle/oracle.h"

namespace hone::evaluate {

class OneAnswer {
 public:
  OneAnswer(const task::ConcreteGraph& graph, task::Track track, int output);

  /// The node whose exact values and scales is_at() wants of the same box; -1: none.
  [[nodiscard]] int computed() const { return computed_; }
  /// Element `i` of a box, whose exact answer is `value`.
  [[nodiscard]] bool is_at(const Answer& computed, double value, size_t i) const;

 private:
  task::DType type_, computed_in_ = task::DType::kF32;
  bool everywhere_ = false, once_ = false;
  int computed_ = -1;
};

}  // namespace hone::evaluate
