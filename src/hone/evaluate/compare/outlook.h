// What would tell two kernels apart that a comparison has not: more pairs, and about how much time that is at this noise, or nothing
// that time brings. For people and models. Pure.
#pragma once
#include <string>

#include "hone/evaluate/verdict.h"

namespace hone::evaluate {

/// One sentence or two, without a stop at the end; empty where it was decided. `seconds`: that the pairs of `result` took.
[[nodiscard]] std::string would_decide(const OpponentResult& result, double seconds);

}  // namespace hone::evaluate
