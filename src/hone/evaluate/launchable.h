// Whether a kernel's launches can be made at all shapes that it admits, asked of its plan alone: for an emulator, which runs small
// shapes only, and for cards, whose hidden shapes meet a grid's end by chance. Pure; deterministic in the seed.
#pragma once
#include <cstdint>
#include <string>

#include "hone/kernel/kernel.h"
#include "hone/task/task.h"

namespace hone::evaluate {

/// Why not: a launch that has more blocks along an axis than any card takes, where one symbol is as long as tensors of `most_elements`
/// allow and the others are 1, or small. Empty where none is found, and for kernels whose launches are no card's.
[[nodiscard]] std::string unlaunchable(const kernel::Kernel& kernel, const task::Task& task, const kernel::Limits& limits,
                                       int64_t most_elements, uint64_t seed);

/// Whether the grids of all its launches grow with the shape beyond any device, whose multiprocessors they do not ask for: their blocks
/// cannot count on being there together. False for a grid that is fixed, or as large as the device makes it.
[[nodiscard]] bool grows(const kernel::Kernel& kernel, const task::Task& task, const kernel::Limits& limits);

}  // namespace hone::evaluate
