// What a close look at an accepted kernel says of its speed, for an agent. Pure.
#pragma once
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "hone/evaluate/evaluator.h"
#include "hone/evaluate/verdict.h"
#include "hone/task/task.h"

namespace hone::face::mcp {

/// Times beside plain loops and the bound, a workload each, how far they are to be believed, and where a share of light is above 1 why that may be.
/// `bounds` (nanoseconds) and `light`: of each workload of `task`, as they are now.
[[nodiscard]] nlohmann::json speed_of(const evaluate::Screening& screening, const task::Task& task, const std::vector<double>& bounds, const std::vector<evaluate::LightBound>& light);

}  // namespace hone::face::mcp
