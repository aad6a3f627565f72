#include "hone/face/bench/work.h"

#include <fmt/format.h>

#include "hone/face/bench/apart.h"
#include "hone/face/bench/keep.h"

namespace hone::face::bench {
namespace {

Status play_here(State& state, size_t index, const Work& work) {
  HONE_TRY(archive::Store store, work.open_archive());
  HONE_TRY(Services services, work.services(store));
  services.store = &store;
  services.progress = work.progress;
  services.save = [&](const State& s) { return keep(work.home, s); };
  return play(state, index, services);
}

}  // namespace

Result<bool> work_through(State& state, const Work& work) {
  HONE_TRY_VOID(keep(work.home, state));
  for (size_t index = 0; index < state.entries.size(); ++index) {
    if (state.entries[index].row) continue;
    if (work.interrupts() > 0) return false;
    HONE_TRY(const Ended ended, apart([&] { return play_here(state, index, work); }, work.interrupts));
    // The child's memory is gone with it; what it kept is what happened.
    HONE_TRY(state, kept(work.home, state.id));
    if (!ended.died_of.empty()) {
      Entry& entry = state.entries.at(index);
      entry.row = failed_row(entry.name, {ErrorCode::kInternal, "the process that worked on it was " + ended.died_of}, entry.spent);
      HONE_TRY_VOID(keep(work.home, state));
      if (work.progress) work.progress({Progress::Step::kDone, index, &state, nullptr, false});
    } else if (!ended.status) {
      if (ended.status.error().code == ErrorCode::kInterrupted) return false;
      return tl::unexpected(ended.status.error());
    }
  }
  return true;
}

}  // namespace hone::face::bench
