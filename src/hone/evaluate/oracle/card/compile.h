// Writes the program by which a card does one of the graph's reductions (program.inc, reduce.cu): the element-wise
// operations and views between its operand and the inputs, or results that the host gives. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "hone/evaluate/oracle/step.h"

namespace hone::evaluate {

namespace card {
#include "hone/evaluate/oracle/card/program.inc"
}  // namespace card

struct CompiledReduction {
  card::Program program;
  std::vector<int> inputs;  ///< of the graph, in declared order: those that the program reads, by its own numbers
  std::vector<int> given;   ///< nodes whose whole results, values and then scales, lie one after another in what it is given
};

/// The sum, maximum or minimum that node `id` is, over `box` of its operand: the whole, or a part of it. Scales of exact nodes are
/// left out. Nothing where a card does not do it: other reductions, operands that take more than element-wise operations, views and
/// results of a million elements, views that are no affine function of the coordinates, arithmetic of reduced tracks.
[[nodiscard]] std::optional<CompiledReduction> compile_reduction(const task::ConcreteGraph& graph, std::span<const NodeFacts> facts, int id,
                                                                 const Box& box, Arithmetic arithmetic, bool want_scale);

}  // namespace hone::evaluate
