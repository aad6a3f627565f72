#include "hone/engine/event_log.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "hone/base/json.h"

namespace hone::engine {

using nlohmann::json;

EventLog::EventLog(archive::Store& store, std::string run, std::vector<archive::Event> recorded, base::Clock& clock)
    : store_(store), run_(std::move(run)), recorded_(std::move(recorded)), clock_(clock), started_ns_(clock.now_ns()) {
  for (const archive::Event& event : recorded_) {
    const json body = json::parse(event.json, nullptr, false);
    if (!body.is_discarded()) recorded_at_ = std::max(recorded_at_, body.value("at", 0.0));
  }
}

double EventLog::now() const {
  return recorded_at_ + static_cast<double>(clock_.now_ns() - started_ns_) * 1e-9;
}

Result<json> EventLog::step(const std::string& kind, const std::function<Result<json>()>& perform) {
  if (replaying()) {
    const archive::Event& event = recorded_[next_++];
    seq_ = event.seq + 1;
    json body = json::parse(event.json, nullptr, false);
    if (body.is_discarded() || event.kind != kind)
      return fail(ErrorCode::kCorrupt,
                  fmt::format("event {} of run {} is \"{}\" where \"{}\" follows from what came before", event.seq,
                              run_, event.kind, kind),
                  "the run was made by another version of hone, or its log is damaged: start a new run");
    at_ = body.value("at", at_);
    return body;
  }
  HONE_TRY(json body, perform());
  // Microseconds are enough, and round numbers keep the log readable.
  at_ = std::round(now() * 1e6) / 1e6;
  body["at"] = at_;
  HONE_TRY_VOID(store_.append_event(run_, seq_, kind, base::canonical_json(body)));
  ++seq_;
  return body;
}

}  // namespace hone::engine
