#include "hone/search/advice.h"

#include "hone/search/strategy.h"

namespace hone::search {
namespace {

/// Less than what one screening can tell apart is no reason to go before the tuner.
constexpr double kWorthATry = 1.015;
/// Of one diagnosis: the tuner learns from every other evaluation as well.
constexpr size_t kMostActions = 2;
/// Causes are listened to until so many predictions, then only if a third of them held.
constexpr int kTrials = 3;

}  // namespace

bool held(double predicted, double gained) { return gained - 1 >= (predicted - 1) / 3; }

void Advice::put(const std::string& kernel, std::vector<diagnose::Action> actions) {
  std::erase_if(actions, [](const diagnose::Action& a) { return a.kind != diagnose::Action::Kind::kTunable || a.gain < kWorthATry; });
  if (actions.size() > kMostActions) actions.resize(kMostActions);
  actions_[kernel] = std::move(actions);
}

std::vector<diagnose::Action> Advice::of(const std::string& kernel) const {
  std::vector<diagnose::Action> out;
  const auto known = actions_.find(kernel);
  if (known == actions_.end()) return out;
  for (const diagnose::Action& action : known->second) {
    const auto record = causes_.find(action.cause);
    if (record == causes_.end() || record->second.tried < kTrials || 3 * record->second.held >= record->second.tried) out.push_back(action);
  }
  return out;
}

void Advice::observe(const Proposal& proposal, const Outcome& outcome) {
  if (outcome.accepted) scores_[proposal.kernel.hash()] = outcome.score;
  if (proposal.predicted <= 0) return;
  const auto parent = scores_.find(proposal.kernel.parent);
  if (parent == scores_.end() || parent->second <= 0) return;
  Record& record = causes_[proposal.cause];
  ++record.tried;
  if (outcome.accepted && held(proposal.predicted, outcome.score / parent->second)) ++record.held;
}

}  // namespace hone::search
