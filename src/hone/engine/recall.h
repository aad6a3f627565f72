// What earlier runs in the archive offer a new one: their champions. A hint where to begin, never a verdict or a
// time: who recalls a kernel has it verified and measured anew.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "hone/archive/store.h"
#include "hone/engine/champion.h"
#include "hone/engine/run.h"

namespace hone::engine {

/// A kernel of the archive with its configuration, parent and author.
[[nodiscard]] Result<kernel::Kernel> kernel_from(const archive::KernelRow& row);

/// Hash of the champion that a finished run among `runs` (newest first) left for the same task, workloads, target,
/// device and toolchain. Of several the one that came nearest to the speed of light in its day, then the newest.
[[nodiscard]] Result<std::optional<std::string>> known_champion(archive::Store& store, const std::vector<archive::RunInfo>& runs,
                                                                const task::Task& task, const Place& place);

/// Options of a run that verifies and measures `champion`, a kernel of the archive, and tries nothing else.
[[nodiscard]] RunOptions recalling(RunOptions options, const std::string& champion);

}  // namespace hone::engine
