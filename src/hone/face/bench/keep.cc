#include "hone/face/bench/keep.h"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "hone/base/file.h"

namespace hone::face::bench {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFile = "state.json";

fs::path folder(const fs::path& home) { return home / "benches"; }

}  // namespace

fs::path folder_of(const fs::path& home, const std::string& id) { return folder(home) / id; }

Status keep(const fs::path& home, const State& state) { return keep_at(folder_of(home, state.id), state); }

Status keep_entry(const fs::path& home, State& state, size_t index) {
  const fs::path lock = folder_of(home, state.id) / "lock";
  const base::Fd held(::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  while (::flock(held.get(), LOCK_EX) != 0)
    if (errno != EINTR) return fail(ErrorCode::kUnavailable, fmt::format("{} cannot be locked: {}", lock.string(), std::strerror(errno)));
  HONE_TRY(State all, kept(home, state.id));
  if (all.entries.size() != state.entries.size()) return fail(ErrorCode::kCorrupt, fmt::format("bench {} is another one by now", state.id));
  all.entries[index] = state.entries[index];
  all.updated_unix_ms = state.updated_unix_ms;
  HONE_TRY_VOID(keep(home, all));
  // One by one: somebody may hold one of them.
  for (size_t i = 0; i < all.entries.size(); ++i)
    if (i != index) state.entries[i] = std::move(all.entries[i]);
  return {};
}

Status keep_at(const fs::path& folder, const State& state) {
  HONE_TRY_VOID(base::make_directories(folder));
  return base::write_file_atomic(folder / kFile, to_text(state));
}

Result<State> kept(const fs::path& home, const std::string& id) {
  std::error_code ignored;
  if (!fs::exists(folder_of(home, id) / kFile, ignored)) return fail(ErrorCode::kNotFound, fmt::format("there is no bench {}", id));
  return kept_at(folder_of(home, id));
}

Result<State> kept_at(const fs::path& path) {
  std::error_code ignored;
  const fs::path file = fs::is_directory(path, ignored) ? path / kFile : path;
  HONE_TRY(const std::string text, base::read_file(file));
  return state_from(text, file.string());
}

std::vector<State> all_kept(const fs::path& home) {
  std::vector<State> all;
  std::error_code ignored;
  for (fs::directory_iterator it(folder(home), ignored), end; !ignored && it != end; it.increment(ignored))
    if (auto state = kept(home, it->path().filename().string())) all.push_back(std::move(*state));
  std::sort(all.begin(), all.end(), [](const State& a, const State& b) {
    return std::tie(a.created_unix_ms, a.id) > std::tie(b.created_unix_ms, b.id);
  });
  return all;
}

Result<State> find_kept(const fs::path& home, const std::string& id_or_last) {
  std::vector<State> all = all_kept(home);
  if (all.empty()) return fail(ErrorCode::kNotFound, "there are no benches yet", "hone bench SUITE begins one");
  if (id_or_last == "last") {
    const auto it = std::find_if(all.begin(), all.end(), [](const State& s) { return !s.finished(); });
    return it == all.end() ? all.front() : *it;
  }
  std::vector<const State*> found;
  for (const State& state : all)
    if (state.id.starts_with(id_or_last)) found.push_back(&state);
  if (found.size() == 1) return *found.front();
  return fail(ErrorCode::kNotFound, fmt::format("{} begins the id of {} benches", id_or_last, found.empty() ? "no" : "several"),
              fmt::format("the newest is {}: {}", all.front().id, all.front().command));
}

}  // namespace hone::face::bench
