#include "hone/agent/looked.h"

#include <algorithm>

#include <fmt/format.h>

#include "hone/agent/prompt.h"

namespace hone::agent {
namespace {

constexpr size_t kCoursesShown = 8;   ///< workloads of one kernel
constexpr size_t kRefusedShown = 3;   ///< settings of one source that were refused

/// "nearest to its bound at B=1 S=7, output y, sparse inputs: largest 0.0010 of at most 0.0078 (the anchor's own: …)".
std::string accuracy_text(const evaluate::Accuracy& a) {
  std::string text = fmt::format("output {}, {} inputs, {}: largest error {:.3g} of at most {:.3g} (the anchor's own: {:.3g})", a.output, a.family,
                                 a.shape, a.candidate, a.bound, a.anchor);
  if (a.bound_rms > 0) text += fmt::format(", rms {:.3g} of at most {:.3g}", a.candidate_rms, a.bound_rms);
  return text;
}

double at(const std::vector<double>& values, size_t i) { return i < values.size() ? values[i] : 0; }

}  // namespace

std::string time_text(double ns) {
  if (ns < 1e3) return fmt::format("{:.4g} ns", ns);
  if (ns < 1e6) return fmt::format("{:.4g} us", ns * 1e-3);
  if (ns < 1e9) return fmt::format("{:.4g} ms", ns * 1e-6);
  return fmt::format("{:.4g} s", ns * 1e-9);
}

std::string config_text(const kernel::Config& config) {
  std::string text;
  for (const auto& [name, value] : config) text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text;
}

void Looked::add(const std::string& kernel, const Judged& judged) {
  if (judged.source.empty()) return;
  const auto [at, is_new] = looks_.insert_or_assign(kernel, judged);
  if (is_new) kernels_[judged.source].push_back(kernel);
}

const Judged* Looked::find(const std::string& kernel) const {
  const auto found = looks_.find(kernel);
  return found == looks_.end() ? nullptr : &found->second;
}

bool Looked::untimed(const std::string& kernel) const {
  const Judged* const judged = find(kernel);
  return judged && judged->accepted && judged->screening.median_ns.empty();
}

std::string Looked::against(const Judged& judged, const std::string& kernel, const std::string& best) const {
  const Judged* const leader = find(best);
  if (kernel == best || untimed(kernel) || !leader || leader->score <= 0 || judged.score <= 0) return {};
  // Scores are chained from yardstick to yardstick: how much a ratio is worth depends on what it went through.
  const char* how = judged.yardstick == best || leader->yardstick == kernel ? "measured side by side"
                    : judged.yardstick == leader->yardstick                ? "each timed beside the same third kernel"
                                                                           : "through several kernels in between, so not exact";
  return fmt::format("{:.3g} times the speed of the best of the run ({})", judged.score / leader->score, how);
}

std::string Looked::facts(const std::string& kernel, const std::string& best) const {
  const Judged* const judged = find(kernel);
  if (!judged || (judged->screening.median_ns.empty() && !judged->accepted)) return "nothing was measured yet\n";
  const evaluate::Screening& s = judged->screening;
  std::string text = untimed(kernel) ? "- right on everything that was tried; nothing is timed here\n" : "";
  for (size_t w = 0; w < s.median_ns.size() && w < kCoursesShown; ++w) {
    const Course course = w < courses_.size() ? courses_[w] : Course{};
    text += fmt::format("- {}: {} a call, caches cold", course.name, time_text(s.median_ns[w]));
    text += s.repetitions > 1 ? fmt::format(", median of {}", s.repetitions) : ", one look";
    if (course.bound_ns > 0)
      text += fmt::format("; the bound is {}, so {:.0f} % of the bound's speed", time_text(course.bound_ns), 100 * course.bound_ns / s.median_ns[w]);
    if (!judged->yardstick.empty() && w < s.ratio.size()) {
      text += fmt::format("; {:.3g} times the speed of {}, side by side", s.ratio[w],
                          judged->yardstick == best ? "the best of the run" : "the run's yardstick then");
      if (w < s.ratio_low.size() && s.repetitions > 1) text += fmt::format(" ({} pairs: {:.3g} to {:.3g})", s.repetitions, s.ratio_low[w], at(s.ratio_high, w));
    }
    text += "\n";
  }
  if (s.median_ns.size() > kCoursesShown) text += fmt::format("- and {} more workloads\n", s.median_ns.size() - kCoursesShown);
  if (const std::string line = against(*judged, kernel, best); !line.empty()) text += "- " + line + "\n";
  if (const auto& a = s.verdict.accuracy) text += fmt::format("- accuracy, nearest to its bound: {}\n", accuracy_text(*a));
  if (const auto& a = s.at_size; a && (!s.verdict.accuracy || a->shape != s.verdict.accuracy->shape))
    text += fmt::format("- accuracy at the workloads' own shapes: {}\n", accuracy_text(*a));
  return text;
}

std::string Looked::brief(const std::string& kernel) const {
  const Judged* const judged = find(kernel);
  if (!judged || judged->screening.median_ns.empty()) return {};
  std::string text;
  if (judged->screening.median_ns.size() == 1) text = time_text(judged->screening.median_ns[0]) + " a call";
  if (judged->light > 0) text += fmt::format("{}{:.0f} % of the bound's speed", text.empty() ? "" : ", ", 100 * judged->light);
  return text;
}

std::string Looked::fastest(const std::string& source) const {
  const auto found = kernels_.find(source);
  if (found == kernels_.end()) return {};
  std::string best;
  double score = 0;
  for (const std::string& kernel : found->second)
    if (const Judged& judged = looks_.at(kernel); judged.accepted && judged.score > score) best = kernel, score = judged.score;
  return best;
}

std::string Looked::settings(const std::string& source, const std::string& shown, const std::string& best, size_t most) const {
  const auto found = kernels_.find(source);
  if (found == kernels_.end()) return "none was tried yet\n";
  std::vector<std::pair<std::string, const Judged*>> accepted, refused;
  for (const std::string& kernel : found->second) {
    const Judged& judged = looks_.at(kernel);
    if (judged.config.empty()) return "it names no tunables\n";
    (judged.accepted ? accepted : refused).emplace_back(kernel, &judged);
  }
  std::stable_sort(accepted.begin(), accepted.end(), [](const auto& a, const auto& b) { return a.second->score > b.second->score; });
  std::string text;
  size_t left_out = 0, right = 0;
  for (const auto& [kernel, judged] : accepted) {
    // Nothing sets one apart from another.
    if (untimed(kernel) && kernel != shown) {
      ++right;
      continue;
    }
    const std::string what = untimed(kernel) ? "right" : brief(kernel), than = against(*judged, kernel, best);
    const std::string line = fmt::format("- {}{}: {}{}{}{}\n", config_text(judged->config), kernel == shown ? " (as above)" : "", what,
                                         what.empty() || than.empty() ? "" : "; ", than, kernel == best && !untimed(kernel) ? "; the best of the run" : "");
    if (text.size() + line.size() > most) ++left_out;
    else text += line;
  }
  if (left_out > 0) text += fmt::format("- {} slower ones left out\n", left_out);
  if (right > 0) text += fmt::format("- other settings that are right: {}\n", right);
  for (size_t i = 0; i < refused.size() && i < kRefusedShown; ++i)
    text += fmt::format("- {}: refused, {}: {}\n", config_text(refused[i].second->config), refused[i].second->verdict,
                        in_words(refused[i].second->reason, 160));
  if (refused.size() > kRefusedShown) text += fmt::format("- {} more were refused\n", refused.size() - kRefusedShown);
  return text;
}

}  // namespace hone::agent
