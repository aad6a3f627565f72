#include "hone/engine/facts.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hone/diagnose/rules.h"
#include "hone/engine/examine.h"

namespace hone::engine {

using nlohmann::json;

namespace {

constexpr double kWorthwhile = 1.05;
constexpr size_t kActionsShown = 4, kLines = 40;

std::string rules_text(const diagnose::Diagnosis& diagnosis) {
  std::string text = fmt::format("bottleneck: {}: {}\n", diagnosis.bottleneck, diagnosis.says);
  for (const diagnose::Metric& metric : diagnosis.evidence)
    text += fmt::format("evidence: {} = {:.4g} ({})\n", metric.name, metric.value, diagnose::name_of(metric.origin));
  for (size_t i = 0; i < diagnosis.actions.size() && i < kActionsShown; ++i) {
    const diagnose::Action& action = diagnosis.actions[i];
    text += fmt::format("worth trying: {}, predicted {:.2f} times the speed: {}\n", action.to_string(), action.gain, action.why);
  }
  return text;
}

}  // namespace

agent::Facts facts_of(const event::Look& look) {
  agent::Facts facts;
  for (const diagnose::Metric& metric : look.metrics.all()) {
    const bool absent = metric.origin == diagnose::Origin::kAbsent;
    facts.metrics.push_back({metric.name, absent ? std::nullopt : std::optional(metric.value), metric.origin == diagnose::Origin::kModelled, metric.about});
  }
  facts.workload = look.workload;
  if (!look.diagnosis) return facts;
  const diagnose::Diagnosis& diagnosis = *look.diagnosis;
  facts.rules = rules_text(diagnosis);
  facts.sure = diagnosis.bottleneck == diagnose::kLight ||
               (diagnosis.bottleneck != diagnose::kUnknown && !diagnosis.actions.empty() && diagnosis.actions.front().gain >= kWorthwhile);
  return facts;
}

std::vector<std::string> pattern_lines(const std::vector<search::Seed>& seeds) {
  std::vector<std::string> lines;
  for (const search::Seed& seed : seeds) {
    if (seed.pattern.empty() || seed.pattern == "naive" || seed.pattern == "plain" || seed.pattern == "start") continue;
    std::string line = name_of(seed) + (seed.kernel.header.note.empty() ? "" : ": " + seed.kernel.header.note);
    if (std::find(lines.begin(), lines.end(), line) == lines.end() && lines.size() < kLines) lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<std::string> memory_lines(const event::Recalled& recalled) {
  std::vector<std::string> lines;
  for (const event::Recalled::First& first : recalled.first)
    lines.push_back(fmt::format("{} with {}: {:.2f} of the best speed on {}{}, confidence {:.2f}", first.source, json(first.config).dump(), first.share,
                                first.task, first.elsewhere ? ", a similar task" : ", this task", first.confidence));
  return lines;
}

}  // namespace hone::engine
