// A call on nearly the inputs of a call before it: whoever keeps answers under a fingerprint of the inputs, and does not
// look at all of them, gives an old answer.
#pragma once
#include <optional>
#include <vector>

#include "hone/base/random.h"
#include "hone/evaluate/measure/batch.h"
#include "hone/evaluate/measure/workload.h"

namespace hone::evaluate {

/// Draws a slot's inputs as those of one of `slots` with some elements changed, here and there, and puts it just after that one:
/// some remember no more than one call. The slot; nothing where there is none that is free.
[[nodiscard]] std::optional<int> add_nearly_equal(Playing& play, std::vector<int>& slots, base::Rng& rng);

/// How many elements of each input such a call may have changed, for Stage::draw_near.
[[nodiscard]] int64_t changes_here_and_there(const Stage& stage);

/// What a verdict on such a call says.
[[nodiscard]] Verdict said_of_nearly_equal(Verdict verdict);

/// A batch of a call and of several that differ from it in one element of each input, or in a few, all judged on everything
/// that the gate compares. Accepted where there are no slots for it.
[[nodiscard]] Verdict check_nearly_equal(Playing& play, Player& player, Spent& spent, base::Rng& rng);

}  // namespace hone::evaluate
