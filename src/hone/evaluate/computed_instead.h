// What a kernel computed instead of its task: the oracle is asked again with one thing altered, as common mistakes alter it (the last
// elements of a reduction left out, two extents exchanged, an input read in another order), and that is said only where all that was
// found agrees with it. For people and models who are to mend a kernel. Pure, but for the clock that ends it.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hone/evaluate/oracle/oracle.h"
#include "hone/task/task.h"

namespace hone::evaluate {

/// In words: with numbers of this draw, and without, so that it may be said of what was drawn in secret.
struct Instead {
  std::string here, anywhere;
};

/// An output that is wrong: its data, dense, of its type and shape; which elements are wrong; all as they should be and as they are.
struct WrongValues {
  int output = 0;
  const void* data = nullptr;
  const std::vector<bool>& wrong;
  std::span<const double> expected, found;
};

/// `graph`: the task's at some bindings. `inputs`: whole, dense, in declared order. `bound`: what errors may be, as of wrong_elements() (verify/gate.h).
/// An alteration has to agree with everything by that measure and to leave a small part of the differences: where rounding is magnified without end, the
/// gate lets any value pass. Each try asks the oracle for the whole output; none begins after `until_ns` of base::system_clock(). Nothing: none agrees, or
/// the output is of indices.
[[nodiscard]] std::optional<Instead> computed_instead(const task::Task& task, const task::ConcreteGraph& graph, std::span<const TensorView> inputs, const WrongValues& seen,
                                                      double bound, int64_t until_ns);

}  // namespace hone::evaluate
