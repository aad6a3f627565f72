// A piece of work in a process of its own, so that whatever ends that process ends nothing else.
#pragma once
#include <functional>
#include <string>

#include "hone/base/result.h"

namespace hone::face::bench {

struct Ended {
  Result<std::string> said;   ///< what the work returned; an error's context is left out
  std::string died_of;        ///< empty, or why it returned nothing: "killed by signal 6 (Aborted)"
};

/// Forks, does `work` in the child and waits. The child is in a process group of its own, out of the terminal's reach,
/// and dies with us; `interrupts` says how often the user asked for an end so far: as often the child gets SIGINT.
/// Nothing is shared but what is in memory at the fork: until then this process must not have started a thread, a
/// program (base/process) or have an archive open. What the work says is at most 32 KiB.
[[nodiscard]] Result<Ended> apart(const std::function<Result<std::string>()>& work, const std::function<int()>& interrupts);

}  // namespace hone::face::bench
