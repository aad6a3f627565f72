// What a team asks its researcher and its diagnoser, and what it makes of their answers.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hone/agent/prompt.h"
#include "hone/agent/team.h"
#include "hone/agent/team_words.h"

namespace hone::agent {
namespace {

constexpr size_t kDiagnosisShown = 3000, kKnowledgeShown = 6000;

/// Evidence may name what is known, not what is absent.
std::vector<std::string> known_names(const std::vector<Metric>& metrics) {
  std::vector<std::string> names;
  for (const Metric& metric : metrics)
    if (metric.value) names.push_back(metric.name);
  return names;
}

std::string text_of(const ResearchAnswer& answer) {
  std::string text;
  for (const auto& [name, why] : answer.applies) text += fmt::format("applies: {}: {}\n", name, why);
  for (const std::string& idea : answer.ideas) text += fmt::format("idea: {}\n", idea);
  return text;
}

std::string text_of(const DiagnosisAnswer& answer) {
  std::string text = fmt::format("bottleneck: {}\n", answer.bottleneck);
  for (const DiagnosisAnswer::Evidence& e : answer.evidence)
    text += fmt::format("evidence: {} = {:.4g}{}\n", e.metric, e.value, e.says.empty() ? "" : ": " + e.says);
  for (size_t i = 0; i < answer.plan.size(); ++i) text += fmt::format("step {}: {}\n", i + 1, answer.plan[i]);
  if (answer.expected_speedup > 0) text += fmt::format("expected: {:.2f} times this kernel's speed\n", answer.expected_speedup);
  return text;
}

std::string list_of(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += "- " + one_line(line, 300) + "\n";
  return text.empty() ? "none" : text;
}

}  // namespace

std::string metrics_text(const std::vector<Metric>& metrics, bool about) {
  if (metrics.empty()) return "none was measured";
  std::string text;
  for (const Metric& metric : metrics)
    text += fmt::format("{}: {}{}\n", metric.name, metric.value ? fmt::format("{:.4g} ({})", *metric.value, metric.modelled ? "modelled" : "measured") : "absent",
                        about && !metric.about.empty() ? ": " + one_line(metric.about, 160) : "");
  return text;
}

Result<std::string> diagnoser_question(const Documents& documents, const kernel::Kernel& kernel, const std::vector<Metric>& metrics, const std::string& rules,
                                      const std::string& workload) {
  return prompt(documents, "diagnoser", {{"kernel", source_of(kernel)}, {"metrics", metrics_text(metrics)}, {"explained", metrics_text(metrics, true)},
                                         {"workload", workload.empty() ? "the run's workload" : "workload " + one_line(workload, 60)},
                                         {"rules", rules.empty() ? "nothing: they had too little to go by" : rules}});
}

Result<std::string> Team::research_question() const {
  std::vector<std::string> lessons = options_.lessons;
  lessons.insert(lessons.end(), options_.memory.begin(), options_.memory.end());
  return prompt(options_.documents, "researcher", {{"patterns", material("PATTERNS", list_of(options_.patterns), kKnowledgeShown)},
                                                   {"lessons", material(kLessonsMaterial, list_of(lessons), kKnowledgeShown)}});
}

std::vector<std::string> Team::wants_facts() const {
  std::vector<std::string> wanted;
  if (options_.diagnose == Diagnose::kNever) return wanted;
  for (const Direction& d : directions_) {
    if (!d.best) continue;
    std::string hash = d.best->hash();
    if (!facts_.contains(hash) && std::find(wanted.begin(), wanted.end(), hash) == wanted.end()) wanted.push_back(std::move(hash));
  }
  return wanted;
}

bool Team::wants_diagnosis(const Direction& d, const std::string& best) const {
  if (options_.diagnose == Diagnose::kNever || d.diagnosed == best) return false;
  const auto facts = facts_.find(best);
  // Without metrics a diagnosis would be a guess.
  if (facts == facts_.end() || known_names(facts->second.metrics).empty()) return false;
  return options_.diagnose == Diagnose::kAlways || !facts->second.sure;
}

std::string Team::advice(const Direction& d, const std::string& shown) const {
  const std::string best = d.best->hash();
  const auto facts = facts_.find(best);
  std::string text;
  if (facts != facts_.end() && !facts->second.rules.empty()) text = fmt::format("{}\n{}", kRulesSay, facts->second.rules);
  if (d.diagnosed == best && !d.diagnosis.empty()) text += "The diagnoser says:\n" + material(kDiagnosisMaterial, d.diagnosis, kDiagnosisShown) + "\n";
  if (text.empty()) return text;
  // Who looked at it did so before the tuner went on.
  return fmt::format("What holds it back{}{}:\n{}\n", facts == facts_.end() || facts->second.workload.empty() ? "" : " on workload " + one_line(facts->second.workload, 60),
                     best == shown ? "" : ", looked at with the settings " + config_text(d.best->config), text);
}

std::optional<std::string> Team::take_advice(Direction& d, const Reply& reply) {
  if (d.agent == "researcher") {
    const auto answer = research_answer(reply.text);
    if (!answer) return answer.error().problem;
    found_ = text_of(*answer);
    research_ = Research::kDone;
  } else {
    const auto facts = facts_.find(d.parent);
    const auto answer = diagnosis_answer(reply.text, facts == facts_.end() ? std::vector<std::string>{} : known_names(facts->second.metrics));
    if (!answer) return answer.error().problem;
    d.bottleneck = answer->bottleneck;
    d.diagnosis = text_of(*answer);
    d.foretold = answer->expected_speedup;
  }
  conclude(d);
  return std::nullopt;
}

std::optional<Promise> Team::promised(const std::string& kernel) const {
  for (const Direction& d : directions_)
    if (d.phase == Phase::kWaiting && d.last_hash == kernel && d.agent == "optimiser" && d.foretold > 1 && d.parent == d.diagnosed)
      return Promise{d.action, "diagnoser: " + d.bottleneck, d.foretold};
  return std::nullopt;
}

}  // namespace hone::agent
