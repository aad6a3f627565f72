// How much of this machine's memory an evaluation will want, before anything is taken. Pure.
#pragma once
#include <cstdint>
#include <span>

#include "hone/base/result.h"
#include "hone/evaluate/measure/workload.h"

namespace hone::evaluate {

/// Bytes: the buffers of all workloads' calls, one more call of the largest (a kernel that fits no small shape is checked at the
/// workload's own), and the oracle's answers for an output that has to be looked at whole.
[[nodiscard]] double memory_need(const task::Task& task, std::span<const Playing> plays);

/// kExhausted, with both numbers and what to do, where `available` bytes (below 0: not known) are too few.
[[nodiscard]] Status check_memory(const task::Task& task, std::span<const Playing> plays, int64_t available);

}  // namespace hone::evaluate
