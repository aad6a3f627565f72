// Benches that share their work out, over cards or over days, as one. Pure.
#pragma once
#include <vector>

#include "hone/face/bench/state.h"

namespace hone::face::bench {

/// The tasks of all of them by name; of a task that several have done, the row of the bench that changed last. The oldest
/// says what was asked; the commands of all are named. kInput where device, toolchain, PyTorch, track, workloads or opponents
/// differ: such rows make no table. At least one state is given.
[[nodiscard]] Result<State> joined(std::vector<State> states);

}  // namespace hone::face::bench
