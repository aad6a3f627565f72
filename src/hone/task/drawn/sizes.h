// The extents of a drawn task at full, small and tiny. Integers only; a model of our own of bytes and arithmetic, that
// no change of hone's cost model can move.
#pragma once
#include "hone/task/drawn/sketch.h"

namespace hone::task::drawn {

/// Gives every symbol its three numbers: `full` within the time drawn, 4 GiB and 2e13 operations, `small` and `tiny` as
/// tasks/README.md says.
void give_sizes(Sketch& sketch);

}  // namespace hone::task::drawn
