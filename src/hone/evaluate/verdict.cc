#include "hone/evaluate/verdict.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <nlohmann/json.hpp>

namespace hone::evaluate {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 10> kKinds{
    "accepted",      "does not apply", "does not compile", "launch fails",   "wrong",
    "less accurate", "out of bounds",  "does not finish",  "cheating",
    "not repeatable"};

Comparison comparison_from(std::string_view name) {
  for (const Comparison c : {Comparison::kFaster, Comparison::kSlower})
    if (name_of(c) == name) return c;
  return Comparison::kInconclusive;
}

/// JSON has no infinity: an error beyond all bounds is written as null.
double number_from(const json& value) {
  return value.is_null() ? std::numeric_limits<double>::infinity() : value.get<double>();
}

json to_json(const Ratio& ratio) {
  return {{"median", ratio.median}, {"low", ratio.low}, {"high", std::isfinite(ratio.high) ? json(ratio.high) : json()}};
}
Ratio ratio_from(const json& value) {
  Ratio ratio;
  ratio.median = value.at("median");
  ratio.low = value.at("low");
  if (!value.at("high").is_null()) ratio.high = value.at("high");
  return ratio;
}

json to_json(const Spent& spent) {
  return {{"build", spent.build}, {"verify", spent.verify}, {"run", spent.run}, {"opponents", spent.opponents}, {"sanitize", spent.sanitize}};
}
Spent spent_from(const json& value) {
  return {value.at("build"), value.at("verify"), value.at("run"), value.value("opponents", int64_t{0}), value.value("sanitize", int64_t{0})};
}

json to_json(const OpponentResult& o) {
  return {{"opponent", o.opponent}, {"comparison", name_of(o.comparison)}, {"ratio", to_json(o.ratio)},
          {"opponent_ns", o.opponent_ns}, {"candidate_ns", o.candidate_ns}, {"dispatch_ns", o.dispatch_ns}, {"pairs", o.pairs},
          {"processes", o.processes}, {"stopped", o.stopped}};
}

json to_json(const WorkloadResult& w) {
  json opponents = json::array();
  for (const OpponentResult& o : w.opponents) opponents.push_back(to_json(o));
  return {{"workload", w.workload}, {"bytes", w.bytes}, {"flops", w.flops}, {"memory_ns", w.memory_ns},
          {"compute_ns", w.compute_ns}, {"bound_note", w.bound_note}, {"bound_ns", w.bound_ns},
          {"bound_by", w.bound_by}, {"candidate_ns", w.candidate_ns}, {"hot_ns", w.hot_ns},
          {"sol_fraction", w.sol_fraction}, {"opponents", opponents}, {"samples_ns", w.samples_ns}, {"samples_mhz", w.samples_mhz},
          {"sampling_seconds", w.sampling_seconds}, {"timed_calls", w.timed_calls}, {"judged_calls", w.judged_calls}};
}

WorkloadResult workload_from(const json& value) {
  WorkloadResult w;
  w.workload = value.at("workload");
  w.bytes = value.at("bytes");
  w.flops = value.at("flops");
  w.bound_ns = value.at("bound_ns");
  // Archives older than the compute side have these not.
  w.memory_ns = value.value("memory_ns", w.bound_ns);
  w.compute_ns = value.value("compute_ns", 0.0);
  w.bound_note = value.value("bound_note", "");
  w.bound_by = value.at("bound_by");
  w.candidate_ns = value.at("candidate_ns");
  w.hot_ns = value.at("hot_ns");
  w.sol_fraction = value.at("sol_fraction");
  w.samples_ns = value.at("samples_ns").get<std::vector<double>>();
  w.samples_mhz = value.value("samples_mhz", std::vector<double>());
  w.sampling_seconds = value.value("sampling_seconds", 0.0);
  w.timed_calls = value.value("timed_calls", 0);
  w.judged_calls = value.value("judged_calls", 0);
  for (const json& item : value.at("opponents")) {
    OpponentResult o;
    o.opponent = item.at("opponent");
    o.comparison = comparison_from(item.at("comparison").get<std::string>());
    o.ratio = ratio_from(item.at("ratio"));
    o.opponent_ns = item.at("opponent_ns");
    o.candidate_ns = item.at("candidate_ns");
    o.dispatch_ns = item.value("dispatch_ns", 0.0);
    o.pairs = item.at("pairs");
    o.processes = item.at("processes");
    o.stopped = item.value("stopped", "");
    w.opponents.push_back(std::move(o));
  }
  return w;
}

json to_json(const Accuracy& a) {
  return {{"output", a.output}, {"family", a.family}, {"shape", a.shape},   {"candidate", a.candidate}, {"anchor", a.anchor},
          {"bound", a.bound},   {"candidate_rms", a.candidate_rms}, {"bound_rms", a.bound_rms},
          {"draws", a.draws},   {"open", a.open}};
}

Accuracy accuracy_from(const json& a) {
  return {a.at("output"),
          a.at("family"),
          a.at("shape"),
          number_from(a.at("candidate")),
          number_from(a.at("anchor")),
          number_from(a.at("bound")),
          number_from(a.value("candidate_rms", json(0.0))),
          number_from(a.value("bound_rms", json(0.0))),
          a.value("draws", 0),
          a.value("open", false)};
}

}  // namespace

std::string_view name_of(VerdictKind kind) { return kKinds[static_cast<size_t>(kind)]; }

bool nearer(const Verdict& a, const Verdict& b) {
  if (!b.accuracy) return true;
  return a.accuracy && a.accuracy->candidate * b.accuracy->bound > b.accuracy->candidate * a.accuracy->bound;
}

json to_json(const Verdict& verdict) {
  json out = {{"verdict", name_of(verdict.kind)}, {"reason", verdict.reason}, {"detail", verdict.detail},
              {"accuracy", nullptr}};
  if (verdict.accuracy) out["accuracy"] = to_json(*verdict.accuracy);
  return out;
}

Verdict verdict_from(const json& value) {
  Verdict verdict;
  const std::string kind = value.at("verdict");
  for (size_t i = 0; i < kKinds.size(); ++i)
    if (kKinds[i] == kind) verdict.kind = static_cast<VerdictKind>(i);
  verdict.reason = value.at("reason");
  verdict.detail = value.at("detail");
  if (const json& a = value.at("accuracy"); !a.is_null()) verdict.accuracy = accuracy_from(a);
  return verdict;
}

json to_json(const Screening& s) {
  json out = {{"verdict", to_json(s.verdict)}, {"build", s.build_hash}, {"toolchain", s.toolchain},
              {"ratio", s.ratio}, {"ratio_low", s.ratio_low}, {"ratio_high", s.ratio_high},
              {"median_ns", s.median_ns}, {"score", s.score},
              {"repetitions", s.repetitions}, {"spent", to_json(s.spent)}};
  if (s.at_size) out["at_size"] = to_json(*s.at_size);
  return out;
}

Screening screening_from(const json& value) {
  Screening s;
  s.verdict = verdict_from(value.at("verdict"));
  s.build_hash = value.at("build");
  s.toolchain = value.at("toolchain");
  s.ratio = value.at("ratio").get<std::vector<double>>();
  s.ratio_low = value.value("ratio_low", std::vector<double>());
  s.ratio_high = value.value("ratio_high", std::vector<double>());
  if (const auto at_size = value.find("at_size"); at_size != value.end()) s.at_size = accuracy_from(*at_size);
  s.median_ns = value.at("median_ns").get<std::vector<double>>();
  s.score = value.at("score");
  s.repetitions = value.at("repetitions");
  s.spent = spent_from(value.at("spent"));
  return s;
}

json to_json(const Promotion& p) {
  json workloads = json::array();
  for (const WorkloadResult& w : p.workloads) workloads.push_back(to_json(w));
  return {{"verdict", to_json(p.verdict)}, {"workloads", workloads},
          {"bitwise_deterministic", p.bitwise_deterministic}, {"only_at", p.only_at}, {"absent", p.absent},
          {"sanitized_shapes", p.sanitized_shapes}, {"sanitizers_absent", p.sanitizers_absent},
          {"seeds", p.seeds}, {"spent", to_json(p.spent)}};
}

Promotion promotion_from(const json& value) {
  Promotion p;
  p.verdict = verdict_from(value.at("verdict"));
  for (const json& w : value.at("workloads")) p.workloads.push_back(workload_from(w));
  p.bitwise_deterministic = value.at("bitwise_deterministic");
  p.only_at = value.value("only_at", std::vector<std::string>{});
  p.absent = value.at("absent").get<std::vector<std::string>>();
  // Archives older than the sanitizer stage have these not.
  p.sanitized_shapes = value.value("sanitized_shapes", 0);
  p.sanitizers_absent = value.value("sanitizers_absent", "");
  p.seeds = value.at("seeds").get<std::vector<uint64_t>>();
  p.spent = spent_from(value.at("spent"));
  return p;
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
