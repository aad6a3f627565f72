// Who is working on which run: byte-range locks on one file beside the archive, one byte a run (its
// twelve hexadecimal digits are the offset), one more for whoever sets the archive up. The system
// drops them when their process dies, however it dies. Locks belong to open file descriptions, so
// two holders exclude each other within one process as well; descriptors close on exec.
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hone/archive/store.h"

namespace hone::archive {

[[nodiscard]] std::filesystem::path lock_file(const std::filesystem::path& archive);

/// kUnavailable when somebody holds it. `id` is twelve hexadecimal digits.
[[nodiscard]] Result<std::unique_ptr<RunLock>> take_run_lock(const std::filesystem::path& archive,
                                                             std::string_view id);

/// Waits for its turn; for creating and migrating.
[[nodiscard]] Result<std::unique_ptr<RunLock>> take_setup_lock(const std::filesystem::path& archive);

/// Runs that anybody, this process included, holds at this moment.
[[nodiscard]] Result<std::vector<std::string>> held_runs(const std::filesystem::path& archive);

}  // namespace hone::archive
