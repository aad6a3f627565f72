#include "hone/face/report/run_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "hone/base/json.h"
#include "hone/face/report/units.h"

namespace hone::face::report {
namespace {

using base::Json;

constexpr size_t kMostFact = 200;  ///< bytes; a start kernel's source is an option too

const Json& member(const Json& object, std::string_view key) {
  static const Json kNothing;
  if (!object.is_object()) return kNothing;
  const auto it = object.find(key);
  return it == object.end() ? kNothing : *it;
}

/// Strings as they are, nothing as "", anything else as JSON.
std::string text_of(const Json& value) {
  if (value.is_null()) return {};
  return value.is_string() ? value.get<std::string>() : base::canonical_json(value);
}
std::string text(const Json& object, std::string_view key) { return text_of(member(object, key)); }

double number_of(const Json& value, double otherwise = 0) {
  return value.is_number() ? value.get<double>() : otherwise;
}
double number(const Json& object, std::string_view key, double otherwise = 0) {
  return number_of(member(object, key), otherwise);
}
int64_t integer(const Json& object, std::string_view key) {
  const double value = number(object, key);
  return std::abs(value) < 9e18 ? static_cast<int64_t>(value) : 0;
}
int small(const Json& object, std::string_view key) {
  return static_cast<int>(std::clamp<int64_t>(integer(object, key), 0, std::numeric_limits<int>::max()));
}

std::vector<double> numbers(const Json& object, std::string_view key) {
  std::vector<double> all;
  if (const Json& list = member(object, key); list.is_array())
    for (const Json& item : list) all.push_back(number_of(item));
  return all;
}
std::vector<std::string> texts(const Json& object, std::string_view key) {
  std::vector<std::string> all;
  if (const Json& list = member(object, key); list.is_array())
    for (const Json& item : list) all.push_back(text_of(item));
  return all;
}

LoggedVerdict verdict_of(const Json& value) {
  LoggedVerdict verdict{text(value, "verdict"), text(value, "reason"), text(value, "detail"), {}};
  if (verdict.name.empty()) verdict.name = "unknown";
  if (const Json& a = member(value, "accuracy"); a.is_object())
    verdict.accuracy = evaluate::Accuracy{text(a, "output"),      text(a, "family"),   text(a, "shape"),
                                          number(a, "candidate"), number(a, "anchor"), number(a, "bound")};
  return verdict;
}

evaluate::Spent spent_of(const Json& value) {
  return {integer(value, "build"), integer(value, "verify"), integer(value, "run"), integer(value, "opponents"), integer(value, "sanitize")};
}

evaluate::OpponentResult opponent_of(const Json& value) {
  evaluate::OpponentResult o;
  o.opponent = text(value, "opponent");
  const std::string comparison = text(value, "comparison");
  for (const auto c : {evaluate::Comparison::kFaster, evaluate::Comparison::kSlower})
    if (evaluate::name_of(c) == comparison) o.comparison = c;
  const Json& ratio = member(value, "ratio");
  o.ratio = {number(ratio, "median", 1), number(ratio, "low"),
             number(ratio, "high", std::numeric_limits<double>::infinity())};
  o.opponent_ns = number(value, "opponent_ns");
  o.candidate_ns = number(value, "candidate_ns");
  o.dispatch_ns = number(value, "dispatch_ns");
  o.pairs = small(value, "pairs");
  o.processes = small(value, "processes");
  return o;
}

evaluate::Promotion promotion_of(const Json& value) {
  evaluate::Promotion p;
  if (const Json& list = member(value, "workloads"); list.is_array()) {
    for (const Json& item : list) {
      evaluate::WorkloadResult w;
      w.workload = text(item, "workload");
      w.bytes = number(item, "bytes");
      w.flops = number(item, "flops");
      w.bound_ns = number(item, "bound_ns");
      w.bound_by = text(item, "bound_by");
      w.memory_ns = number(item, "memory_ns", w.bound_ns);
      w.compute_ns = number(item, "compute_ns");
      w.bound_note = text(item, "bound_note");
      w.candidate_ns = number(item, "candidate_ns");
      w.hot_ns = number(item, "hot_ns");
      w.sol_fraction = number(item, "sol_fraction");
      w.samples_ns = numbers(item, "samples_ns");
      w.samples_mhz = numbers(item, "samples_mhz");
      if (const Json& opponents = member(item, "opponents"); opponents.is_array())
        for (const Json& o : opponents) w.opponents.push_back(opponent_of(o));
      p.workloads.push_back(std::move(w));
    }
  }
  p.absent = texts(value, "absent");
  if (const Json& seeds = member(value, "seeds"); seeds.is_array())
    for (const Json& seed : seeds)
      if (seed.is_number_unsigned()) p.seeds.push_back(seed.get<uint64_t>());
  p.spent = spent_of(member(value, "spent"));
  return p;
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
      shown = bytes_held(number_of(value));
    }
    std::replace(name.begin(), name.end(), '_', ' ');
    if (shown.empty()) continue;
    if (shown.size() > kMostFact)
      shown = fmt::format("{} in all", bytes_held(static_cast<double>(shown.size())));
    facts.emplace_back(std::move(name), std::move(shown));
  }
  return facts;
}

void read_started(const Json& event, RunLog& log) {
  log.track = text(event, "track");
  log.toolchain = text(event, "toolchain");
  log.version = text(event, "hone");
  log.machine = facts_of(member(event, "machine"));
  log.machine_model = text(member(event, "machine"), "model");
  log.options = facts_of(member(event, "options"));
  log.opponents = texts(event, "opponents");
  log.workloads.clear();
  if (const Json& list = member(event, "workloads"); list.is_array()) {
    for (const Json& item : list) {
      LoggedWorkload workload{text(item, "name"), {}, number(item, "weight", 1)};
      if (const Json& bindings = member(item, "bindings"); bindings.is_object())
        for (const auto& [symbol, value] : bindings.items())
          workload.bindings += fmt::format("{}{}={}", workload.bindings.empty() ? "" : " ", symbol,
                                           text_of(value));
      log.workloads.push_back(std::move(workload));
    }
  }
}

void read_screened(const Json& event, RunLog& log) {
  Evaluation e;
  e.number = small(event, "n");
  e.at = std::max(0.0, number(event, "at", log.seconds));
  e.kernel = text(event, "kernel");
  e.parent = text(event, "parent");
  e.author = text(event, "author");
  e.pattern = text(event, "pattern");
  e.action = text(event, "action");
  e.note = text(event, "note");
  e.reason = text(event, "reason");
  if (const Json& config = member(event, "config"); config.is_object())
    for (const auto& [name, value] : config.items()) e.config[name] = text_of(value);
  const Json& screening = member(event, "screening");
  e.verdict = verdict_of(member(screening, "verdict"));
  e.median_ns = numbers(screening, "median_ns");
  e.spent = spent_of(member(screening, "spent"));
  e.predicted = number(event, "predicted");
  e.cause = text(event, "cause");
  e.score = e.accepted() ? std::max(0.0, number(event, "score")) : 0;
  log.evaluations.push_back(std::move(e));
}

/// One proposal with the reason in `why`, or counts by reason.
void read_considered(const Json& event, RunLog& log) {
  if (event.contains("why")) {
    ++log.considered[text(event, "why")];
    return;
  }
  for (const auto& [key, value] : event.items()) {
    if (key == "at" || key == "n" || !value.is_number() || integer(event, key) == 0) continue;
    std::string why = key;
    std::replace(why.begin(), why.end(), '_', ' ');
    log.considered[why] += static_cast<int>(integer(event, key));  // below zero: taken up after all
  }
}

void read_event(std::string_view kind, const Json& event, RunLog& log) {
  const auto mark = [&] { return Mark{text(event, "kernel"), number(event, "score"), number(event, "at")}; };
  if (kind == "started") {
    read_started(event, log);
  } else if (kind == "calibrated") {
    log.bounds_ns = numbers(event, "bounds_ns");
  } else if (kind == "considered") {
    read_considered(event, log);
  } else if (kind == "screened") {
    read_screened(event, log);
  } else if (kind == "duplicate") {
    ++log.considered["machine code that was measured before"];
  } else if (kind == "diagnosed") {
    log.diagnoses.push_back({text(event, "kernel"), text(event, "workload"), diagnose::diagnosis_from(member(event, "diagnosis"))});
  } else if (kind == "yardstick") {
    log.yardsticks.push_back(mark());
  } else if (kind == "champion") {
    log.champions.push_back(mark());
    log.champion = log.champions.back().kernel;
  } else if (kind == "raced") {
    const Json& screening = member(event, "screening");
    const bool accepted = verdict_of(member(screening, "verdict")).accepted();
    log.races.push_back(
        {text(event, "kernel"), accepted ? number(screening, "score") : 0, number(event, "at")});
    log.raced += spent_of(member(screening, "spent"));
  } else if (kind == "recalled" || kind == "agents" || kind == "profiled" || kind == "tool" || kind == "waited" || kind == "stalled" || kind == "fallback") {
    // What the ledger needs is in the questions and answers; what was recalled shows in the candidates it led to.
  } else if (kind == "asked") {
    ModelRow& row = log.models[text(event, "name")];
    row.name = text(event, "name");
    ++row.calls;
  } else if (kind == "answered") {
    ModelRow& row = log.models[text(event, "name")];
    row.failures += member(event, "reply").is_object() ? 0 : 1;
    row.tokens += static_cast<int64_t>(number(event, "tokens"));
    row.nanodollars += static_cast<int64_t>(number(event, "nanodollars"));
    if (const Json& attempts = member(event, "attempts"); attempts.is_array())
      for (const Json& attempt : attempts) row.seconds += 1e-9 * (number(attempt, "latency_ns") + number(attempt, "waited_ns"));
  } else if (kind == "stopped") {
    log.stopped = text(event, "reason");
  } else if (kind == "promoted") {
    const Json& promotion = member(event, "promotion");
    const Json& deterministic = member(promotion, "bitwise_deterministic");
    log.promotions.push_back(
        {text(event, "kernel"), number(event, "at"), verdict_of(member(promotion, "verdict")),
         deterministic.is_boolean() ? std::optional(deterministic.get<bool>()) : std::nullopt,
         promotion_of(promotion)});
  } else if (kind == "finished") {
    log.finished = text(event, "reason");
    if (log.finished.empty()) log.finished = "no reason given";
    if (const std::string champion = text(event, "champion"); !champion.empty()) log.champion = champion;
  } else {
    ++log.unknown[std::string(kind)];
  }
  log.seconds = std::max(log.seconds, number(event, "at"));
}

}  // namespace

RunLog read_log(const archive::RunInfo& run, const std::vector<archive::Event>& events) {
  RunLog log;
  log.info = run;
  for (const archive::Event& event : events) {
    const auto json = base::parse_json(event.json, event.kind);
    if (!json || !json->is_object()) {
      ++log.unread;
      continue;
    }
    // A resumed run goes on: what was said of its end no longer holds.
    if (event.kind != "finished") log.finished.clear();
    if (event.kind == "screened") log.stopped.clear();
    read_event(event.kind, *json, log);
  }
  if (log.champion.empty()) log.champion = run.champion;
  for (size_t i = 0; i < log.evaluations.size(); ++i) {
    Evaluation& e = log.evaluations[i];
    if (e.number == 0) e.number = static_cast<int>(i) + 1;
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
    if (it->kernel == champion && it->verdict.accepted()) return &*it;
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

std::string config_text(const Config& config) {
  std::string text;
  for (const auto& [name, value] : config)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text;
}

}  // namespace hone::face::report
