// The log of one run as the engine sees it: a step either comes from the recording or is performed and
// recorded before anybody acts on it. Its clock counts active time: what was spent on a step that no
// event tells of (the process died in it) did not happen, so a killed run and one left alone that do the
// same work log the same times. One thread. A recording that does not fit is kCorrupt.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/archive/store.h"
#include "hone/base/clock.h"
#include "hone/engine/event/event.h"

namespace hone::engine {

class EventLog {
 public:
  /// `recorded`: what the archive holds of the run.
  EventLog(archive::Store& store, std::string run, const std::vector<archive::Event>& recorded, base::Clock& clock);

  [[nodiscard]] bool replaying() const { return next_ < recorded_.size(); }
  /// Whether the next recorded event is an E; false when none is left.
  template <class E>
  [[nodiscard]] bool next_is() const { return replaying() && recorded_[next_].is<E>(); }
  /// The kernel that the next recorded event is about; empty where it is about none.
  [[nodiscard]] std::string next_kernel() const;
  /// Active seconds at the last event: what decisions go by, so that a replay decides alike.
  [[nodiscard]] double elapsed() const { return at_; }
  /// Active seconds now, for display and for the next event.
  [[nodiscard]] double now() const;
  /// What was done since the clock stood at `ns` is no progress of the run: it only brought this process
  /// to where another was.
  void leave_out_since(int64_t ns) { base_ns_ += clock_.now_ns() - ns; }

  /// The next event: the recorded one, or what `perform` gives, appended first and read back, so that nobody sees live what a
  /// replay would not. kCorrupt when the recording holds another kind here, or one that lacks what it must have.
  template <class E>
  [[nodiscard]] Result<E> step(const std::function<Result<E>()>& perform) {
    HONE_TRY(LoggedEvent logged, next(E::kKind, [&]() -> Result<Event> {
      HONE_TRY(E event, perform());
      return event;
    }));
    return std::get<E>(std::move(logged.event));
  }
  /// The error for a recording that `found` something where `expected` follows from what came before.
  [[nodiscard]] tl::unexpected<Error> contradiction(const std::string& found, const std::string& expected) const;

 private:
  [[nodiscard]] Result<LoggedEvent> next(std::string_view kind, const std::function<Result<Event>()>& perform);

  archive::Store& store_;
  std::string run_;
  std::vector<LoggedEvent> recorded_;
  base::Clock& clock_;
  size_t next_ = 0;
  int64_t seq_ = 0;
  double at_ = 0;            ///< of the last event
  double base_ = 0;          ///< active seconds at `base_ns_`: the end of the recording, then of each event
  int64_t base_ns_ = 0;
};

}  // namespace hone::engine
