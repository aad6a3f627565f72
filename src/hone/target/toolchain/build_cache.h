// What toolchains share: the cache of builds, addressed by content, and reading a compiler's words.
#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "hone/target/toolchain/toolchain.h"

namespace hone::target {

/// The kept build of this hash, if both its files are whole and belong together.
[[nodiscard]] std::optional<Build> kept_build(const std::string& hash, const std::string& toolchain);
/// Keeps `object` as the artifact of `build` (hash, command, facts, log, sanitized, symbols are set) and names it there.
[[nodiscard]] Result<Build> keep_build(Build build, const std::filesystem::path& object);

/// Whether its instructions are counted ("mix/…" among the facts).
[[nodiscard]] bool has_mix(const Build& build);

/// The first line that says "error", or the last line there is.
[[nodiscard]] std::string first_error(const std::string& log);

}  // namespace hone::target
