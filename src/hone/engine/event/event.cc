#include "hone/engine/event/event.h"

#include <fmt/format.h>

#include "hone/base/embedded.h"
#include "hone/base/fields.h"

namespace hone::engine {

using nlohmann::json;

namespace {

constexpr const char* kTime = "at";

/// Calls visit(type) with every known kind, until it says true.
template <class Visit, size_t... I>
bool any_kind(const Visit& visit, std::index_sequence<I...>) {
  return (visit(std::type_identity<std::variant_alternative_t<I, Event>>()) || ...);
}
template <class Visit>
bool any_kind(const Visit& visit) {
  return any_kind(visit, std::make_index_sequence<std::variant_size_v<Event> - 1>());  // all but Unknown
}

std::string rows_of(std::vector<base::FieldRow> rows) {
  std::string text = "| field | is | what |\n| --- | --- | --- |\n";
  for (const base::FieldRow& row : rows) text += fmt::format("| {}{} | {} | {} |\n", row.name, row.required ? "" : " *", row.type, row.about);
  return text;
}

std::string kinds_text() {
  std::string text;
  any_kind([&]<class E>(std::type_identity<E>) {
    base::FieldLister lister;
    E().fields(lister);
    text += fmt::format("{}## {}\n{}\n\n{}", text.empty() ? "" : "\n", E::kKind, E::kAbout, rows_of(lister.take()));
    return false;
  });
  return text;
}

}  // namespace

std::string_view kind_of(const Event& event) {
  return std::visit([]<class E>(const E& e) -> std::string_view {
    if constexpr (std::is_same_v<E, event::Unknown>) return e.kind;
    else return E::kKind;
  }, event);
}

std::string to_json(const Event& event, double at) {
  json body = std::visit([]<class E>(const E& e) -> json {
    if constexpr (std::is_same_v<E, event::Unknown>) HONE_CHECK(false, "written by nobody: " + e.kind);
    else return base::fields_json(e);
  }, event);
  body[kTime] = at;
  return base::canonical_json(body);
}

LoggedEvent read_event(const archive::Event& row) {
  LoggedEvent logged;
  logged.seq = row.seq;
  const auto body = base::parse_json(row.json, row.kind);
  if (!body || !body->is_object()) {
    logged.event = event::Unknown{row.kind, false};
    logged.problem = "it is no JSON object";
    return logged;
  }
  base::Notes notes;
  base::FieldReader(*body, notes).later(kTime, logged.at);
  const bool known = any_kind([&]<class E>(std::type_identity<E>) {
    if (row.kind != E::kKind) return false;
    base::read_fields(*body, logged.event.emplace<E>(), notes);
    return true;
  });
  if (!known) logged.event = event::Unknown{row.kind};
  if (!notes.empty()) logged.problem = notes.front();
  return logged;
}

std::vector<LoggedEvent> read_events(const std::vector<archive::Event>& rows) {
  std::vector<LoggedEvent> events;
  events.reserve(rows.size());
  for (const archive::Event& row : rows) events.push_back(read_event(row));
  return events;
}

std::string events_page() {
  const auto head = base::find_embedded("event/events.md.in");
  HONE_CHECK(head.has_value(), "events.md.in");
  return std::string(*head) + "\n" + kinds_text();
}

}  // namespace hone::engine
