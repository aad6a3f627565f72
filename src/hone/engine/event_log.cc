#include "hone/engine/event_log.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace hone::engine {

EventLog::EventLog(archive::Store& store, std::string run, const std::vector<archive::Event>& recorded, base::Clock& clock)
    : store_(store), run_(std::move(run)), recorded_(read_events(recorded)), clock_(clock), base_ns_(clock.now_ns()) {
  for (const LoggedEvent& logged : recorded_) base_ = std::max(base_, logged.at);
}

std::string EventLog::next_kernel() const {
  if (!replaying()) return {};
  return std::visit([](const auto& e) -> std::string {
    if constexpr (requires { e.kernel; }) return e.kernel;
    else return {};
  }, recorded_[next_].event);
}

double EventLog::now() const { return base_ + static_cast<double>(clock_.now_ns() - base_ns_) * 1e-9; }

tl::unexpected<Error> EventLog::contradiction(const std::string& found, const std::string& expected) const {
  return fail(ErrorCode::kCorrupt,
              fmt::format("event {} of run {} is {} where {} follows from what came before", seq_ - 1, run_, found, expected),
              "the run was made by another version of hone or with other patterns, or its log is damaged: start a new run");
}

Result<LoggedEvent> EventLog::next(std::string_view kind, const std::function<Result<Event>()>& perform) {
  if (replaying()) {
    const LoggedEvent& logged = recorded_[next_++];
    seq_ = logged.seq + 1;
    const std::string_view found = kind_of(logged.event);
    if (found != kind) return contradiction(fmt::format("\"{}\"", found), fmt::format("\"{}\"", kind));
    if (!logged.problem.empty()) return contradiction(fmt::format("not as it must be ({})", logged.problem), fmt::format("a complete \"{}\"", kind));
    at_ = logged.at;
    return logged;
  }
  HONE_TRY(const Event event, perform());
  // Microseconds are enough, and round numbers keep the log readable. The next step's time counts from
  // here, not from when the process began: a process that takes over knows no more than this.
  const int64_t now_ns = clock_.now_ns();
  at_ = std::round((base_ + static_cast<double>(now_ns - base_ns_) * 1e-9) * 1e6) / 1e6;
  const archive::Event row{seq_, std::string(kind), to_json(event, at_)};
  HONE_TRY_VOID(store_.append_event(run_, row.seq, row.kind, row.json));
  base_ = at_;
  base_ns_ = now_ns;
  ++seq_;
  LoggedEvent logged = read_event(row);
  if (!logged.problem.empty()) return contradiction(fmt::format("not as it must be ({})", logged.problem), fmt::format("a complete \"{}\"", kind));
  return logged;
}

}  // namespace hone::engine
