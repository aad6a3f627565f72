// Code of hone's own around a library that an opponent calls. Built by the same compiler in the same jail
// and cache as kernels, but not held to what kernels may call.
#pragma once
#include <filesystem>
#include <string>

#include "hone/target/toolchain/toolchain.h"

namespace hone::target {

/// The file of a library that the C++ compiler finds ("libopenblas.so.0"), links resolved. kUnavailable
/// when there is none; `package` says what to install.
[[nodiscard]] Result<std::filesystem::path> find_library(const std::string& name, const std::string& package);

/// Builds `source` (which defines hone_entries) against `library`.
[[nodiscard]] Result<BuildOutcome> build_with_library(const std::string& source, const std::filesystem::path& library);

}  // namespace hone::target
