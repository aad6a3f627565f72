// A run's log, as everybody writes and reads it: an event is one of these structs. A kind is added as a struct with its fields()
// (run_events.h, end_events.h, model_events.h) and its name in the list below; its JSON, and its part of docs/events.md, follow.
// Reading forgives: what is missing or of another type keeps a neutral value, and `problem` says so; whoever decides by an event
// asks for that first (EventLog). Kinds of later versions are kept as Unknown, members of theirs are passed over. Pure.
#pragma once
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "hone/archive/store.h"
#include "hone/engine/event/end_events.h"
#include "hone/engine/event/model_events.h"
#include "hone/engine/event/run_events.h"

namespace hone::engine {

namespace event {

/// Of a kind that this version does not know, or no JSON object.
struct Unknown {
  std::string kind;
  bool readable = true;
};

}  // namespace event

/// In the order of docs/events.md.
using Event = std::variant<event::Started, event::Calibrated, event::Recalled, event::Considered, event::Agents, event::Asked, event::Answered, event::Unusable,
                           event::ToolUsed, event::Waited, event::Stalled, event::Screened, event::Duplicate, event::Diagnosed, event::Profiled,
                           event::Yardstick, event::Fallback, event::Stopped, event::Raced, event::Promoted, event::Champion, event::Finished, event::Unknown>;

struct LoggedEvent {
  int64_t seq = 0;
  double at = 0;         ///< seconds of active time since the run began
  Event event = event::Unknown();
  std::string problem;   ///< the first thing that is not as it has to be, "kernel is missing"; empty: nothing

  template <class E>
  [[nodiscard]] bool is() const { return std::holds_alternative<E>(event); }
  template <class E>
  [[nodiscard]] const E* as() const { return std::get_if<E>(&event); }
};

[[nodiscard]] std::string_view kind_of(const Event& event);
/// Canonical JSON, as the archive holds it beside the kind. Not of an Unknown.
[[nodiscard]] std::string to_json(const Event& event, double at);
[[nodiscard]] LoggedEvent read_event(const archive::Event& row);
[[nodiscard]] std::vector<LoggedEvent> read_events(const std::vector<archive::Event>& rows);

/// Calls visit(E) for each event of that kind; others are not read.
template <class E, class Visit>
void for_each_event(const std::vector<archive::Event>& rows, const Visit& visit) {
  for (const archive::Event& row : rows) {
    if (row.kind != E::kKind) continue;
    const LoggedEvent logged = read_event(row);
    if (const E* const event = logged.as<E>()) visit(*event, logged);
  }
}

/// docs/events.md: `make docs` writes it, event_test.cc compares.
[[nodiscard]] std::string events_page();

}  // namespace hone::engine
