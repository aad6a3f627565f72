#include "hone/engine/advisor.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "hone/base/hash.h"
#include "hone/search/advice.h"

namespace hone::engine {

using kernel::Kernel;
using nlohmann::json;

template <class E>
Result<event::Look> Advisor::look(EventLog& log, const Kernel& kernel, bool thorough) {
  const std::string hash = kernel.hash();
  HONE_TRY(E event, log.step<E>([&]() -> Result<E> {
    if (const auto seen = seen_.find(hash); !thorough && seen != seen_.end()) return E{seen->second};
    E look;
    look.kernel = hash;
    const auto found = examine_(kernel, thorough);
    // What stops a run is no problem of the diagnosis; everything else leaves the kernel without one.
    if (!found && (found.error().code == ErrorCode::kInterrupted || found.error().code == ErrorCode::kExhausted))
      return tl::unexpected(found.error());
    if (!found)
      look.problem = found.error().message;
    else if (!found->verdict.accepted())
      look.problem = found->verdict.reason;
    else {
      look.workload = found->workload;
      look.diagnosis = found->diagnosis;
      for (const diagnose::Profile& profile : found->profiles)
        if (profile.workload == found->workload) {
          look.metrics = profile.metrics;
          if (!expect_ || thorough) continue;
          auto& effects = look.effects.emplace();
          for (const search::tune::Effect& e : expect_(kernel, profile.metrics)) effects.push_back({e.tunable, e.to, std::exp(e.log_gain)});
        }
    }
    return look;
  }));
  if (event.kernel != hash) return log.contradiction("about kernel " + base::short_hash(event.kernel), base::short_hash(hash));
  if (!thorough) seen_[hash] = event;
  return event::Look(std::move(event));
}

Result<event::Look> Advisor::profile(EventLog& log, const Kernel& kernel) { return look<event::Profiled>(log, kernel, false); }

Status Advisor::advise(EventLog& log, search::Strategy& strategy, const std::function<const Kernel*(const std::string&)>& kernel_of) {
  const std::string hash = strategy.wants_diagnosis();
  if (hash.empty()) return {};
  const Kernel* const kernel = kernel_of(hash);
  HONE_CHECK(kernel != nullptr, "a strategy extends what was accepted");
  HONE_TRY(const event::Look seen, look<event::Diagnosed>(log, *kernel, false));
  std::vector<search::tune::Effect> effects;
  if (seen.effects)
    for (const event::Look::Effect& e : *seen.effects) effects.push_back({e.tunable, e.to, std::log(e.gain)});
  // What was learnt from measurements goes before what the rules think.
  const bool learnt = strategy.expect(hash, std::move(effects));
  strategy.advise(hash, learnt || !seen.diagnosis ? std::vector<diagnose::Action>() : seen.diagnosis->actions);
  return {};
}

Status Advisor::conclude(EventLog& log, const Kernel& champion) {
  return look<event::Diagnosed>(log, champion, true).map([](const event::Look&) {});
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
