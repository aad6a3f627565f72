#include "hone/archive/memory/lesson.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "hone/base/fields.h"
#include "hone/base/hash.h"
#include "hone/base/json.h"

namespace hone::archive {
namespace {

using nlohmann::json;

constexpr double kHalfLifeMs = 180.0 * 24 * 3600 * 1000;
/// Screenings are a handful of repetitions: nearer than this is the same.
constexpr double kSame = 1.25;
constexpr double kKept = 0.8;
constexpr double kRetracted = 0.45;

double weight_of(const Evidence& evidence, int64_t now) {
  return std::exp2(-static_cast<double>(std::max<int64_t>(0, now - evidence.unix_ms)) / kHalfLifeMs);
}

bool agree(const Evidence& a, const Evidence& b) {
  if (a.accepted != b.accepted) return false;
  return !a.accepted || std::abs(std::log(a.actual / b.actual)) <= std::log(kSame);
}

}  // namespace

std::string Context::id() const {
  return base::Hasher().add("context").add(target).add(device).add(toolchain).add(task_hash).add(workloads).finish();
}

std::string Lesson::id() const {
  return base::Hasher().add("lesson").add(context).add(source).add(base::canonical_json(json(config))).finish();
}

std::optional<Belief> belief_of(const Lesson& lesson, int64_t now, const std::string& over) {
  std::vector<const Evidence*> own;
  for (const Evidence& e : lesson.evidence)
    if (!e.carried && (!e.accepted || e.actual > 0)) own.push_back(&e);
  if (own.empty()) return std::nullopt;
  std::stable_sort(own.begin(), own.end(), [](const Evidence* a, const Evidence* b) { return a->unix_ms < b->unix_ms; });
  // Speedups over another reference say nothing of this one. A refusal is one over any.
  const std::string reference = over.empty() ? own.back()->reference : over;
  std::erase_if(own, [&](const Evidence* e) { return e->accepted && e->reference != reference; });
  if (own.empty()) return std::nullopt;
  const Evidence* centre = nullptr;
  double most = -1, all = 0;
  for (const Evidence* one : own) {
    all += weight_of(*one, now);
    double with = 0;
    for (const Evidence* other : own) with += agree(*one, *other) ? weight_of(*other, now) : 0;
    if (with >= most) most = with, centre = one;
  }
  double for_it = most, against = all - most;
  for (const Evidence& e : lesson.evidence)
    if (e.carried && e.expected) (e.actual >= kKept * *e.expected ? for_it : against) += weight_of(e, now);
  Belief belief;
  belief.accepted = centre->accepted;
  belief.speedup = centre->accepted ? centre->actual : 0;
  belief.reference = reference;
  belief.confidence = (1 + for_it) / (2 + for_it + against);
  belief.retracted = belief.confidence < kRetracted;
  return belief;
}

json to_json(const Context& c) {
  return {{"target", c.target}, {"device", c.device}, {"toolchain", c.toolchain}, {"task", c.task}, {"task_hash", c.task_hash},
          {"workloads", c.workloads}, {"signature", to_json(c.signature)}};
}

json to_json(const Lesson& l) {
  return {{"context", l.context}, {"source", l.source}, {"pattern", l.pattern}, {"config", l.config}, {"kernel", l.kernel}};
}

json to_json(const Evidence& e) {
  return {{"run", e.run}, {"n", e.n}, {"unix_ms", e.unix_ms}, {"reference", e.reference},
          {"expected", e.expected ? json(*e.expected) : json()}, {"accepted", e.accepted}, {"actual", e.actual}, {"carried", e.carried}};
}

Context context_from(const json& j) {
  return {j.at("target"), j.at("device"), j.at("toolchain"), j.at("task"), j.at("task_hash"), j.at("workloads"), signature_from(j.at("signature"))};
}

Lesson lesson_from(const json& j) {
  Lesson l;
  l.context = j.at("context");
  l.source = j.at("source");
  l.pattern = j.at("pattern");
  l.config = base::exactly<kernel::Config>(j.at("config"));
  l.kernel = j.at("kernel");
  return l;
}

Evidence evidence_from(const json& j) {
  Evidence e;
  e.run = j.at("run");
  e.n = base::exactly<int64_t>(j.at("n"));
  e.unix_ms = base::exactly<int64_t>(j.at("unix_ms"));
  e.reference = j.at("reference");
  if (!j.at("expected").is_null()) e.expected = j.at("expected").get<double>();
  e.accepted = j.at("accepted");
  e.actual = j.at("actual");
  e.carried = j.at("carried");
  return e;
}

}  // namespace hone::archive
