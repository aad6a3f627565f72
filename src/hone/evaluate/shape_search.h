// Shapes to try a kernel on: drawn at random, and looked for where its plan tells shapes apart. What a plan can tell apart
// (conditions in `requires` and `when`, quotients and comparisons in grids and arguments, numbers in the source) is tried on
// both sides. Pure; deterministic in the seed.
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hone/base/random.h"
#include "hone/kernel/kernel.h"
#include "hone/task/task.h"

namespace hone::evaluate {

/// From 1 to `most`: all magnitudes, odd numbers, primes, powers of two and their neighbours, tiles' edges; or multiples of powers of
/// two from 4 on.
[[nodiscard]] int64_t random_extent(base::Rng& rng, int64_t most, bool aligned);

/// Whether the task takes the shape, with tensors of so many elements at most and so many operations; what is between inputs and outputs
/// (scores of an attention) may have `between` times the elements.
[[nodiscard]] bool is_small(const task::Task& task, const task::Bindings& bindings, int64_t most_elements, double most_operations, int64_t between = 1);

/// Whether a shape is one that may be tried.
using Fits = std::function<bool(const task::Bindings&)>;

struct Long {
  int64_t most;          ///< of the extent; what is found is half of the largest that fits, or more
  bool aligned = false;  ///< a multiple of 8, and the other extents of 4; else half of the time beside the edge of a tile
  bool alone = false;    ///< the other extents are 1 where that fits; else often
};
/// A shape in which one symbol is as large as fits, or nearly, and the others are small: few random ones are so, and what breaks
/// beyond a thousand rows or sixteen bits shows in no other. Nothing where none is found.
[[nodiscard]] std::optional<task::Bindings> long_in(const task::Task& task, const std::string& symbol, const Long& how,
                                                    const Fits& fits, base::Rng& rng);

/// At most five shapes at whose edges something may be left out: two in which each symbol is beside whole tiles (16 to 128; one more
/// in one of them and one less in the other), two that are workloads' but for one extent, by one, and one where two extents of an
/// output are equal that are not both symbols. Those are left out of which none is found that fits.
[[nodiscard]] std::vector<task::Bindings> edges(const task::Task& task, const Fits& fits, uint64_t seed);

/// Eight shapes in which each symbol has each extent from 1 to 8 once, where that fits: who counts on three columns, or on one more than rows,
/// counts on little, and of all magnitudes a random extent is seldom one of these.
[[nodiscard]] std::vector<task::Bindings> few_of_each(const task::Task& task, const Fits& fits, uint64_t seed);

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
