// Comparison of answers that do not lie in one buffer: the gate's own, for outputs in memory and for
// the degenerate answers that a task is tested with. Thread-safe.
#pragma once
#include <functional>
#include <span>

#include "hone/evaluate/verify/gate.h"

namespace hone::evaluate {

/// Fills `found` with consecutive elements of the answer: from `position` of box number `box`, which
/// is element `flat` of the output. Called from several threads.
using FoundValues =
    std::function<void(int64_t box, int64_t position, int64_t flat, std::span<double> found)>;

[[nodiscard]] OutputError compare_found(const task::ConcreteGraph& graph, int output,
                                        const Reference& reference, const FoundValues& found,
                                        int threads);

}  // namespace hone::evaluate
