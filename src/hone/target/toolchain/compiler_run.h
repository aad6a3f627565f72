// One run of a compiler in the jail: it reads hostile source too. Thread-safe.
#pragma once
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "hone/base/result.h"

namespace hone::target {

struct CompilerRun {
  bool ok = false;
  bool late = false;        ///< stopped at the deadline
  std::string log;          ///< what it wrote to standard error, bounded
  int64_t wall_ns = 0;
};

/// Runs `argv` in `folder`, the one place that it may write to; it reads `headers` and the system's. An
/// Error (kExhausted, kUnavailable) is no fault of the source.
[[nodiscard]] Result<CompilerRun> run_compiler(const std::vector<std::string>& argv, const std::filesystem::path& folder,
                                               const std::filesystem::path& headers, std::chrono::seconds deadline);

}  // namespace hone::target
