// Which CPUs we may run on, core by core, and threads that keep to some of them. Thread-safe.
#pragma once
#include <span>
#include <vector>

namespace hone::target {

/// The CPUs that the calling thread may run on, in ascending order; those that share a core are in one group, however many
/// of its CPUs we may use. Where the machine does not say, each CPU is a core.
[[nodiscard]] std::vector<std::vector<int>> cores();

/// The calling thread, and what it starts from now on, runs on these CPUs only. False where that is not possible.
[[nodiscard]] bool keep_to(std::span<const int> cpus);

}  // namespace hone::target
