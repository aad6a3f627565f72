// A piece of work in a process of its own, so that whatever ends that process ends nothing else.
#pragma once
#include <functional>
#include <string>

#include "hone/base/result.h"

namespace hone::face::bench {

struct Ended {
  Status status;              ///< what the work returned; context is left out
  std::string died_of;        ///< empty, or why it returned nothing: "killed by signal 6 (Aborted)"
};

/// Forks, does `work` in the child and waits. The child is in a process group of its own, out of the terminal's reach,
/// and dies with us; `interrupts` says how often the user asked for an end so far: as often the child gets SIGINT.
/// Nothing is shared but what is in memory at the fork: no thread may be running and no archive be open.
[[nodiscard]] Result<Ended> apart(const std::function<Status()>& work, const std::function<int()>& interrupts);

}  // namespace hone::face::bench
