#include "hone/engine/ledger.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "hone/agent/answer.h"
#include "hone/agent/team_words.h"
#include "hone/base/hash.h"
#include "hone/kernel/language.h"

namespace hone::engine {
namespace {

using Came = LedgerCall::Came;
using nlohmann::json;

bool advises(const std::string& agent) { return agent == "researcher" || agent == "diagnoser"; }

/// The kernel of an answer, in whichever language it is.
std::optional<agent::KernelAnswer> kernel_answered(const std::string& text) {
  for (const kernel::LanguageRow& row : kernel::languages())
    if (auto answer = agent::kernel_answer(text, row.language)) return std::move(*answer);
  return std::nullopt;
}

class Reader {
 public:
  explicit Reader(const LedgerSources& sources) : sources_(sources) {}

  void take(const event::Asked& e, double at) {
    LedgerCall call;
    call.asked = e;
    call.at = at;
    const std::string request = sources_.request ? sources_.request(e.request) : "";
    // A question that goes on with a conversation holds all of it.
    const json read = json::parse(request, nullptr, false);
    const bool goes_on = read.is_object() && read.value("messages", json::array()).size() > 1;
    if (const auto latest = latest_.find(e.direction); goes_on && latest != latest_.end()) call.follows = latest->second;
    if (const auto made = made_.find(e.parent); made != made_.end()) call.about = made->second;
    call.advice = advice_in(e, request);
    index_[e.ask] = calls_.size();
    latest_[e.direction] = e.ask;
    calls_.push_back(std::move(call));
  }

  void take(const event::Answered& e, double) {
    LedgerCall* const call = find(e.ask);
    if (!call) return;
    call->answered = e;
    for (const agent::Attempt& attempt : e.exchange.attempts) {
      call->seconds += 1e-9 * (static_cast<double>(attempt.latency_ns) + static_cast<double>(attempt.waited_ns));
      if (attempt.usage) call->usage += *attempt.usage;
    }
    if (!e.exchange.reply) {
      call->came = Came::kNoAnswer;
      call->problem = e.exchange.problem;
    } else if (advises(call->asked.agent)) {
      call->came = Came::kAdvice;
      advised_[{call->asked.agent, call->asked.parent}] = e.ask;
    } else if (auto answer = kernel_answered(e.exchange.reply->text)) {
      call->came = Came::kKernel;
      call->kernel = answer->kernel.hash();
      call->action = answer->action;
      // Another setting of the same text is the same answer.
      by_source_[base::content_hash(answer->kernel.source)].push_back(e.ask);
      made_[call->kernel] = e.ask;
    } else {
      call->came = Came::kTools;
    }
  }

  void take(const event::ToolUsed& e, double) {
    if (LedgerCall* const call = find(e.ask)) call->tools.push_back(e);
  }

  void take(const event::Unusable& e, double) {
    LedgerCall* const call = find(e.ask);
    if (!call) return;
    call->problem = e.reason;
    if (call->came == Came::kKernel) {
      // It was there before, so nobody looks at it again.
      call->verdict = "not looked at";
      call->reason = e.reason;
      return;
    }
    call->came = Came::kUnusable;
    if (const auto at = advised_.find({call->asked.agent, call->asked.parent}); at != advised_.end() && at->second == e.ask) advised_.erase(at);
  }

  void take(const event::Screened& e, double) {
    for (const int ask : asks_of(e.kernel, e.author)) {
      LedgerCall& call = *find(ask);
      ++call.settings;
      if (e.kernel == call.kernel) {
        call.verdict = evaluate::name_of(e.screening.verdict.kind);
        call.reason = e.told ? e.told->reason : e.screening.verdict.reason;
        call.score = e.score;
      }
      // It was timed once more, against the best, with more pairs.
      if (e.first_score) call.raced = true;
      if (e.score > call.best_score) call.best = e.kernel, call.best_score = e.score;
    }
  }
  void take(const event::Duplicate& e, double) {
    for (const int ask : asks_of(e.kernel, e.author))
      if (LedgerCall& call = *find(ask); call.kernel == e.kernel) {
        call.verdict = "not looked at";
        call.reason = fmt::format("the same machine code as kernel {}", base::short_hash(e.of));
      }
  }
  void take(const event::Yardstick& e, double) { yardstick_ = e.kernel; }
  void take(const event::Raced& e, double) {
    for (const std::string& kernel : {e.kernel, yardstick_}) mark(kernel, &LedgerCall::raced);
  }
  void take(const event::Promoted& e, double) { mark(e.kernel, &LedgerCall::promoted); }
  void take(const event::Champion& e, double) { champion_ = e.kernel; }
  template <class E>
  void take(const E&, double) {}

  std::vector<LedgerCall> finish() && {
    if (!champion_.empty()) mark(champion_, &LedgerCall::champion);
    for (LedgerCall& call : calls_)
      if (call.came == Came::kTools && call.tools.empty()) call.came = Came::kUnusable;
    return std::move(calls_);
  }

 private:
  LedgerCall* find(int ask) {
    const auto at = index_.find(ask);
    return at == index_.end() ? nullptr : &calls_[at->second];
  }

  /// As far as the question holds it.
  std::vector<std::string> advice_in(const event::Asked& e, const std::string& request) {
    std::vector<std::string> all;
    const auto holds = [&](std::string_view label) { return request.find(fmt::format("<<<{}-", label)) != std::string::npos; };
    const auto add = [&](const std::string& agent, const std::string& parent) {
      const auto at = advised_.find({agent, parent});
      all.push_back(at == advised_.end() ? agent : fmt::format("{} (question {})", agent, at->second));
    };
    if (advises(e.agent)) return all;
    if (holds(agent::kResearchMaterial)) add("researcher", "");
    if (holds(agent::kDiagnosisMaterial)) add("diagnoser", e.parent);
    if (request.find(agent::kRulesSay) != std::string::npos) all.emplace_back("hone's rules");
    if (holds(agent::kLessonsMaterial)) all.emplace_back("lessons of earlier runs");
    return all;
  }

  /// The answers that a kernel is a setting of.
  std::vector<int> asks_of(const std::string& kernel, const std::string& author) {
    if (by_source_.empty() || !author.starts_with("model:")) return {};
    const std::string text = sources_.kernel ? sources_.kernel(kernel) : "";
    if (const auto at = by_source_.find(base::content_hash(text)); at != by_source_.end()) {
      for (const int ask : at->second) settings_[kernel].insert(ask);
      return at->second;
    }
    // Without its text only the author's own setting is known.
    const auto made = made_.find(kernel);
    if (made == made_.end()) return {};
    settings_[kernel].insert(made->second);
    return {made->second};
  }

  void mark(const std::string& kernel, bool LedgerCall::*what) {
    const auto at = settings_.find(kernel);
    if (at == settings_.end()) return;
    for (const int ask : at->second) find(ask)->*what = true;
  }

  const LedgerSources& sources_;
  std::vector<LedgerCall> calls_;
  std::map<int, size_t> index_;
  std::map<int, int> latest_;                                  ///< question by line
  std::map<std::string, int> made_;                            ///< question by kernel
  std::map<std::string, std::vector<int>> by_source_;          ///< questions by the hash of the text that they were answered with
  std::map<std::string, std::set<int>> settings_;              ///< questions by every kernel that is a setting of theirs
  std::map<std::pair<std::string, std::string>, int> advised_; ///< question by agent and kernel
  std::string champion_, yardstick_;
};

}  // namespace

std::string_view name_of(LedgerCall::Came came) {
  switch (came) {
    case Came::kNothingYet: return "under way";
    case Came::kNoAnswer: return "no answer";
    case Came::kTools: return "tools";
    case Came::kUnusable: return "unusable";
    case Came::kAdvice: return "advice";
    case Came::kKernel: return "kernel";
  }
  return "";
}

LedgerSources ledger_sources(archive::Store& store) {
  return {[&store](const std::string& hash) {
            const auto row = store.kernel(hash);
            return row ? row->source : std::string();
          },
          [&store](const std::string& hash) { return store.blob(hash).value_or(""); }};
}

std::vector<LedgerCall> ledger_of(const std::vector<LoggedEvent>& events, const LedgerSources& sources) {
  Reader reader(sources);
  for (const LoggedEvent& logged : events) std::visit([&](const auto& e) { reader.take(e, logged.at); }, logged.event);
  return std::move(reader).finish();
}

std::string outcome_text(const LedgerCall& call) {
  if (call.came == Came::kTools) {
    std::string names;
    for (const event::ToolUsed& tool : call.tools) names += (names.empty() ? "" : ", ") + tool.tool + (tool.failed ? " (failed)" : "");
    return "tools: " + names;
  }
  if (call.came != Came::kKernel) return std::string(name_of(call.came)) + (call.problem.empty() ? "" : ": " + agent::one_line(call.problem, 200));
  std::string text = fmt::format("kernel {}: {}", base::short_hash(call.kernel), call.verdict.empty() ? "not looked at yet" : call.verdict);
  if (call.score > 0) text += fmt::format(", {:.2f}x", call.score);
  if (call.score <= 0 && !call.reason.empty()) text += ": " + agent::one_line(call.reason, 200);
  if (call.settings > 1) text += fmt::format("; {} settings{}", call.settings, call.best_score > 0 ? fmt::format(", best {:.2f}x", call.best_score) : "");
  if (call.raced) text += "; raced";
  if (call.champion) text += "; champion";
  else if (call.promoted) text += "; promoted";
  return text;
}

json ledger_json(const std::vector<LedgerCall>& calls) {
  json rows = json::array();
  for (const LedgerCall& call : calls) {
    json row = {{"ask", call.asked.ask}, {"line", call.asked.direction}, {"agent", call.asked.agent}, {"model", call.asked.name}, {"at", call.at},
                {"seconds", call.seconds}, {"came", name_of(call.came)}, {"advice", call.advice}, {"tools", json::array()},
                {"tokens", call.answered ? call.answered->charged.tokens : 0},
                {"dollars", call.answered ? static_cast<double>(call.answered->charged.nanodollars) * 1e-9 : 0.0}};
    for (const event::ToolUsed& tool : call.tools) row["tools"].push_back(tool.tool);
    if (call.follows >= 0) row["follows"] = call.follows;
    if (call.about >= 0) row["about"] = call.about;
    if (!call.problem.empty()) row["problem"] = call.problem;
    if (call.came == Came::kKernel) {
      row["kernel"] = call.kernel;
      row["action"] = call.action;
      row["verdict"] = call.verdict;
      row["score"] = call.score;
      row["settings"] = call.settings;
      if (!call.best.empty()) row["best"] = call.best, row["best_score"] = call.best_score;
      row["raced"] = call.raced;
      row["promoted"] = call.promoted;
      row["champion"] = call.champion;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace hone::engine
