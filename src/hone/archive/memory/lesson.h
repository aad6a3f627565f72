// A lesson: what an action did in a context, with the evidence for it and how sure that makes us. The action is a source
// (a pattern's variant, or a text of its own) with one setting of its tunables; the context is a task with its shapes on a
// target. Confidence is a function of the evidence alone, so that nothing has to be kept up to date. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "hone/archive/memory/signature.h"
#include "hone/kernel/kernel.h"

namespace hone::archive {

/// Where lessons are learnt.
struct Context {
  std::string target, device, toolchain;  ///< as engine::Place
  std::string task, task_hash;
  std::string workloads;                  ///< bindings with weights, a canonical text
  Signature signature;
  [[nodiscard]] std::string id() const;   ///< a hash of all but the task's name and the signature, which follow from the rest
};

/// One trial of the action.
struct Evidence {
  std::string run;
  int64_t n = 0;                          ///< number of the evaluation in it
  int64_t unix_ms = 0;
  std::string reference;                  ///< kernel that the speedups are over (the run's first accepted one)
  std::optional<double> expected;         ///< speedup that whoever proposed it promised
  bool accepted = false;
  double actual = 0;                      ///< speedup; of a carried one the share of the best of its run; 0 when refused
  /// Not in its own context: the kernel was recalled for a similar task; `expected` and `actual` are then shares of the
  /// best of a run. Says how far the lesson can be trusted, nothing of the speedup.
  bool carried = false;
};

struct Lesson {
  std::string context;                    ///< Context::id()
  std::string source;                     ///< "rows: keep in scratch", or "text: " and the source's hash
  std::string pattern;
  kernel::Config config;
  std::string kernel;                     ///< hash of the kernel that was tried
  std::vector<Evidence> evidence;
  [[nodiscard]] std::string id() const;   ///< a hash of context, source and config
};

/// What the evidence comes to.
struct Belief {
  bool accepted = false;
  double speedup = 0;                     ///< over `reference`; 0 when refused
  std::string reference;
  double confidence = 0;                  ///< in (0, 1)
  bool retracted = false;                 ///< contradicted too often: not to be acted on
};

/// The rule. A trial counts 2^(-age / 180 days). Of the trials over `reference` (empty: the newest trial's) the one that most others agree with (within
/// a factor of 1.25, or refused as it was) is the lesson's value, the newest of several; they are its agreeing weight A, all
/// others its contradicting weight D. A carried trial agrees where it kept 0.8 of the share it promised. Confidence is
/// (1 + A) / (2 + A + D): 0.67 after one fresh trial, growing with agreement, falling with contradiction, drifting to 1/2
/// with age. Below 0.45 the lesson is retracted; later agreement brings it back. Nothing without a trial in its own context.
[[nodiscard]] std::optional<Belief> belief_of(const Lesson& lesson, int64_t now_unix_ms, const std::string& reference = "");

[[nodiscard]] nlohmann::json to_json(const Context& context);
[[nodiscard]] nlohmann::json to_json(const Lesson& lesson);     ///< without its evidence
[[nodiscard]] nlohmann::json to_json(const Evidence& evidence);
/// These throw nlohmann::json::exception on what to_json never wrote.
[[nodiscard]] Context context_from(const nlohmann::json& json);
[[nodiscard]] Lesson lesson_from(const nlohmann::json& json);
[[nodiscard]] Evidence evidence_from(const nlohmann::json& json);

}  // namespace hone::archive
