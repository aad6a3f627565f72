// Where benches are kept: HONE_HOME/benches/<id>/state.json, one folder a bench.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "hone/face/bench/state.h"

namespace hone::face::bench {

/// Of one bench below `home`.
[[nodiscard]] std::filesystem::path folder_of(const std::filesystem::path& home, const std::string& id);

[[nodiscard]] Status keep(const std::filesystem::path& home, const State& state);
/// What has become of one entry, beside what other processes keep of the others, which is put into `state`.
[[nodiscard]] Status keep_entry(const std::filesystem::path& home, State& state, size_t index);
/// In any folder, which is made.
[[nodiscard]] Status keep_at(const std::filesystem::path& folder, const State& state);
/// kNotFound, kCorrupt.
[[nodiscard]] Result<State> kept(const std::filesystem::path& home, const std::string& id);
/// Of a folder that a bench was kept in, here or on another machine, or of its file.
[[nodiscard]] Result<State> kept_at(const std::filesystem::path& path);
/// All that can be read, newest first.
[[nodiscard]] std::vector<State> all_kept(const std::filesystem::path& home);
/// By the first digits of its id; "last": the newest that is not finished, else the newest. kNotFound says what there is.
[[nodiscard]] Result<State> find_kept(const std::filesystem::path& home, const std::string& id_or_last);

}  // namespace hone::face::bench
