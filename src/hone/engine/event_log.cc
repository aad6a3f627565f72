#include "hone/engine/event_log.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "hone/base/json.h"

namespace hone::engine {

using nlohmann::json;

namespace {

double time_of(const json& body) {
  const auto at = body.find("at");
  return at != body.end() && at->is_number() ? at->get<double>() : 0;
}

}  // namespace

EventLog::EventLog(archive::Store& store, std::string run, std::vector<archive::Event> recorded, base::Clock& clock)
    : store_(store), run_(std::move(run)), recorded_(std::move(recorded)), clock_(clock), base_ns_(clock.now_ns()) {
  for (const archive::Event& event : recorded_) {
    const json body = json::parse(event.json, nullptr, false);
    if (body.is_object()) base_ = std::max(base_, time_of(body));
  }
}

std::string EventLog::next_text(const char* key) const {
  if (!replaying()) return {};
  const json body = json::parse(recorded_[next_].json, nullptr, false);
  const auto at = body.is_object() ? body.find(key) : body.end();
  return at != body.end() && at->is_string() ? at->get<std::string>() : std::string();
}

double EventLog::now() const { return base_ + static_cast<double>(clock_.now_ns() - base_ns_) * 1e-9; }

tl::unexpected<Error> EventLog::contradiction(const std::string& found, const std::string& expected) const {
  return fail(ErrorCode::kCorrupt,
              fmt::format("event {} of run {} is {} where {} follows from what came before", seq_ - 1, run_, found, expected),
              "the run was made by another version of hone or with other patterns, or its log is damaged: start a new run");
}

Result<json> EventLog::step(const std::string& kind, const std::function<Result<json>()>& perform) {
  if (replaying()) {
    const archive::Event& event = recorded_[next_++];
    seq_ = event.seq + 1;
    if (event.kind != kind) return contradiction(fmt::format("\"{}\"", event.kind), fmt::format("\"{}\"", kind));
    json body = json::parse(event.json, nullptr, false);
    if (!body.is_object()) return contradiction("unreadable", fmt::format("\"{}\"", kind));
    at_ = time_of(body);
    return body;
  }
  HONE_TRY(json body, perform());
  // Microseconds are enough, and round numbers keep the log readable. The next step's time counts from
  // here, not from when the process began: a process that takes over knows no more than this.
  const int64_t now_ns = clock_.now_ns();
  at_ = std::round((base_ + static_cast<double>(now_ns - base_ns_) * 1e-9) * 1e6) / 1e6;
  body["at"] = at_;
  const std::string text = base::canonical_json(body);
  HONE_TRY_VOID(store_.append_event(run_, seq_, kind, text));
  base_ = at_;
  base_ns_ = now_ns;
  ++seq_;
  return json::parse(text);
}

}  // namespace hone::engine
