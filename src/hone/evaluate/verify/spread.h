// Scales for outputs of which the oracle's own say nothing, since roundings to 16 bits that a program's types ask for might, at worst, do
// as much as the answer: chains of products and norms in bf16. What they really do is tried: the program is evaluated several times
// with these roundings made, once as they are, then moved at random by as much, and how far its answers lie from the exact ones is the scale.
#pragma once
#include <vector>

#include "hone/evaluate/oracle/oracle.h"
#include "hone/task/task.h"

namespace hone::evaluate {

/// Whether roundings to 16 bits are what keeps the scales of `answers` (parts of an output) from telling: an answer an eighth off
/// everywhere would pass. Scales that are no numbers say nothing either. Never of fewer than kFewElements numbers, which show no spread.
[[nodiscard]] bool says_little(const task::ConcreteGraph& graph, const Oracle& oracle, int output, const std::vector<Answer>& answers);

/// Scales for these answers over these boxes, each element's by what the roundings did to it and to its neighbours: the mean square that
/// the gate allows at least is then four times that of the program as its types say. Never below those of the same program in fp32, and
/// those where an evaluation had no number: not judged. What is no number keeps its scale.
void scale_by_spread(const task::ConcreteGraph& graph, const Oracle& oracle, int output, const std::vector<Box>& boxes, std::vector<Answer>& answers,
                     int threads);

}  // namespace hone::evaluate
