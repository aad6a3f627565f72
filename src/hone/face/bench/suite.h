// Which tasks a bench is over: files, or some drawn from the published distribution.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "hone/base/result.h"
#include "hone/task/drawn/drawn.h"

namespace hone::face::bench {

/// The task files that `suite` names: of a folder those directly in it (*.toml), files as they are. Absolute, each
/// once, in order of their file names. `only`, unless empty, keeps those whose name without extension matches: a
/// pattern with * and ?, or a part of the name. kNotFound and kInput say what is not there.
[[nodiscard]] Result<std::vector<std::filesystem::path>> suite_files(const std::vector<std::string>& suite, const std::string& only);

struct DrawnSuite {
  std::string says;  ///< "7:40 of the mix drawn, version 2 (0123456789ab)": seed, number and mix, for records
  std::vector<task::drawn::DrawnTask> tasks;
};

/// `wanted` is SEED:N; `mix_file`, unless empty, is read instead of the mix that hone carries; `only` as above.
[[nodiscard]] Result<DrawnSuite> drawn_suite(const std::string& wanted, const std::string& mix_file, const std::string& only);

}  // namespace hone::face::bench
