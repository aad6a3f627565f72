#include "hone/engine/advisor.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "hone/base/hash.h"
#include "hone/search/advice.h"

namespace hone::engine {

using kernel::Kernel;
using nlohmann::json;

namespace {

json to_json(const std::vector<search::tune::Effect>& effects) {
  json all = json::array();
  for (const search::tune::Effect& e : effects) all.push_back({{"tunable", e.tunable}, {"to", e.to}, {"gain", std::exp(e.log_gain)}});
  return all;
}

std::vector<search::tune::Effect> effects_from(const json& all) {
  std::vector<search::tune::Effect> effects;
  if (all.is_array())
    for (const json& e : all) effects.push_back({e.at("tunable"), e.at("to"), std::log(e.at("gain").get<double>())});
  return effects;
}

}  // namespace

Result<json> Advisor::look(EventLog& log, const Kernel& kernel, bool thorough, const char* kind) {
  const std::string hash = kernel.hash();
  HONE_TRY(json event, log.step(kind, [&]() -> Result<json> {
    if (const auto seen = seen_.find(hash); !thorough && seen != seen_.end()) return seen->second;
    json out = {{"kernel", hash}, {"workload", ""}, {"metrics", json::object()}, {"diagnosis", nullptr}, {"problem", ""}};
    const auto found = examine_(kernel, thorough);
    // What stops a run is no problem of the diagnosis; everything else leaves the kernel without one.
    if (!found && (found.error().code == ErrorCode::kInterrupted || found.error().code == ErrorCode::kExhausted))
      return tl::unexpected(found.error());
    if (!found)
      out["problem"] = found.error().message;
    else if (!found->verdict.accepted())
      out["problem"] = found->verdict.reason;
    else {
      out["workload"] = found->workload;
      out["diagnosis"] = diagnose::to_json(found->diagnosis);
      for (const diagnose::Profile& profile : found->profiles)
        if (profile.workload == found->workload) {
          out["metrics"] = diagnose::to_json(profile.metrics);
          if (expect_ && !thorough) out["effects"] = to_json(expect_(kernel, profile.metrics));
        }
    }
    return out;
  }));
  if (event.at("kernel") != hash)
    return log.contradiction("about kernel " + base::short_hash(event.at("kernel").get<std::string>()), base::short_hash(hash));
  if (!thorough) {
    json& seen = seen_[hash] = event;
    seen.erase("at");
  }
  return event;
}

Status Advisor::advise(EventLog& log, search::Strategy& strategy, const std::function<const Kernel*(const std::string&)>& kernel_of) {
  const std::string hash = strategy.wants_diagnosis();
  if (hash.empty()) return {};
  const Kernel* const kernel = kernel_of(hash);
  HONE_CHECK(kernel != nullptr, "a strategy extends what was accepted");
  HONE_TRY(const json event, look(log, *kernel, false, "diagnosed"));
  auto effects = effects_from(event.value("effects", json()));
  // What was learnt from measurements goes before what the rules think.
  const bool learnt = strategy.expect(hash, std::move(effects));
  strategy.advise(hash, learnt ? std::vector<diagnose::Action>() : diagnose::diagnosis_from(event.at("diagnosis")).actions);
  return {};
}

Status Advisor::conclude(EventLog& log, const Kernel& champion) {
  return look(log, champion, true, "diagnosed").map([](const json&) {});
}

void Advisor::outcome(const search::Proposal& proposal, double score, double parent_score) {
  if (proposal.predicted > 0 && parent_score > 0)
    rows_.push_back({proposal.action, proposal.cause, proposal.predicted, score / parent_score});
}

json Advisor::calibration() const {
  if (rows_.empty()) return nullptr;
  json out = {{"tried", rows_.size()}, {"rows", json::array()}};
  int held = 0;
  for (const Row& row : rows_) {
    if (search::held(row.predicted, row.gained)) ++held;
    out["rows"].push_back({{"action", row.action},
                           {"cause", row.cause},
                           {"predicted", row.predicted},
                           {"gained", row.gained > 0 ? json(row.gained) : json()}});
  }
  out["held"] = held;
  return out;
}

}  // namespace hone::engine
