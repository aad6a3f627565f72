// What kind of mistake wrong elements of an output look like: a tail, one block, one thread's share, swapped axes, an
// answer from before. For people and models who are to mend a kernel. Pure.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "hone/evaluate/computed_instead.h"
#include "hone/task/task.h"

namespace hone::evaluate {

/// An output as it should be and as it was found; row-major.
struct WrongOutput {
  task::Shape shape;
  std::vector<double> expected, found;
  std::vector<bool> wrong;          ///< which elements differ by more than they may
  std::vector<std::vector<double>> before;   ///< what other calls on other inputs should have answered
  std::optional<Instead> instead = std::nullopt;  ///< what was computed instead, where that is known: better than what it looks like
};

/// The same without a number: "only what is left over at the end of the last axis: a tail". Names no extents, places or values, so that it
/// may be said of what was drawn in secret.
[[nodiscard]] std::string looks_like(const WrongOutput& output);

/// "9 of 37 elements; only the last 5 along the last axis, behind a multiple of 32 (a tail)", with some elements, in lines.
[[nodiscard]] std::string kind_of_error(const WrongOutput& output);

}  // namespace hone::evaluate
