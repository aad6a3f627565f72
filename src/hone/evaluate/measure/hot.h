// Timing calls that find their tensors in the caches, each on inputs that nobody has seen and on outputs that hold no answer
// to them.
#pragma once
#include "hone/base/random.h"
#include "hone/evaluate/measure/batch.h"
#include "hone/evaluate/measure/workload.h"

namespace hone::evaluate {

/// Nanoseconds a call, of a batch; 0 where it could not be measured, or where its outputs are refused, which `verdict` says then.
[[nodiscard]] double hot_sample(Playing& play, Player& player, base::Rng& rng, Spent& spent, Verdict& verdict);

}  // namespace hone::evaluate
