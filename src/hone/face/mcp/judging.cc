// Kernels that clients send: verdicts, times with their noise, comparisons.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "hone/agent/answer.h"
#include "hone/agent/prompt.h"
#include "hone/base/clock.h"
#include "hone/engine/examine.h"
#include "hone/engine/summary.h"
#include "hone/evaluate/compare/outlook.h"
#include "hone/face/cli/budget.h"
#include "hone/face/mcp/speed.h"
#include "hone/face/mcp/workshop.h"
#include "hone/target/calibrate/speed_of_light.h"

namespace hone::face::mcp {
namespace {

using evaluate::Screening;
using nlohmann::json;

/// Evaluators that are kept: each holds its task's inputs and their answers.
constexpr size_t kSeats = 3;
constexpr std::chrono::seconds kLongestWait{120};
constexpr size_t kDetail = size_t{4} << 10;
/// Of a comparison's pairs: where nobody says, and at most, as others wait for the machine meanwhile.
constexpr const char* kCompareBudget = "30s";
constexpr double kMostCompareSeconds = 600;
/// Kernels of the library that a diagnosis is compared with: a second or a few each.
constexpr int kMostTried = 2;

json ratio_of(const evaluate::Ratio& ratio) {
  return {{"median", ratio.median}, {"low", ratio.low}, {"high", std::isfinite(ratio.high) ? json(ratio.high) : json()}};
}

json error_of(const evaluate::Accuracy& a, bool secret) {
  json out = {{"output", a.output}, {"inputs", a.family}, {"largest", a.candidate}, {"largest_allowed", a.bound}, {"of_the_anchor", a.anchor}};
  if (a.bound_rms > 0) out["rms"] = a.candidate_rms, out["rms_allowed"] = a.bound_rms;
  out["at"] = secret ? "a shape that is not told" : a.shape;
  return out;
}

}  // namespace

Result<std::shared_ptr<Workshop::Seat>> Workshop::seat_for(const json& arguments) {
  HONE_TRY(task::Task task, task_from(arguments));
  HONE_TRY(const std::shared_ptr<engine::Workbench> bench, place_in(arguments));
  const std::string key = fmt::format("{} {} {} {}", arguments.value("target", "cpu"), arguments.value("language", ""), task::name_of(task.track), task.to_toml());
  const std::scoped_lock lock(mutex_);
  auto at = std::find_if(seats_.begin(), seats_.end(), [&](const auto& seat) { return seat.first == key; });
  if (at == seats_.end()) {
    auto seat = std::make_shared<Seat>();
    seat->task = std::move(task);
    seat->bench = bench;
    seats_.emplace_front(key, std::move(seat));
    if (seats_.size() > kSeats) seats_.pop_back();
  } else {
    std::rotate(seats_.begin(), at, at + 1);
  }
  return seats_.front().second;
}

Result<std::unique_lock<std::timed_mutex>> Workshop::turn(const engine::Workbench& bench) {
  std::unique_lock<std::timed_mutex> lock(measuring_, std::defer_lock);
  if (bench.target().has_clock() && !lock.try_lock_for(kLongestWait)) return fail(ErrorCode::kUnavailable, "a run is measuring", "wait says when it is finished, cancel ends it");
  return lock;
}

Result<evaluate::Evaluator*> Workshop::ready(Seat& seat) {
  if (!seat.evaluator) {
    evaluate::EvaluatorOptions options;
    options.facts = evaluate::cached_facts();
    options.interrupted = [this] { return stopping_.load(); };
    HONE_TRY(seat.evaluator, seat.bench->evaluator(seat.task, options));
  }
  if (!seat.has_plain && seat.bench->target().has_clock()) {
    const auto plain = seat.bench->plain(seat.task);
    if (plain) {
      HONE_TRY(const Screening first, seat.evaluator->screen(plain->kernel));
      if (first.verdict.accepted()) {
        HONE_TRY_VOID(seat.evaluator->set_yardstick(plain->kernel));
        seat.plain = plain->kernel;
      }
    }
    seat.has_plain = true;
  }
  return seat.evaluator.get();
}

/// Another kernel of the library is advice only where it was faster than this one, in all pairs, just now.
Status Workshop::measure_actions(const Seat& seat, evaluate::Evaluator& evaluator, const kernel::Kernel& kernel, json& actions) const {
  const std::vector<search::Seed> seeds = seat.bench->library(seat.task).seeds;
  int tried = 0;
  const auto is_faster = [&](json& action) -> Result<bool> {
    const auto seed = std::ranges::find_if(seeds, [&](const search::Seed& s) { return engine::name_of(s) == action.at("name"); });
    if (!seat.plain || seed == seeds.end() || tried == kMostTried) return false;
    if (tried++ == 0) HONE_TRY_VOID(evaluator.set_yardstick(kernel));
    HONE_TRY(const Screening other, evaluator.screen(seed->kernel));
    if (!other.verdict.accepted() || other.repetitions < 2) return false;
    std::vector<double> weights;
    for (size_t w = 0; w < other.ratio.size(); ++w) weights.push_back(seat.task.workloads.at(w).weight);
    const double low = evaluate::weighted_geometric_mean(other.ratio_low, weights);
    action["gain"] = other.score;
    action["why"] = fmt::format("measured: {:.2f} times as fast as this kernel, {:.2f} at least in {} pairs", other.score, low, other.repetitions);
    return low > 1;
  };
  const auto keep = [&]() -> Result<json> {
    json kept = json::array();
    for (json& action : actions) {
      if (action.at("kind") == diagnose::name_of(diagnose::Action::Kind::kPattern)) {
        HONE_TRY(const bool faster, is_faster(action));
        if (!faster) continue;
      }
      kept.push_back(std::move(action));
    }
    return kept;
  };
  auto kept = keep();
  if (tried > 0) HONE_TRY_VOID(evaluator.set_yardstick(*seat.plain));
  if (!kept) return tl::unexpected(kept.error());
  const auto gain = [](const json& action) { return action.at("gain").get<double>(); };
  std::stable_sort(kept->begin(), kept->end(), [&](const json& a, const json& b) { return gain(a) > gain(b); });
  actions = std::move(*kept);
  return {};
}

Result<json> Workshop::look_at(const json& arguments, std::optional<engine::Look> look) {
  HONE_TRY(const std::shared_ptr<Seat> seat, seat_for(arguments));
  const engine::Workbench& bench = *seat->bench;
  HONE_TRY(const kernel::Kernel kernel, kernel_in(arguments, "source", bench, seat->task));
  if (look && !bench.target().has_clock())
    return fail(ErrorCode::kUnavailable, fmt::format("the target {} has no clock and runs no machine code: there is nothing to profile or diagnose", bench.place().target),
                "evaluate_kernel judges a kernel there; a card or the CPU has times");
  json out = {{"kernel", kernel.hash()}, {"target", bench.place().target}};
  const auto refused = [&](std::string_view verdict, const std::string& reason, const std::string& detail) {
    out["verdict"] = verdict;
    out["reason"] = reason;
    out["detail"] = agent::bounded(detail, kDetail);
    return out;
  };
  // What does not compile needs no inputs, no answers and no turn.
  if (const auto built = bench.toolchain()->build(kernel, seat->task, seat->task.workloads.front().bindings, {}))
    if (const auto* const failure = std::get_if<target::BuildFailure>(&*built))
      return refused(evaluate::name_of(failure->evades ? evaluate::VerdictKind::kCheating : evaluate::VerdictKind::kDoesNotCompile), failure->reason, failure->log);
  const std::scoped_lock here(seat->mutex);
  HONE_TRY(const auto turn, this->turn(bench));
  HONE_TRY(evaluate::Evaluator * evaluator, ready(*seat));
  HONE_TRY(const Screening screening, look ? evaluator->screen(kernel) : evaluator->screen_closely(kernel));
  const evaluate::Verdict& verdict = screening.verdict;
  if (!verdict.accepted()) {
    HONE_TRY(const evaluate::Explanation said, evaluator->explain(kernel, verdict));
    // One clue: of the answer that is shown below, where there is one.
    if (const auto& clue = said.clue ? said.clue : verdict.clue) out["clue"] = {{"output", clue->output}, {"inputs", clue->inputs}, {"workload", clue->workload}, {"looks", clue->looks}};
    return refused(evaluate::name_of(verdict.kind), said.reason, said.detail);
  }
  seat->accepted.insert(kernel.hash());
  (void)refused(evaluate::name_of(verdict.kind), "", "");
  if (verdict.accuracy) out["error"] = error_of(*verdict.accuracy, true);
  if (screening.at_size) out["error_at_the_workloads"] = error_of(*screening.at_size, false);
  if (!bench.target().has_clock()) {
    out["times"] = "absent: this target knows no time";
    return out;
  }
  // Whoever looks closely is told the times of that look: two sets of times would contradict each other.
  if (!look) {
    out.update(speed_of(screening, seat->task, evaluator->bounds_ns(), evaluator->light_bounds()));
    return out;
  }
  const engine::Examine examine = [&](evaluate::Evaluator& by, const kernel::Kernel& of, bool thorough) {
    return bench.examine(by, of, seat->task, bench.library(seat->task), thorough);
  };
  HONE_TRY_VOID(engine::add_look(*look, *evaluator, kernel, examine, true, out, arguments.value("loop", size_t{0})));
  if (*look == engine::Look::kDiagnosis) HONE_TRY_VOID(measure_actions(*seat, *evaluator, kernel, out["diagnosis"]["actions"]));
  return out;
}

Result<json> Workshop::compare(const json& arguments) {
  HONE_TRY(const std::shared_ptr<Seat> seat, seat_for(arguments));
  const engine::Workbench& bench = *seat->bench;
  if (!bench.target().has_clock()) return fail(ErrorCode::kInput, "this target knows no time: nothing to compare", "evaluate_kernel judges each by itself");
  HONE_TRY(const kernel::Kernel a, kernel_in(arguments, "a", bench, seat->task));
  HONE_TRY(const kernel::Kernel b, kernel_in(arguments, "b", bench, seat->task));
  HONE_TRY(const double budget, parse_seconds(arguments.value("budget", kCompareBudget), kMostCompareSeconds));
  const std::scoped_lock here(seat->mutex);
  HONE_TRY(const auto turn, this->turn(bench));
  const int64_t began_ns = base::system_clock().now_ns();
  HONE_TRY(evaluate::Evaluator * evaluator, ready(*seat));
  for (const auto& [name, kernel] : {std::pair("a", &a), {"b", &b}}) {
    if (seat->accepted.contains(kernel->hash())) continue;
    HONE_TRY(const Screening screening, evaluator->screen(*kernel));
    if (screening.verdict.accepted()) {
      seat->accepted.insert(kernel->hash());
      continue;
    }
    HONE_TRY(const evaluate::Explanation said, evaluator->explain(*kernel, screening.verdict));
    return fail(ErrorCode::kInput, fmt::format("{} is refused: {}: {}", name, evaluate::name_of(screening.verdict.kind), said.reason), "only accepted kernels are compared");
  }
  evaluate::Opponent opponent;
  opponent.name = "b";
  opponent.kernel = b;
  HONE_TRY(const evaluate::Promotion promotion, evaluator->promote_for(a, {opponent}, budget));
  if (!promotion.verdict.accepted()) return fail(ErrorCode::kInput, "a is refused in the full trial: " + evaluate::told(promotion.verdict).reason);
  const engine::Headline line = engine::headline_of(promotion, seat->task);
  json workloads = json::array(), wanting = json::array();
  double pairing = 0;
  for (const evaluate::WorkloadResult& workload : promotion.workloads) {
    pairing += workload.sampling_seconds;
    for (const evaluate::OpponentResult& result : workload.opponents) {
      json row = {{"name", workload.workload}, {"comparison", evaluate::name_of(result.comparison)}, {"ratio", ratio_of(result.ratio)},
                  {"a_ns", result.candidate_ns}, {"b_ns", result.opponent_ns}, {"pairs", result.pairs}, {"stopped", result.stopped}};
      if (workload.bound_ns > 0) {
        row["bound_ns"] = workload.bound_ns, row["bound_by"] = workload.bound_by;
        row["a_fraction_of_speed_of_light"] = workload.bound_ns / result.candidate_ns, row["b_fraction_of_speed_of_light"] = workload.bound_ns / result.opponent_ns;
        if (!workload.bound_note.empty()) row["bound_note"] = workload.bound_note;
        else if (workload.bound_ns > std::min(result.candidate_ns, result.opponent_ns)) row["bound_note"] = target::kAboveLight;
      }
      if (std::string more = evaluate::would_decide(result, workload.sampling_seconds); !more.empty()) wanting.push_back({{"workload", workload.workload}, {"needs", std::move(more)}});
      workloads.push_back(std::move(row));
    }
  }
  json out = {{"comparison", evaluate::name_of(line.comparison)}, {"ratio", ratio_of(line.speedup)}, {"workloads", std::move(workloads)},
              {"spent", {{"budget_seconds", budget}, {"pairing_seconds", pairing}, {"seconds", 1e-9 * static_cast<double>(base::system_clock().now_ns() - began_ns)}}},
              {"about", "time(b) / time(a): FASTER and SLOWER are said of a, on every workload; INCONCLUSIVE: on some workload the interval holds 1"}};
  if (!promotion.absent.empty()) out["absent"] = promotion.absent;
  if (!wanting.empty()) out["would_decide"] = std::move(wanting);
  return out;
}

}  // namespace hone::face::mcp
