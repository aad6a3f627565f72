#include "hone/diagnose/reckoner.h"

#include <algorithm>
#include <cmath>

namespace hone::diagnose {
namespace {

/// A cause that keeps less of the time is not named.
constexpr double kWorthNaming = 0.02;
/// A retuning that promises less than this is no reason not to redesign.
constexpr double kWorthRetuning = 1.03;
/// A redesign is preferred where it promises so many times as much.
constexpr double kFarBetter = 3;

}  // namespace

std::vector<Metric> Reckoner::evidence(const std::vector<std::string_view>& names) const {
  std::vector<Metric> found;
  for (const std::string_view name : names)
    if (const Metric* metric = metrics_.find(name); metric && metric->origin != Origin::kAbsent) found.push_back(*metric);
  return found;
}

double Reckoner::cause(std::string_view name, double saved, std::string says, std::vector<std::string_view> metrics) {
  saved = std::clamp(saved, 0.0, room_);
  causes_.push_back({name, saved, std::move(says), std::move(metrics)});
  return saved;
}

void Reckoner::act(Action::Kind kind, std::string name, int64_t from, int64_t to, std::string_view cause, double saved, double reach,
                   std::string why) {
  saved = std::clamp(saved * reach, 0.0, std::min(room_, 0.95));
  if (saved <= 0) return;
  // A tunable may help one workload and hurt another; other kernels and compilers are taken to change all alike.
  const double share = kind == Action::Kind::kTunable ? std::clamp(subject_.share, 0.0, 1.0) : 1;
  const double gain = std::pow(1 / (1 - saved), share);
  const auto same = std::find_if(actions_.begin(), actions_.end(),
                                 [&](const Action& a) { return a.kind == kind && a.name == name && a.to == to; });
  if (same != actions_.end() && same->gain >= gain) return;
  if (same != actions_.end()) actions_.erase(same);
  actions_.push_back({kind, std::move(name), from, to, saved, gain, std::string(cause), std::move(why)});
}

void Reckoner::tune(Role role, int direction, std::string_view cause, double saved, double reach, const std::string& why) {
  for (const kernel::Tunable& tunable : subject_.header.tunables) {
    if (role_of(tunable.name, subject_.header) != role) continue;
    const auto from = subject_.config.find(tunable.name);
    if (from == subject_.config.end()) continue;
    if (const auto to = step(tunable, subject_.header, subject_.config, subject_.limits, direction))
      act(Action::Kind::kTunable, tunable.name, from->second, *to, cause, saved, reach, why);
  }
}

void Reckoner::conclude_with(Diagnosis& out, const Otherwise& otherwise) {
  std::stable_sort(actions_.begin(), actions_.end(), [](const Action& a, const Action& b) { return a.gain > b.gain; });
  const auto cause = std::max_element(causes_.begin(), causes_.end(), [](const Cause& a, const Cause& b) { return a.saved < b.saved; });
  if (cause != causes_.end() && cause->saved > kWorthNaming)
    out.bottleneck = cause->name, out.says = cause->says, out.evidence = evidence(cause->metrics);
  else
    out.bottleneck = otherwise.name, out.says = otherwise.says, out.evidence = evidence(otherwise.metrics);
  out.actions = std::move(actions_);
  double retuned = 1, redesigned = 1;
  for (const Action& a : out.actions) {
    const bool retuning = a.kind == Action::Kind::kTunable || a.kind == Action::Kind::kCompiler;
    (retuning ? retuned : redesigned) = std::max(retuning ? retuned : redesigned, a.gain);
  }
  out.redesign = retuned < kWorthRetuning || redesigned - 1 > kFarBetter * (retuned - 1);
}

}  // namespace hone::diagnose
