// How an evaluated kernel goes about its work, from what its evaluation knows already. Pure.
#pragma once
#include <span>

#include "hone/evaluate/evaluator.h"
#include "hone/kernel/kernel.h"
#include "hone/search/strategy.h"
#include "hone/task/task.h"

namespace hone::engine {

/// `median_ns` and `bounds`: of each workload; either may be empty. By the workload that takes longest.
[[nodiscard]] search::Behaviour behaviour_of(const kernel::Kernel& kernel, const task::Task& task, const kernel::Limits& limits,
                                             std::span<const double> median_ns, std::span<const evaluate::LightBound> bounds);

}  // namespace hone::engine
