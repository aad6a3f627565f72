// What a team's prompts are filled with.
#include "hone/agent/team_words.h"

#include <algorithm>

#include <fmt/format.h>

#include "hone/agent/difference.h"
#include "hone/agent/prompt.h"
#include "hone/agent/team.h"
#include "hone/base/hash.h"

namespace hone::agent {
namespace {

using kernel::Kernel;

constexpr size_t kSourceShown = size_t{24} << 10, kDetailShown = size_t{4} << 10;
constexpr size_t kBytesAToken = 4;
constexpr size_t kSettingsShown = 1500;   ///< bytes of what one source's settings gave
constexpr size_t kActionShown = 120, kLessonShown = 300, kReasonShown = 160;
constexpr size_t kFindingsShown = 3000;   ///< bytes of what a researcher found

constexpr const char* kHints[] = {
    "as few passes over memory as the computation allows",
    "the innermost loop: wide vectors, several accumulators, no dependence between iterations",
    "blocking for caches and registers, and reuse of what was loaded",
    "how work is shared: grid, load balance between threads, streaming stores past the caches",
    "cheaper arithmetic of the same accuracy: algebra, common subexpressions, fewer divisions",
    "special treatment of short and of long extents by separate launches (`when`)",
};

std::string tenths(double score) { return score > 0 ? fmt::format("{:.2f}", score) : "no"; }

std::string light_text(double light) {
  // The run's bound was measured before it began: nobody is told that something is faster than light.
  if (light > 1) return ", at the speed of light as it was measured before the run, or beyond";
  return light > 0 ? fmt::format(", about {:.0f} % of the speed of light", 100 * light) : "";
}

std::string source_hash(const Kernel& kernel) { return base::content_hash(kernel.source); }

}  // namespace

std::string fence_of(kernel::Language language) { return std::string(kernel::row_of(language).fence); }

std::string source_of(const Kernel& kernel) { return material("KERNEL", kernel::with_config(kernel, kernel.config), kSourceShown); }

std::string Team::hint_of(int number) const {
  const auto n = static_cast<size_t>(number);
  // Those of the task first; whoever asks for more gets what holds for any.
  const size_t own = options_.directions.size(), at = n % (own + std::size(kHints));
  return at < own ? options_.directions[at] : kHints[at - own];
}

std::string worked_kernels(const Documents& documents, const std::vector<std::string>& files) {
  std::string kernels;
  for (size_t i = 0; i < files.size(); ++i) kernels += fmt::format("\nNumber {}:\n{}\n", i + 1, material("KERNEL", files[i], kSourceShown));
  const auto text = kernels.empty() ? Result<std::string>("") : prompt(documents, "worked", {{"kernels", kernels}});
  return text.value_or("");
}

std::string Team::attempts(const std::function<std::string(const Trial&)>& line_of) const {
  const size_t most = static_cast<size_t>(options_.history_tokens) * kBytesAToken;
  std::vector<std::string> lines;
  size_t size = 0, left_out = 0;
  for (auto t = trials_.rbegin(); t != trials_.rend(); ++t) {
    std::string line = line_of(*t);
    if (size + line.size() > most) {
      ++left_out;
      continue;
    }
    size += line.size() + 1;
    lines.push_back(std::move(line));
  }
  if (lines.empty()) return "nothing yet";
  std::reverse(lines.begin(), lines.end());
  std::string text = left_out > 0 ? fmt::format("({} earlier attempts left out)\n", left_out) : "";
  for (const std::string& line : lines) text += line + "\n";
  return material("NOTES", text, most + 200);
}

std::string Team::history(int direction) const {
  return attempts([&](const Trial& t) {
    std::string line = fmt::format("- {}{} by {}: {}{}{}", t.direction == direction ? "(yours) " : "", t.action.empty() ? t.agent : one_line(t.action, 120), t.model,
                                   t.verdict, t.score > 0 ? fmt::format(", {:.2f} times the first", t.score) : "",
                                   t.reason.empty() ? "" : ": " + one_line(t.reason, 160));
    if (!t.lesson.empty()) line += fmt::format(" [its author's lesson: {}]", one_line(t.lesson, 300));
    return line;
  });
}

std::string Team::note(const Trial& t, int direction, const std::string& best) const {
  std::string line = fmt::format("- {}{} by {}", t.direction == direction ? "(yours) " : "", t.action.empty() ? t.agent : in_words(t.action, kActionShown), t.model);
  const Judged* const judged = looked_.find(t.kernel);
  if (judged && !judged->config.empty()) line += fmt::format(" [{}]", config_text(judged->config));
  line += ": " + t.verdict;
  if (const std::string brief = looked_.brief(t.kernel); !brief.empty()) line += ", " + brief;
  const bool timed = !looked_.untimed(t.kernel);
  if (timed && t.score > 0 && t.best_before > 0) line += fmt::format(", {:.3g} times the speed of the best then", t.score / t.best_before);
  if (timed && !best.empty() && t.kernel == best) line += "; the best of the run";
  if (judged) {
    const std::string fastest = looked_.fastest(judged->source);
    if (timed && !fastest.empty() && fastest != t.kernel)
      line += fmt::format("; tuned since: [{}] {}{}", config_text(looked_.find(fastest)->config), looked_.brief(fastest),
                          fastest == best ? ", the best of the run" : "");
  }
  if (!t.reason.empty()) line += ": " + in_words(t.reason, kReasonShown);
  if (!t.lesson.empty())
    line += fmt::format(" [its author's lesson{}: {}]", t.lost() && (timed || t.score <= 0) ? (t.score > 0 ? ", though its kernel was no faster than the best" : ", though its kernel was not accepted") : "",
                        in_words(t.lesson, kLessonShown));
  return line;
}

std::string Team::notes(int direction, const std::string& best) const {
  return attempts([&](const Trial& t) { return note(t, direction, best); });
}

std::string Team::others(int direction) const {
  std::string text;
  for (size_t i = 0; i < directions_.size(); ++i) {
    if (static_cast<int>(i) == direction) continue;
    const Direction& d = directions_[i];
    const char* state = d.phase == Phase::kWaiting                                   ? "has answered, its kernel is not judged yet"
                        : d.phase == Phase::kIdle && d.conversation.empty()          ? "waits to be asked"
                                                                                     : "is being asked now";
    text += fmt::format("- {}: {}{}\n", hint_of(d.hint), state, d.phase == Phase::kWaiting ? ": " + in_words(d.action, kActionShown) : "");
  }
  return text.empty() ? "nobody else" : material("LINES", text, size_t{4} << 10);
}

Kernel Team::tuned(const Kernel& kernel) const {
  Kernel out = kernel;
  if (const Judged* const judged = looked_.find(looked_.fastest(source_hash(kernel)))) out.config = judged->config;
  return out;
}

std::string Team::settings(const Kernel& kernel, const std::string& shown, const std::string& best) const {
  return material("SETTINGS", looked_.settings(source_hash(kernel), shown, best, kSettingsShown), kSettingsShown + 1000);
}

std::string Team::best_of_run(const Standing& standing, const std::string& shown_above) const {
  if (!standing.kernel) return "There is no accepted kernel yet.";
  const std::string best = standing.kernel->hash();
  if (best == shown_above) return "The kernel above is the best of the run so far.";
  const std::string action = standing.kernel->author.starts_with("model:") ? "one of the models'" : "hone's own search's";
  return fmt::format("The best kernel of the run so far, {}:\n{}{}\nIts settings:\n{}", action, looked_.facts(best, best), source_of(*standing.kernel),
                     settings(*standing.kernel, best, best));
}

std::string Team::best_beside(const Standing& standing, const Kernel* shown) const {
  if (!standing.kernel) return "There is no accepted kernel yet.";
  const Kernel& best = *standing.kernel;
  const std::string hash = best.hash();
  if (shown && shown->hash() == hash) return "The kernel above is the best of the run so far.";
  const std::string whose = best.author.starts_with("model:") ? "one of the models'" : "hone's own search's", config = best.config.empty() ? "" : " with " + config_text(best.config);
  const auto number = std::find(options_.worked.begin(), options_.worked.end(), best.source);
  std::string source;
  if (shown && shown->source == best.source) source = fmt::format("It is the kernel above{}.", config);
  else if (number != options_.worked.end()) source = fmt::format("It is the library's kernel number {}{}.", number - options_.worked.begin() + 1, config);
  else if (const auto differs = shown ? difference(kernel::with_config(*shown, shown->config), kernel::with_config(best, best.config)) : std::nullopt)
    source = "It differs from the kernel above in these lines (- above, + the best):\n" + material("DIFFERENCE", *differs, kSourceShown);
  else source = source_of(best);
  return fmt::format("The best kernel of the run so far, {}:\n{}{}\nIts settings:\n{}", whose, looked_.facts(hash, hash), source, settings(best, hash, hash));
}

Result<std::string> Team::question(const Direction& d, int index, const Standing& standing, std::string& agent, std::string& parent) const {
  HONE_TRY(const std::string format, prompt(options_.documents, "answer_format", {{"fence", fence_of(options_.language)}}));
  if (!options_.feedback) {
    // Attempts that know nothing of each other: only the idea to begin from changes.
    int before = 0;
    for (const Tally& tally : tallies_) before += tally.calls;
    agent = "generator";
    parent.clear();
    return prompt(options_.documents, "attempt", {{"direction", hint_of(before)}, {"answer_format", format}});
  }
  if (research_ == Research::kDue) {
    agent = "researcher";
    parent.clear();
    return research_question();
  }
  std::string knowledge;
  for (const std::string& lesson : options_.lessons) knowledge += "- " + lesson + "\n";
  if (!knowledge.empty()) knowledge = "Lessons of earlier runs on this task:\n" + material(kLessonsMaterial, knowledge, 2000) + "\n\n";
  if (!found_.empty() && !d.briefed) knowledge += "What the researcher found in patterns and memory:\n" + material(kResearchMaterial, found_, kFindingsShown) + "\n\n";
  const std::string best = standing.kernel ? standing.kernel->hash() : "";
  std::map<std::string, std::string, std::less<>> values = {
      {"direction", hint_of(d.hint)}, {"others", others(index)},        {"best_score", tenths(standing.score)}, {"history", history(index)},
      {"notes", notes(index, best)},  {"knowledge", knowledge},         {"answer_format", format},
      {"best_facts", looked_.facts(best, best)}};
  if (d.last && !d.last_judged.accepted && d.fixes < kFixes) {
    agent = "fixer";
    parent = d.last_hash;
    values["kernel"] = source_of(*d.last);
    values["verdict"] = fmt::format("{}: {}", d.last_judged.verdict, one_line(d.last_judged.reason, 500));
    values["detail"] = material("OUTPUT", d.last_judged.detail.empty() ? d.last_judged.reason : d.last_judged.detail, kDetailShown);
    return prompt(options_.documents, "fixer", values);
  }
  if (d.best) {
    parent = d.best->hash();
    if (wants_diagnosis(d, parent)) {
      agent = "diagnoser";
      const Facts& facts = facts_.at(parent);
      return diagnoser_question(options_.documents, *d.best, facts.metrics, facts.rules, facts.workload);
    }
    agent = "optimiser";
    const Kernel shown = tuned(*d.best);
    const std::string hash = shown.hash();
    values["score"] = tenths(d.best_score);
    values["kernel"] = source_of(*d.best);
    values["diagnosis"] = metrics_text({{"fraction_of_speed_of_light", d.last_judged.light > 0 ? std::optional(std::min(1.0, d.last_judged.light)) : std::nullopt, false}});
    values["advice"] = advice(d, hash);
    values["tuned"] = source_of(shown);
    values["tuned_facts"] = looked_.facts(hash, best);
    values["settings"] = settings(shown, hash, best);
    values["best_of_run"] = best_of_run(standing, hash);
    values["best_beside"] = best_beside(standing, &shown);
    return prompt(options_.documents, "optimiser", values);
  }
  agent = "generator";
  parent = best;
  values["light"] = light_text(standing.light);
  values["best"] = standing.kernel ? source_of(*standing.kernel) : "there is none yet";
  values["best_of_run"] = best_of_run(standing, "");
  values["best_beside"] = best_beside(standing, nullptr);
  return prompt(options_.documents, "generator", values);
}

std::vector<std::string> Team::lessons() const {
  std::vector<std::string> all;
  for (const Trial& t : trials_) {
    if (t.score <= 0 && t.lesson.empty()) continue;
    std::string line = fmt::format("{}: {}", in_words(t.action, kActionShown), t.verdict);
    if (const std::string brief = looked_.brief(t.kernel); !brief.empty()) line += ", " + brief;
    const bool timed = !looked_.untimed(t.kernel);
    if (timed && t.score > 0 && t.best_before > 0) line += fmt::format(", {:.3g} times the speed of the best then", t.score / t.best_before);
    if (!t.lesson.empty())
      line += fmt::format(" ({}{})", t.lost() && (timed || t.score <= 0) ? (t.score > 0 ? "of a kernel that was no faster than the best: " : "of a kernel that was not accepted: ") : "",
                          in_words(t.lesson, kLessonShown));
    all.push_back(std::move(line));
  }
  return all;
}

}  // namespace hone::agent
