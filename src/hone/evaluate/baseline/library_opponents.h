// Vendor libraries as opponents: OpenBLAS and oneDNN, where they are installed and have the task as one
// call. They live in the same jailed runner as kernels, under the same clock, on the same buffers.
#pragma once
#include <vector>

#include "hone/evaluate/evaluator.h"

namespace hone::evaluate {

/// "openblas" and "onednn". Whether the library is there and has the task shows when the evaluator starts
/// one; else it is absent with the reason. Before it plays, its answer on fresh inputs passes the gate.
/// `threads` 0: all that we may run on.
[[nodiscard]] std::vector<Opponent> library_opponents(const task::Task& task, int threads);

}  // namespace hone::evaluate
