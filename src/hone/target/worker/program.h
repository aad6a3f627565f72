// Programs that travel inside hone (hone-runner, hone-gpu, …).
#pragma once
#include <filesystem>
#include <string_view>

#include "hone/base/result.h"

namespace hone::target {

/// The program, written from this program's own data into the cache under its hash. Thread-safe.
[[nodiscard]] Result<std::filesystem::path> worker_program(std::string_view name);

}  // namespace hone::target
