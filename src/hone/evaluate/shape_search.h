// Shapes to try a kernel on: drawn at random, and looked for where its plan tells shapes apart. What a plan can tell apart
// (conditions in `requires` and `when`, quotients and comparisons in grids and arguments, numbers in the source) is tried on
// both sides. Pure; deterministic in the seed.
#pragma once
#include <span>
#include <vector>

#include "hone/base/random.h"
#include "hone/kernel/kernel.h"
#include "hone/task/task.h"

namespace hone::evaluate {

/// From 1 to `most`: all magnitudes, odd numbers, primes, powers of two and their neighbours; or multiples of powers of two from 4 on.
[[nodiscard]] int64_t random_extent(base::Rng& rng, int64_t most, bool aligned);

/// Whether the task takes the shape, with tensors of so many elements at most and so many operations.
[[nodiscard]] bool is_small(const task::Task& task, const task::Bindings& bindings, int64_t most_elements, double most_operations);

struct ShapeSearch {
  size_t most = 4;                ///< shapes
  /// So many even where nothing new is found, and one for each number of plan and source and each symbol, up to `most`: beside the
  /// number, far beyond it, or at random.
  size_t least = 0;
  size_t whole = 0;               ///< so many more of them, and first: each symbol a multiple of numbers that plan and source name
  bool ones = false;              ///< each symbol is 1 somewhere and elsewhere more, even where the plan says nothing of it
  int64_t most_elements = 1 << 18;
  double most_operations = 0x1p24;
};
/// Small shapes that the kernel admits and that show it from sides which `tried` does not: a condition that holds nowhere
/// there, or everywhere, another set of launches. Fewer than `most` where no more are found.
[[nodiscard]] std::vector<task::Bindings> untried_sides(const kernel::Kernel& kernel, const task::Task& task, const kernel::Limits& limits,
                                                        std::span<const task::Bindings> tried, uint64_t seed, const ShapeSearch& search);

}  // namespace hone::evaluate
