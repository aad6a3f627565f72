// What became of each question to a language model, as a run's log tells it: which kernel came of the answer, what was made of
// that, and whose advice stood in the question. For reports, `hone show` and summaries; nothing decides by it. Pure.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "hone/engine/event/event.h"

namespace hone::engine {

/// One question and its answer.
struct LedgerCall {
  enum class Came : uint8_t { kNothingYet, kNoAnswer, kTools, kUnusable, kAdvice, kKernel };
  event::Asked asked;
  double at = 0, seconds = 0;              ///< when it was asked, in seconds of the run; how long all attempts took
  int follows = -1;                        ///< the question of the same conversation before it; -1: it begins one
  int about = -1;                          ///< the question whose kernel it is about; -1: none's
  std::optional<event::Answered> answered; ///< absent: under way, or lost with the process
  std::vector<event::ToolUsed> tools;      ///< that its answer called
  Came came = Came::kNothingYet;
  std::string problem;                     ///< of kNoAnswer and kUnusable
  agent::Usage usage;                      ///< of all attempts, as far as the provider said
  std::vector<std::string> advice;         ///< that its question held: "researcher (question 0)", "hone's rules", "lessons"

  std::string kernel, action, verdict, reason;  ///< of kKernel; verdict: empty where nobody looked
  double score = 0;
  int settings = 0;                        ///< of its tunables, looked at
  std::string best;                        ///< the fastest of them; empty: none was accepted
  double best_score = 0;
  bool raced = false;                      ///< it, or a setting of it, met the best with many pairs or in the finals
  bool promoted = false, champion = false; ///< likewise
};
[[nodiscard]] std::string_view name_of(LedgerCall::Came came);

struct LedgerSources {
  /// The text of a kernel, by hash; empty where the archive does not hold it. Settings of one source share it.
  std::function<std::string(const std::string&)> kernel;
  /// A question's whole request (agent::Request::to_json), by the hash of its blob; empty likewise.
  std::function<std::string(const std::string&)> request;
};
[[nodiscard]] LedgerSources ledger_sources(archive::Store& store);

/// In the order of the questions. Events of a run without models give nothing.
[[nodiscard]] std::vector<LedgerCall> ledger_of(const std::vector<LoggedEvent>& events, const LedgerSources& sources);

/// One line on what came of it: "kernel 1f8ef95a: accepted, 1.32x; 7 settings, best 1.41x; raced; champion".
[[nodiscard]] std::string outcome_text(const LedgerCall& call);

/// As docs/json.md has them under `models.questions`.
[[nodiscard]] nlohmann::json ledger_json(const std::vector<LedgerCall>& calls);

}  // namespace hone::engine
