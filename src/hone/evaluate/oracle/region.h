// Pull-back of boxes: which region of an operand a region of a result needs. Bounding boxes only: a
// little too much is a waste, too little would be wrong. Pure; thread-safe.
#pragma once
#include "hone/evaluate/oracle/box.h"

namespace hone::evaluate {

/// The box of operand number `operand` of node `id` that `result` (a box of the node) is computed
/// from. May be empty: a concatenation's or padding's far side.
[[nodiscard]] Box operand_box(const task::ConcreteGraph& graph, int id, size_t operand,
                              const Box& result);

/// Rough work a result element costs: 1 for element-wise operations and for reading an input, the
/// window for pooling, a sixteenth of a unit for each product of a contraction. What reductions do
/// is counted with their operands' elements.
[[nodiscard]] double work_per_element(const task::ConcreteGraph& graph, int id);

}  // namespace hone::evaluate
