#include "hone/face/bench/work.h"

#include <algorithm>

#include <fmt/format.h>

#include "hone/face/bench/apart.h"
#include "hone/face/bench/keep.h"

namespace hone::face::bench {
namespace {

/// In the other process: all that is left, until something ends it.
Status play_what_is_left(State state, const Work& work) {
  HONE_TRY(archive::Store store, work.open_archive());
  HONE_TRY(Services services, work.services(store));
  services.store = &store;
  services.progress = work.progress;
  services.save = [&](const State& s) { return keep(work.home, s); };
  for (size_t index = 0; index < state.entries.size(); ++index) {
    if (state.entries[index].row) continue;
    if (work.interrupts() > 0) return fail(ErrorCode::kInterrupted, "interrupted");
    HONE_TRY_VOID(play(state, index, services));
  }
  return {};
}

/// The task at hand is the first that is not done.
Status blame(State& state, const std::string& died_of, const Work& work) {
  const auto entry = std::find_if(state.entries.begin(), state.entries.end(), [](const Entry& e) { return !e.row; });
  if (entry == state.entries.end()) return {};
  entry->row = failed_row(entry->name, {ErrorCode::kInternal, "the process that worked on it was " + died_of}, entry->spent);
  HONE_TRY_VOID(keep(work.home, state));
  if (work.progress) work.progress({Progress::Step::kDone, static_cast<size_t>(entry - state.entries.begin()), &state, nullptr, false});
  return {};
}

}  // namespace

Result<bool> work_through(State& state, const Work& work) {
  HONE_TRY_VOID(keep(work.home, state));
  while (!state.finished()) {
    if (work.interrupts() > 0) return false;
    const auto play = [&]() -> Result<std::string> { return play_what_is_left(state, work).map([] { return std::string(); }); };
    HONE_TRY(const Ended ended, apart(play, work.interrupts));
    // Its memory is gone with it; what it kept is what happened.
    HONE_TRY(state, kept(work.home, state.id));
    if (!ended.died_of.empty()) {
      HONE_TRY_VOID(blame(state, ended.died_of, work));
    } else if (!ended.said) {
      if (ended.said.error().code == ErrorCode::kInterrupted) return false;
      return tl::unexpected(ended.said.error());
    }
  }
  return true;
}

}  // namespace hone::face::bench
