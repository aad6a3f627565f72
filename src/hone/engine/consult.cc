#include "hone/engine/consult.h"

#include <algorithm>

#include <fmt/format.h>

#include "hone/agent/prompt.h"
#include "hone/base/fields.h"
#include "hone/base/hash.h"

namespace hone::engine {

using agent::Ask;
using agent::Cost;
using nlohmann::json;

namespace {

agent::TeamOptions with_models(agent::TeamOptions team, const agent::ModelsConfig& models) {
  for (const agent::ModelConfig& model : models.models)
    team.models.push_back({model.name, model.share, model.max_output_tokens, model.tools && !model.command_model});
  team.feedback = models.feedback;
  return team;
}

}  // namespace

int lines_for(const agent::ModelsConfig& models) {
  constexpr int kCallsALine = 3;
  const int calls = models.limits.calls;
  return calls > 0 && models.feedback ? std::clamp(calls / kCallsALine, 1, models.calls_at_once) : models.calls_at_once;
}

std::string lessons_key(const std::string& task_hash) { return "lessons " + task_hash; }

Consult::Consult(Options options, const ModelServices& services, archive::Store& store)
    : options_(std::move(options)), services_(services), store_(store), budget_(options_.models.limits),
      team_(with_models(options_.team, options_.models)), desk_(std::make_unique<Desk>(options_.run, services_, budget_)) {}

Status Consult::attend(EventLog& log, search::Strategy& strategy, const agent::Standing& standing) {
  for (;;) {
    if (log.replaying()) {
      if (log.next_is<event::Asked>()) {
        HONE_TRY_VOID(replay_asked(log, standing));
      } else if (log.next_is<event::Answered>()) {
        HONE_TRY_VOID(take_answer(log, strategy, -1, {}));
      } else {
        return {};
      }
      continue;
    }
    HONE_TRY_VOID(collect(log, strategy, true));
    HONE_TRY(const bool asked, ask(log, standing));
    if (!asked) return {};
  }
}

Status Consult::finish(EventLog& log, search::Strategy& strategy, const agent::Standing& standing, bool for_now) {
  if (log.replaying()) return attend(log, strategy, standing);
  ending_ = true;
  for_now_ = for_now;
  desk_->cancel();
  while (desk_->under_way() > 0) {
    desk_->wait(std::chrono::milliseconds(1000));
    HONE_TRY_VOID(collect(log, strategy, true));
  }
  HONE_TRY_VOID(collect(log, strategy, true));
  desk_->resume();
  ending_ = for_now_ = false;
  return {};
}

int Consult::kept_back(int budget) const {
  const int calls = options_.models.limits.calls;
  if (!options_.models.patient || calls <= 0 || open_.empty()) return 0;
  const int to_come = open() + std::max(0, calls - asked_);
  return std::min(2 * to_come, budget / 2);
}

std::vector<std::string> Consult::wants_facts() const {
  const int calls = options_.models.limits.calls;
  return calls > 0 && asked_ >= calls ? std::vector<std::string>{} : team_.wants_facts();
}

void Consult::wait(std::chrono::milliseconds most) { desk_->wait(most); }

Status Consult::collect(EventLog& log, search::Strategy& strategy, bool lost_too) {
  // Those of a process that is gone first, in their order.
  for (auto it = open_.begin(); lost_too && it != open_.end();) {
    const int n = it->first;
    Open& open = (it++)->second;
    if (open.here) continue;
    const agent::ModelConfig& model = options_.models.models[static_cast<size_t>(open.model)];
    HONE_TRY(const auto kept, store_.fact(exchange_key(options_.run, n)));
    event::Exchanged exchanged;
    base::Notes notes;
    if (kept) base::read_fields(json::parse(*kept, nullptr, false), exchanged, notes);
    const bool lost = !kept || !notes.empty();
    const bool unanswered = model.later && (lost || exchanged.exchange.cancelled);
    if (unanswered && for_now_) continue;
    if (unanswered && !ending_ && open.again) {
      open.here = true;
      desk_->send(n, open.model, *std::exchange(open.again, std::nullopt), open.most, model.price);
      continue;
    }
    // It was sent, or about to be: asking again might pay twice.
    if (lost) exchanged = {{std::nullopt, "the process ended while it waited for the answer", true, {}}, open.most};
    HONE_TRY_VOID(take_answer(log, strategy, n, std::move(exchanged)));
  }
  while (auto answered = desk_->take()) {
    Open& open = open_.at(answered->n);
    if (for_now_ && answered->exchanged.exchange.cancelled && options_.models.models[static_cast<size_t>(open.model)].later) open.here = false;
    else HONE_TRY_VOID(take_answer(log, strategy, answered->n, std::move(answered->exchanged)));
  }
  return {};
}

Status Consult::replay_asked(EventLog& log, const agent::Standing& standing) {
  HONE_TRY(const event::Asked event, log.step<event::Asked>([]() -> Result<event::Asked> { return fail(ErrorCode::kInternal, "nothing to replay"); }));
  HONE_TRY(const Ask ask, team_.prepare(event.direction, event.model, standing));
  const std::string& name = options_.models.models[static_cast<size_t>(ask.model)].name;
  if (event.hash != ask.request.hash(name)) return log.contradiction("another question", "one with the hash " + base::short_hash(ask.request.hash(name)));
  team_.sent(ask);
  Open& open = open_[asked_++] = {ask.direction, ask.model, {event.most_tokens, event.most_nanodollars}, false, {}};
  if (options_.models.models[static_cast<size_t>(ask.model)].later) open.again = ask.request;
  return {};
}

Result<bool> Consult::ask(EventLog& log, const agent::Standing& standing) {
  const agent::ModelLimits& limits = options_.models.limits;
  if (ending_ || open() >= options_.models.calls_at_once || (limits.calls > 0 && asked_ >= limits.calls)) return false;
  std::vector<bool> forbidden(options_.models.models.size(), false);
  for (;;) {
    const auto who = team_.next(forbidden, standing);
    if (!who) return false;
    HONE_TRY(const Ask ask, team_.prepare(who->first, who->second, standing));
    const agent::ModelConfig& model = options_.models.models[static_cast<size_t>(ask.model)];
    const Cost most = agent::most_cost_of(ask.request, model.price);
    if (!budget_.allows(most)) {
      forbidden[static_cast<size_t>(ask.model)] = true;
      continue;
    }
    HONE_TRY_VOID(log.step<event::Asked>([&]() -> Result<event::Asked> {
      HONE_TRY(const std::string blob, store_.put_blob(ask.request.to_json()));
      return event::Asked{asked_, ask.direction, ask.model, model.name, ask.agent, ask.parent, ask.request.hash(model.name), blob, most.tokens,
                          most.nanodollars};
    }));
    team_.sent(ask);
    open_[asked_] = {ask.direction, ask.model, most, true, {}};
    desk_->send(asked_, ask.model, ask.request, most, model.price);
    ++asked_;
    return true;
  }
}

Status Consult::take_answer(EventLog& log, search::Strategy& strategy, int n, event::Exchanged live) {
  HONE_TRY(const event::Answered event, log.step<event::Answered>([&]() -> Result<event::Answered> {
    return event::Answered{std::move(live), n, options_.models.models[static_cast<size_t>(open_.at(n).model)].name};
  }));
  const auto it = open_.find(event.ask);
  if (it == open_.end()) return log.contradiction(fmt::format("an answer to question {}", event.ask), "one to a question that is open");
  const Open open = std::move(it->second);
  open_.erase(it);
  const Cost& cost = event.charged;
  // The budget knows of what this process sent; the rest is told here.
  if (!open.here) budget_.charge(cost);
  double seconds = 0;
  for (const agent::Attempt& attempt : event.exchange.attempts)
    seconds += 1e-9 * (static_cast<double>(attempt.latency_ns) + static_cast<double>(attempt.waited_ns));
  agent::Taken taken = team_.take(open.direction, event.exchange.reply, event.exchange.problem, seconds, cost);
  if (!taken.calls.empty()) return run_tools(log, event.ask, open.direction, taken.calls);
  if (!taken.seed) return taken.problem.empty() ? Status() : put_aside(log, event.ask, taken.problem);
  const std::string hash = taken.seed->kernel.hash();
  if (strategy.add(std::move(*taken.seed))) return {};
  const std::string reason = "the same text was tried before: propose something else";
  team_.judged(hash, {false, "not looked at", reason, "", 0, 0, 0});
  return put_aside(log, event.ask, reason);
}

Status Consult::put_aside(EventLog& log, int n, const std::string& reason) {
  // Earlier runs did not write it down.
  if (log.replaying() && !log.next_is<event::Unusable>()) return {};
  return log.step<event::Unusable>([&]() -> Result<event::Unusable> { return event::Unusable{n, agent::one_line(reason, 600)}; }).map([](const auto&) {});
}

Status Consult::run_tools(EventLog& log, int n, int direction, const std::vector<agent::ToolCall>& calls) {
  std::vector<agent::Message> results;
  for (const agent::ToolCall& call : calls) {
    HONE_TRY(const event::ToolUsed event, log.step<event::ToolUsed>([&]() -> Result<event::ToolUsed> {
      agent::ToolResult result;
      const agent::Tool* tool = options_.tools.find(call.name);
      if (call.name.empty()) result = agent::tool_failure("too many calls in one answer: this one was not carried out");
      else if (tool && !tool->for_models) result = agent::tool_failure(fmt::format("the tool {} is not offered here", call.name));
      else result = options_.tools.call(call.name, call.arguments);
      return event::ToolUsed{n, call.name, std::move(result.text), result.failed};
    }));
    // What a tool says may quote a kernel or a compiler: material like any other.
    agent::Message message;
    message.role = agent::Message::Role::kTool;
    message.call_id = call.id;
    message.failed = event.failed;
    message.text = agent::material("RESULT", event.text, agent::kMaxToolText + 100);
    results.push_back(std::move(message));
  }
  team_.tool_results(direction, std::move(results));
  return {};
}

json Consult::ledger() const {
  const Cost spent = budget_.spent();
  const agent::ModelLimits& limits = budget_.limits();
  const auto dollars = [](int64_t nano) { return static_cast<double>(nano) * 1e-9; };
  return {{"models", team_.ledger()}, {"calls", asked_}, {"tokens", spent.tokens}, {"dollars", dollars(spent.nanodollars)},
          {"budget", {{"tokens", limits.tokens}, {"dollars", dollars(limits.nanodollars)}, {"calls", limits.calls}}}};
}

}  // namespace hone::engine
