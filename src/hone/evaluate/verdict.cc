#include "hone/evaluate/verdict.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "hone/base/fields.h"

namespace hone::evaluate {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 11> kKinds{
    "accepted",      "does not apply", "does not compile", "launch fails",   "wrong",
    "less accurate", "out of bounds",  "does not finish",  "cheating",
    "not repeatable", "unknown"};

}  // namespace

std::string_view name_of(VerdictKind kind) { return kKinds[static_cast<size_t>(kind)]; }

bool nearer(const Verdict& a, const Verdict& b) {
  if (!b.accuracy) return true;
  return a.accuracy && a.accuracy->candidate * b.accuracy->bound > b.accuracy->candidate * a.accuracy->bound;
}

/// For records (base/fields.h).
static std::optional<VerdictKind> from_name(std::string_view name, VerdictKind) {
  const auto at = std::find(kKinds.begin(), kKinds.end(), name);
  return at == kKinds.end() ? std::nullopt : std::optional(static_cast<VerdictKind>(at - kKinds.begin()));
}

static std::optional<Comparison> from_name(std::string_view name, Comparison) {
  for (const Comparison c : {Comparison::kFaster, Comparison::kSlower, Comparison::kInconclusive})
    if (name_of(c) == name) return c;
  return std::nullopt;
}

template <class F>
void Accuracy::fields(F& f) {
  f("output", output);
  f("family", family);
  f("shape", shape);
  f.unbounded("candidate", candidate);
  f.unbounded("anchor", anchor);
  f.unbounded("bound", bound);
  f.unbounded("candidate_rms", candidate_rms);
  f.unbounded("bound_rms", bound_rms);
  // Most have none, and older records have not these.
  std::optional<int> further = draws > 0 ? std::optional(draws) : std::nullopt;
  std::optional<bool> undecided = open ? std::optional(true) : std::nullopt;
  f("draws", further, "ones that were taken beside as it was near the bound");
  f("open", undecided, "on which side of the bound it lies stayed open: accepted all the same");
  draws = further.value_or(0), open = undecided.value_or(false);
}

template <class F>
void Clue::fields(F& f) {
  f("output", output);
  f("inputs", inputs);
  f("workload", workload);
  f("looks", looks);
}

template <class F>
void Verdict::fields(F& f) {
  f("verdict", kind);
  f("reason", reason);
  f("detail", detail);
  f.or_null("accuracy", accuracy);
  // Most have none, and older records have not this.
  f("clue", clue, "of a wrong answer: what may be told of it while a run lives");
}

template <class F>
void Spent::fields(F& f) {
  f("build", build);
  f("verify", verify);
  f("run", run);
  f.later("opponents", opponents);
  f.later("sanitize", sanitize);
}

template <class F>
void Screening::fields(F& f) {
  f("verdict", verdict);
  f("build", build_hash);
  f("toolchain", toolchain);
  f("ratio", ratio);
  f.later("ratio_low", ratio_low);
  f.later("ratio_high", ratio_high);
  f("median_ns", median_ns);
  f("at_size", at_size);
  f("score", score);
  f("repetitions", repetitions);
  f("spent", spent);
  // Older records have not these.
  const auto some = [](std::vector<double>& of) { return of.empty() ? std::nullopt : std::optional(std::move(of)); };
  std::optional<std::vector<double>> least = some(least_ns), yardstick_least = some(yardstick_least_ns);
  f("least_ns", least, "least of the repetitions' times, a workload each");
  f("yardstick_least_ns", yardstick_least, "the same of what it was timed against; 0: nothing");
  least_ns = least.value_or(std::vector<double>()), yardstick_least_ns = yardstick_least.value_or(std::vector<double>());
}

template <class F>
void OpponentResult::fields(F& f) {
  f("opponent", opponent);
  f("comparison", comparison);
  f("ratio", ratio);
  f("opponent_ns", opponent_ns);
  f("candidate_ns", candidate_ns);
  f.later("dispatch_ns", dispatch_ns);
  f("pairs", pairs);
  f("processes", processes);
  f.later("stopped", stopped);
}

template <class F>
void WorkloadResult::fields(F& f) {
  f("workload", workload);
  f("bytes", bytes);
  f("flops", flops);
  f("bound_ns", bound_ns);
  f.later("memory_ns", memory_ns);
  f.later("compute_ns", compute_ns);
  f.later("bound_note", bound_note);
  f("bound_by", bound_by);
  f("candidate_ns", candidate_ns);
  f("hot_ns", hot_ns);
  f("sol_fraction", sol_fraction);
  f("samples_ns", samples_ns);
  f.later("samples_mhz", samples_mhz);
  f.later("sampling_seconds", sampling_seconds);
  f.later("timed_calls", timed_calls);
  f.later("judged_calls", judged_calls);
  f("opponents", opponents);
}

template <class F>
void Promotion::fields(F& f) {
  f("verdict", verdict);
  f("workloads", workloads);
  f("bitwise_deterministic", bitwise_deterministic);
  f.later("only_at", only_at);
  f("absent", absent);
  f.later("sanitized_shapes", sanitized_shapes);
  f.later("sanitizers_absent", sanitizers_absent);
  f("seeds", seeds);
  f("spent", spent);
}

static json to_json(const WorkloadResult& workload) { return base::fields_json(workload); }
static void read_json(const json& value, WorkloadResult& workload, base::Notes& notes) {
  base::read_fields(value, workload, notes);
  // Older than the compute side: memory was all there was.
  if (value.is_object() && !value.contains("memory_ns")) workload.memory_ns = workload.bound_ns;
}

json to_json(const Verdict& verdict) { return base::fields_json(verdict); }
json to_json(const Screening& screening) { return base::fields_json(screening); }
json to_json(const Promotion& promotion) { return base::fields_json(promotion); }

void read_json(const json& value, Verdict& verdict, base::Notes& notes) {
  verdict.kind = VerdictKind::kUnknown;
  base::read_fields(value, verdict, notes);
  const std::string name = value.is_object() && value.contains("verdict") && value["verdict"].is_string() ? value["verdict"].get<std::string>() : "";
  if (!name.empty() && name != name_of(verdict.kind)) verdict.reason = name + (verdict.reason.empty() ? "" : ": " + verdict.reason);
}

void read_json(const json& value, Screening& screening, base::Notes& notes) {
  screening = unknown_screening();
  base::read_fields(value, screening, notes);
}

void read_json(const json& value, Promotion& promotion, base::Notes& notes) {
  promotion = unknown_promotion();
  base::read_fields(value, promotion, notes);
}

Screening unknown_screening() {
  Screening screening;
  screening.verdict.kind = VerdictKind::kUnknown;
  return screening;
}

Promotion unknown_promotion() {
  Promotion promotion;
  promotion.verdict.kind = VerdictKind::kUnknown;
  return promotion;
}

Ratio OpponentResult::without_dispatch() const {
  if (dispatch_ns <= 0 || opponent_ns <= 0) return ratio;
  const double work = std::max(kLeastWork, 1 - dispatch_ns / opponent_ns);
  return {ratio.median * work, ratio.low * work, ratio.high * work};
}

double weighted_geometric_mean(const std::vector<double>& values, const std::vector<double>& weights) {
  double sum = 0, total = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double weight = i < weights.size() ? weights[i] : 1;
    sum += weight * std::log(values[i]);
    total += weight;
  }
  return total > 0 ? std::exp(sum / total) : 0;
}

}  // namespace hone::evaluate
