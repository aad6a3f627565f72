#include "hone/face/bench/row.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hone/engine/event/event.h"
#include "hone/engine/recall.h"
#include "hone/engine/summary.h"
#include "hone/pattern/least_time.h"
#include "hone/pattern/library.h"

namespace hone::face::bench {
namespace {

using nlohmann::json;

constexpr evaluate::Comparison kComparisons[] = {evaluate::Comparison::kFaster, evaluate::Comparison::kSlower,
                                                 evaluate::Comparison::kInconclusive};

evaluate::Comparison comparison_from(const std::string& name) {
  for (const evaluate::Comparison c : kComparisons)
    if (evaluate::name_of(c) == name) return c;
  return evaluate::Comparison::kInconclusive;
}

json or_null(const std::string& text) { return text.empty() ? json() : json(text); }

std::string text_at(const json& value, const char* key) {
  const auto it = value.find(key);
  return it != value.end() && it->is_string() ? it->get<std::string>() : std::string();
}

void put_results(Row& row, const evaluate::Promotion& promotion, const task::Task& task) {
  const engine::Headline head = engine::headline_of(promotion, task);
  row.comparison = head.comparison;
  row.opponent = head.opponent;
  row.sol_fraction = head.sol_fraction;
  if (promotion.workloads.empty()) return;
  for (const evaluate::OpponentResult& o : promotion.workloads.front().opponents)
    if (const auto line = engine::against(promotion, task, o.opponent)) row.speedups.push_back({o.opponent, line->speedup, line->comparison, line->dispatch_ns, line->without_dispatch});
}

/// Which pattern a kernel of the archive came from, and what of it is plain loops.
void put_origin(Row& row, archive::Store& store, const std::string& hash, const task::Task& task) {
  row.least_ns = pattern::least_ns(task);
  row.plain_share = 1;
  const auto stored = store.kernel(hash);
  if (!stored) return;
  row.plain_share = 0;
  const auto kernel = engine::kernel_from(*stored);
  if (kernel) row.plain_share = pattern::plain_share(*kernel, task);
  constexpr std::string_view kAuthor = "pattern:";
  if (stored->author.starts_with(kAuthor)) row.pattern = stored->author.substr(kAuthor.size());
  else if (kernel) row.pattern = kernel->header.pattern;
}

/// What the run's events say that its end does not.
struct Told {
  bool compiled = false;
  std::string first_refusal;                  ///< of a screening
  std::optional<evaluate::Promotion> promotion;  ///< the last
  double seconds = 0;
};

Result<Told> told_by(const std::string& run, const std::vector<archive::Event>& rows) {
  Told told;
  for (engine::LoggedEvent& logged : engine::read_events(rows)) {
    if (!logged.problem.empty())
      return fail(ErrorCode::kCorrupt, fmt::format("run {} cannot be read: event {}: {}", run, logged.seq, logged.problem), "hone check says what is damaged");
    if (const auto* const screened = logged.as<engine::event::Screened>()) {
      const evaluate::Verdict& verdict = screened->screening.verdict;
      told.compiled |= verdict.kind != evaluate::VerdictKind::kDoesNotCompile && verdict.kind != evaluate::VerdictKind::kDoesNotApply;
      if (!verdict.accepted() && told.first_refusal.empty())
        told.first_refusal = fmt::format("{}: {}", evaluate::name_of(verdict.kind), verdict.reason);
    }
    if (auto* const promoted = std::get_if<engine::event::Promoted>(&logged.event)) told.promotion = std::move(promoted->promotion);
    if (logged.is<engine::event::Finished>()) told.seconds = logged.at;
  }
  return told;
}

evaluate::Ratio ratio_from(const json& value) {
  evaluate::Ratio ratio{value.at("median"), value.at("low")};
  if (!value.at("high").is_null()) ratio.high = value.at("high");
  return ratio;
}

json ratio_json(const evaluate::Ratio& ratio) {
  return {{"median", ratio.median}, {"low", ratio.low}, {"high", std::isfinite(ratio.high) ? json(ratio.high) : json()}};
}

Row row_from_json(const json& value) {
  Row row;
  row.task = value.at("task");
  row.verdict = value.at("verdict");
  row.reason = value.at("reason");
  row.compiled = value.at("compiled");
  row.comparison = comparison_from(value.at("comparison"));
  row.opponent = text_at(value, "opponent");
  for (const auto& [name, ratio] : value.at("speedups").items()) {
    Speedup& speedup = row.speedups.emplace_back();
    speedup.opponent = name;
    speedup.ratio = ratio_from(ratio);
    if (const auto less = ratio.find("without_dispatch"); less != ratio.end()) {  // not in rows from before it was measured
      speedup.dispatch_ns = ratio.at("dispatch_ns");
      speedup.less_dispatch = ratio_from(*less);
    }
    speedup.comparison = comparison_from(ratio.at("comparison"));
  }
  if (!value.at("sol_fraction").is_null()) row.sol_fraction = value.at("sol_fraction");
  row.seconds = value.at("seconds");
  row.run = text_at(value, "run");
  row.champion = text_at(value, "champion");
  row.pattern = text_at(value, "pattern");
  row.least_ns = value.value("least_ns", 0.0);
  row.plain_share = value.value("plain_share", 0.0);
  row.recalled = value.at("recalled");
  row.absent = value.at("absent").get<std::vector<std::string>>();
  return row;
}

}  // namespace

evaluate::Comparison Speedup::comparison_without_dispatch() const {
  const evaluate::Ratio& less = without_dispatch();
  if (comparison == evaluate::Comparison::kFaster && less.low <= 1)
    return less.high < 1 ? evaluate::Comparison::kSlower : evaluate::Comparison::kInconclusive;
  if (comparison == evaluate::Comparison::kInconclusive && dispatch_ns > 0 && less.high < 1) return evaluate::Comparison::kSlower;
  return comparison;
}

const Speedup* Row::against(const std::string& name) const {
  const auto it = std::find_if(speedups.begin(), speedups.end(), [&](const Speedup& s) { return s.opponent == name; });
  return it == speedups.end() ? nullptr : &*it;
}

json to_json(const Row& row) {
  json speedups = json::object();
  for (const Speedup& s : row.speedups) {
    json& line = speedups[s.opponent] = ratio_json(s.ratio);
    line["comparison"] = evaluate::name_of(s.comparison);
    line["dispatch_ns"] = s.dispatch_ns;
    line["without_dispatch"] = ratio_json(s.without_dispatch());
  }
  return {{"task", row.task}, {"verdict", row.verdict}, {"reason", row.reason}, {"compiled", row.compiled},
          {"comparison", evaluate::name_of(row.comparison)}, {"opponent", or_null(row.opponent)}, {"speedups", speedups},
          {"sol_fraction", row.sol_fraction > 0 ? json(row.sol_fraction) : json()}, {"seconds", row.seconds},
          {"run", or_null(row.run)}, {"champion", or_null(row.champion)}, {"pattern", or_null(row.pattern)}, {"least_ns", row.least_ns}, {"plain_share", row.plain_share},
          {"recalled", row.recalled}, {"absent", row.absent}};
}

Result<Row> row_from(const json& value) try {
  return row_from_json(value);
} catch (const json::exception& e) {
  return fail(ErrorCode::kCorrupt, fmt::format("a row of the bench cannot be read: {}", e.what()));
}

Row failed_row(const std::string& task, const Error& error, double seconds) {
  Row row;
  row.task = task;
  row.verdict = "error";
  row.reason = error.context.empty() ? error.message : error.context + ": " + error.message;
  row.seconds = seconds;
  return row;
}

Result<Row> row_of_run(archive::Store& store, const std::string& run, const task::Task& task) {
  HONE_TRY(const archive::RunInfo info, store.run(run));
  HONE_TRY(const std::vector<archive::Event> events, store.events(run));
  HONE_TRY(const Told told, told_by(run, events));
  HONE_TRY(const engine::RunOptions options, engine::RunOptions::from_json(info.options_json));
  Row row;
  row.task = task.name;
  row.run = run;
  row.seconds = told.seconds;
  row.compiled = told.compiled;
  row.champion = info.champion;
  row.recalled = !options.recall.empty();
  if (told.promotion) {
    row.verdict = evaluate::name_of(told.promotion->verdict.kind);
    row.reason = told.promotion->verdict.reason;
    row.absent = told.promotion->absent;
  } else {
    row.verdict = "none";
    row.reason = told.first_refusal.empty() ? "no candidate was accepted" : "no candidate was accepted; the first is refused: " + told.first_refusal;
  }
  if (info.champion.empty() || !told.promotion) return row;
  put_results(row, *told.promotion, task);
  put_origin(row, store, info.champion, task);
  return row;
}

}  // namespace hone::face::bench
