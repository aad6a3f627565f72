// The least time of a computation by a model of one device, for shares: which of its parts matters how much. Pure.
#pragma once
#include "hone/task/task.h"

namespace hone::pattern {

/// Nanoseconds at the first workload, from the least bytes and operations (task::minimal_cost) and the balance of an H100: 3 TB/s,
/// 60 TFLOP/s in fp32 and 700 in 16 bits, half as many other operations as fp32 has. A model, of shares only: on another device
/// memory and arithmetic weigh otherwise. 0 where the shape makes no sense.
[[nodiscard]] double least_ns(const task::Task& task);

}  // namespace hone::pattern
