// Which task files a bench is over.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "hone/base/result.h"

namespace hone::face::bench {

/// The task files that `suite` names: of a folder those directly in it (*.toml), files as they are. Absolute, each
/// once, in order of their file names. `only`, unless empty, keeps those whose name without extension matches: a
/// pattern with * and ?, or a part of the name. kNotFound and kInput say what is not there.
[[nodiscard]] Result<std::vector<std::filesystem::path>> suite_files(const std::vector<std::string>& suite, const std::string& only);

}  // namespace hone::face::bench
