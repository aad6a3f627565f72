// What a run tells its models of kernels, patterns and memory, as text and numbers. Pure.
#pragma once
#include <string>
#include <vector>

#include "hone/agent/team.h"
#include "hone/engine/event/run_events.h"
#include "hone/search/strategy.h"

namespace hone::engine {

/// Of a look into a kernel: its metrics, what the rules said, and whether they are sure: they name a bottleneck, and one of
/// their actions promises 5 % or more. Nothing of a kernel that nobody could look at.
[[nodiscard]] agent::Facts facts_of(const event::Look& look);

/// A line for each kernel of the library that was offered for the task, 40 at most.
[[nodiscard]] std::vector<std::string> pattern_lines(const std::vector<search::Seed>& seeds);

/// A line for each kernel that memory puts first.
[[nodiscard]] std::vector<std::string> memory_lines(const event::Recalled& recalled);

}  // namespace hone::engine
