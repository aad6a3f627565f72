#include "hone/face/report/run_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "hone/base/json.h"
#include "hone/face/report/units.h"

namespace hone::face::report {
namespace {

using base::Json;

constexpr size_t kMostFact = 200;  ///< bytes; a start kernel's source is an option too

/// Strings as they are, nothing as "", anything else as JSON.
std::string text_of(const Json& value) {
  if (value.is_null()) return {};
  return value.is_string() ? value.get<std::string>() : base::canonical_json(value);
}

/// An object as facts; sizes get their units, texts that would fill a page are cut.
Facts facts_of(const Json& object) {
  Facts facts;
  if (!object.is_object()) return facts;
  for (const auto& [key, value] : object.items()) {
    std::string name = key;
    std::string shown = text_of(value);
    if (name.ends_with("_bytes")) {
      name.resize(name.size() - 6);
      shown = bytes_held(value.is_number() ? value.get<double>() : 0);
    }
    std::replace(name.begin(), name.end(), '_', ' ');
    if (shown.empty()) continue;
    if (shown.size() > kMostFact)
      shown = fmt::format("{} in all", bytes_held(static_cast<double>(shown.size())));
    facts.emplace_back(std::move(name), std::move(shown));
  }
  return facts;
}

void take(const engine::event::Started& e, const Mark&, RunLog& log) {
  log.track = e.track;
  log.device = e.device;
  log.toolchain = e.toolchain;
  log.version = e.hone;
  log.machine = facts_of(e.machine);
  log.machine_model = e.machine.is_object() && e.machine.contains("model") ? text_of(e.machine["model"]) : "";
  log.options = facts_of(e.options);
  log.opponents = e.opponents;
  log.workloads.clear();
  for (const auto& w : e.workloads) log.workloads.push_back({w.name, config_text(w.bindings), w.weight});
}

void take(const engine::event::Calibrated& e, const Mark&, RunLog& log) { log.bounds_ns = e.bounds_ns; }

void take(const engine::event::Considered& e, const Mark&, RunLog& log) {
  const std::pair<const char*, int> counts[] = {{"constraint", e.constraint}, {"duplicate", e.duplicate}, {"predicted slower", e.predicted_slower}};
  for (const auto& [why, count] : counts)
    if (count != 0) log.considered[why] += count;
}

void take(const engine::event::Screened& e, const Mark& mark, RunLog& log) {
  log.stopped.clear();  // a resumed run goes on
  Evaluation evaluation{e, std::max(0.0, mark.at)};
  evaluation.n = std::max(0, e.n);
  evaluation.score = evaluation.accepted() ? std::max(0.0, e.score) : 0;
  log.evaluations.push_back(std::move(evaluation));
}

void take(const engine::event::Duplicate&, const Mark&, RunLog& log) { ++log.considered["machine code that was measured before"]; }
void take(const engine::event::Diagnosed& e, const Mark&, RunLog& log) { log.diagnoses.push_back(e); }
void take(const engine::event::Yardstick&, const Mark& mark, RunLog& log) { log.yardsticks.push_back(mark); }

void take(const engine::event::Champion& e, const Mark& mark, RunLog& log) {
  log.champions.push_back(mark);
  log.champion = e.kernel;
}

void take(const engine::event::Raced& e, const Mark& mark, RunLog& log) {
  log.races.push_back({e.kernel, e.screening.verdict.accepted() ? e.screening.score : 0, mark.at});
  log.raced += e.screening.spent;
}

void take(const engine::event::Asked& e, const Mark&, RunLog& log) {
  ModelRow& row = log.models[e.name];
  row.name = e.name;
  ++row.calls;
}

void take(const engine::event::Answered& e, const Mark&, RunLog& log) {
  ModelRow& row = log.models[e.name];
  row.failures += e.exchange.reply ? 0 : 1;
  row.tokens += e.charged.tokens;
  row.nanodollars += e.charged.nanodollars;
  for (const agent::Attempt& attempt : e.exchange.attempts)
    row.seconds += 1e-9 * (static_cast<double>(attempt.latency_ns) + static_cast<double>(attempt.waited_ns));
}

void take(const engine::event::Stopped& e, const Mark&, RunLog& log) { log.stopped = e.reason; }
void take(const engine::event::Promoted& e, const Mark& mark, RunLog& log) { log.promotions.push_back({e, mark.at}); }

void take(const engine::event::Finished& e, const Mark&, RunLog& log) {
  log.finished = e.reason.empty() ? "no reason given" : e.reason;
  if (!e.champion.empty()) log.champion = e.champion;
}

void take(const engine::event::Unknown& e, const Mark&, RunLog& log) { ++log.unknown[e.kind]; }

/// What the ledger needs is in the questions and answers; what was recalled shows in the candidates it led to.
template <class E>
void take(const E&, const Mark&, RunLog&) {}

}  // namespace

RunLog read_log(const archive::RunInfo& run, const std::vector<archive::Event>& events) {
  RunLog log;
  log.info = run;
  for (const engine::LoggedEvent& logged : engine::read_events(events)) {
    if (const auto* const unknown = logged.as<engine::event::Unknown>(); unknown && !unknown->readable) {
      ++log.unread;
      continue;
    }
    // A resumed run goes on: what was said of its end no longer holds.
    if (!logged.is<engine::event::Finished>()) log.finished.clear();
    std::visit([&](const auto& e) {
      Mark mark{"", 0, logged.at};
      if constexpr (requires { e.kernel; }) mark.kernel = e.kernel;
      if constexpr (requires { e.score; }) mark.score = e.score;
      take(e, mark, log);
    }, logged.event);
    if (logged.is<engine::event::Promoted>()) log.promotions.back().complete = logged.problem.empty();
    log.seconds = std::max(log.seconds, logged.at);
  }
  if (log.champion.empty()) log.champion = run.champion;
  for (size_t i = 0; i < log.evaluations.size(); ++i) {
    Evaluation& e = log.evaluations[i];
    if (e.n == 0) e.n = static_cast<int>(i) + 1;
    const auto [it, added] = log.by_kernel.try_emplace(e.kernel, i);
    if (!added && e.accepted() && !log.evaluations[it->second].accepted()) it->second = i;
  }
  return log;
}

const Evaluation* RunLog::find(const std::string& kernel) const {
  const auto it = by_kernel.find(kernel);
  return it == by_kernel.end() ? nullptr : &evaluations[it->second];
}

const PromotionEvent* RunLog::champion_promotion() const {
  for (auto it = promotions.rbegin(); it != promotions.rend(); ++it)
    if (it->kernel == champion && it->promotion.verdict.accepted()) return &*it;
  return nullptr;
}

const Evaluation* RunLog::best() const {
  const Evaluation* best = nullptr;
  for (const Evaluation& e : evaluations)
    if (e.accepted() && (!best || e.score > best->score)) best = &e;
  return best;
}

int RunLog::accepted() const {
  return static_cast<int>(std::count_if(evaluations.begin(), evaluations.end(),
                                        [](const Evaluation& e) { return e.accepted(); }));
}

double RunLog::weight_of(std::string_view workload) const {
  for (const LoggedWorkload& w : workloads)
    if (w.name == workload) return w.weight;
  return 1;
}

std::string config_text(const kernel::Config& config) {
  std::string text;
  for (const auto& [name, value] : config)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text;
}

}  // namespace hone::face::report
