// Many calls in one batch, without a clock: whoever counts its calls and is wrong now and then has time to be, which a batch of
// a few milliseconds may not give it.
#pragma once
#include "hone/base/random.h"
#include "hone/evaluate/measure/batch.h"
#include "hone/evaluate/measure/workload.h"

namespace hone::evaluate {

/// As many calls as there are slots for, up to some hundreds, on new inputs; so many of them judged, by lot, that garbage in a
/// small share is found as a promotion promises. `call_ns`: what one takes. Counts in `counted`.
[[nodiscard]] Verdict check_long_batch(Playing& play, Player& player, double call_ns, Spent& spent, base::Rng& rng, Timed& counted);

}  // namespace hone::evaluate
