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
  std::string out;          ///< to standard output, bounded too
  int64_t wall_ns = 0;
};

/// What a tool needs besides.
struct ToolNeeds {
  std::vector<std::filesystem::path> readable;
  size_t output_limit = 1 << 16;  ///< bytes kept of each stream
};

/// Runs `argv` in `folder`, the one place that it may write to; it reads `headers`, the system's, what `needs` names. An
/// Error (kExhausted, kUnavailable) is no fault of the source.
[[nodiscard]] Result<CompilerRun> run_compiler(const std::vector<std::string>& argv, const std::filesystem::path& folder,
                                               const std::filesystem::path& headers, std::chrono::seconds deadline,
                                               const ToolNeeds& needs = {});

}  // namespace hone::target
