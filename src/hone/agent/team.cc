#include "hone/agent/team.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "hone/agent/guide.h"
#include "hone/agent/prompt.h"
#include "hone/agent/team_words.h"
#include "hone/base/hash.h"
#include "hone/base/json.h"

namespace hone::agent {
namespace {

using kernel::Kernel;
using nlohmann::json;

constexpr size_t kTaskShown = size_t{16} << 10;
constexpr int kRounds = 4;        ///< of tools in one conversation
constexpr int kCallsARound = 4;
constexpr int kIdleRounds = 3;    ///< optimising without gain
constexpr int kFruitless = 16;    ///< kernels or failures in a row without gain: nobody asks again
constexpr int kNarrow = 8;        ///< likewise: one direction at a time
/// Half a minute and five cents are worth alike.
constexpr double kSecondsAUnit = 30, kDollarsAUnit = 0.05;
/// What a model is expected to bring (in log speed) and to cost, before it is known.
constexpr double kPriorGain = 0.05, kPriorCost = 1;

bool advises(const std::string& agent) { return agent == "researcher" || agent == "diagnoser"; }

}  // namespace

Team::Team(TeamOptions options) : options_(std::move(options)), tallies_(options_.models.size()), looked_(options_.courses) {
  directions_.resize(static_cast<size_t>(std::max(1, options_.width)));
  for (size_t i = 0; i < directions_.size(); ++i) directions_[i].hint = static_cast<int>(i);
  if (options_.documents.empty()) options_.documents = own_documents();
  // Tools would tell of what became of a draft.
  if (!options_.feedback) options_.tools.clear();
  const std::string& guide = options_.documents["docs/kernels.md"];
  std::map<std::string, std::string, std::less<>> places = {
      {"guide", guide}, {"machine", options_.machine}, {"how_to", guide_for(options_.language, guide)}, {"facts", options_.facts},
      {"task", material("TASK", options_.task_toml, kTaskShown)}, {"worked", worked_kernels(options_.documents, options_.worked)}};
  // Those of an earlier version have no place for these.
  places["operations"] = options_.operations.empty() ? "" : "Of its operations, with what they are where the task leaves it out:\n" + options_.operations;
  places["guide_for"] = language_guide(options_.language, options_.documents).value_or("");
  places["timing"] = prompt(options_.documents, options_.timing, {}).value_or("");
  auto system = prompt(options_.documents, "system", places);
  HONE_CHECK(system.has_value(), "the system prompt");
  system_ = std::move(*system);
  if (!options_.feedback) options_.research = false, options_.diagnose = Diagnose::kNever;
  const bool known = !options_.patterns.empty() || !options_.memory.empty() || !options_.lessons.empty();
  if (options_.research && known) research_ = Research::kDue;
}

int Team::choose_model(const std::vector<bool>& forbidden) const {
  int best = -1;
  double most = 0, total = 0;
  for (const Tally& tally : tallies_) total += tally.calls;
  for (size_t m = 0; m < tallies_.size(); ++m) {
    if (m < forbidden.size() && forbidden[m]) continue;
    const Tally& tally = tallies_[m];
    const double cost = tally.seconds / kSecondsAUnit + static_cast<double>(tally.cost.nanodollars) * 1e-9 / kDollarsAUnit + 0.1 * tally.calls;
    // Gain for what it cost, and the benefit of the doubt that shrinks with every call.
    const double rate = (tally.gain + kPriorGain) / (cost + kPriorCost);
    const double doubt = kPriorGain * std::sqrt(2 * std::log(total + 1) / (tally.calls + 1));
    const double value = options_.models[m].share * (rate + doubt);
    if (best < 0 || value > most) best = static_cast<int>(m), most = value;
  }
  return best;
}

bool Team::begins(const Direction& d) { return !d.best && !(d.last && !d.last_judged.accepted && d.fixes < kFixes); }

std::optional<std::pair<int, int>> Team::next(const std::vector<bool>& forbidden, const Standing& standing) const {
  const auto busy = std::count_if(directions_.begin(), directions_.end(), [](const Direction& d) { return d.phase != Phase::kIdle; });
  for (const bool beginners : {false, true})
    for (size_t d = 0; d < directions_.size(); ++d) {
      const Direction& direction = directions_[d];
      if (direction.phase != Phase::kIdle) continue;
      // Everybody begins with what the researcher found.
      if (d > 0 && (research_ == Research::kDue || research_ == Research::kAsked)) continue;
      // A conversation under way is finished by whom it was begun with.
      if (!direction.conversation.empty()) {
        const auto m = static_cast<size_t>(direction.model);
        if (m < forbidden.size() && forbidden[m]) continue;
        return std::pair(static_cast<int>(d), direction.model);
      }
      const bool researcher = research_ == Research::kDue;
      if (begins(direction) != beginners || (beginners && !researcher && options_.feedback && !standing.looked)) continue;
      if (fruitless_ >= kFruitless || (fruitless_ >= kNarrow && busy > 0)) continue;
      const int model = choose_model(forbidden);
      if (model >= 0) return std::pair(static_cast<int>(d), model);
    }
  return std::nullopt;
}

Result<Ask> Team::prepare(int direction, int model, const Standing& standing) const {
  if (direction < 0 || direction >= static_cast<int>(directions_.size()) || model < 0 || model >= static_cast<int>(options_.models.size()))
    return fail(ErrorCode::kCorrupt, "a question of nobody, or to nobody");
  const Direction& d = directions_[static_cast<size_t>(direction)];
  const TeamModel& asked = options_.models[static_cast<size_t>(model)];
  Ask ask;
  ask.direction = direction;
  ask.model = model;
  ask.request.system = system_;
  ask.request.max_output_tokens = asked.max_output_tokens;
  if (!d.conversation.empty()) {
    ask.agent = d.agent;
    ask.parent = d.parent;
    ask.request.messages = d.conversation;
  } else {
    HONE_TRY(std::string text, question(d, direction, standing, ask.agent, ask.parent));
    ask.request.messages.push_back({Message::Role::kUser, std::move(text), {}, {}, false, json::array()});
  }
  // Advice is one call: what it is to go by is in the question.
  if (asked.tools && d.rounds < kRounds && !advises(ask.agent)) ask.request.tools = options_.tools;
  return ask;
}

void Team::sent(const Ask& ask) {
  Direction& d = directions_[static_cast<size_t>(ask.direction)];
  d.phase = Phase::kAsked;
  d.agent = ask.agent;
  d.model = ask.model;
  d.parent = ask.parent;
  d.conversation = ask.request.messages;
  if (ask.agent == "researcher") research_ = Research::kAsked;
  if (ask.agent == "generator") d.briefed = true;
  if (ask.agent == "diagnoser") {
    d.diagnosed = ask.parent;
    d.diagnosis.clear();
    d.bottleneck.clear();
    d.foretold = 0;
  }
  ++tallies_[static_cast<size_t>(ask.model)].calls;
}

void Team::record(int direction, const std::string& verdict, const std::string& reason, double score, const std::string& kernel, double best_before) {
  const Direction& d = directions_[static_cast<size_t>(direction)];
  trials_.push_back({direction, d.agent, options_.models[static_cast<size_t>(d.model)].name, d.action, verdict, reason, d.lesson, score, kernel, best_before});
}

void Team::conclude(Direction& d) {
  d.conversation.clear();
  d.rounds = d.repairs = 0;
  d.phase = Phase::kIdle;
}

Taken Team::take(int direction, const std::optional<Reply>& reply, const std::string& problem, double seconds, const Cost& cost) {
  Direction& d = directions_[static_cast<size_t>(direction)];
  Tally& tally = tallies_[static_cast<size_t>(d.model)];
  tally.seconds += seconds;
  tally.cost += cost;
  Taken taken;
  const auto fail_with = [&](std::string why) {
    taken.problem = std::move(why);
    ++tally.failures;
    ++fruitless_;
    // Advice that does not come is done without.
    if (d.agent == "researcher") research_ = Research::kDone;
    d.action.clear();
    d.lesson.clear();
    record(direction, "no answer", taken.problem, 0);
    conclude(d);
    return taken;
  };
  if (!reply) return fail_with(problem);
  if (reply->stop == Stop::kTools && !reply->calls.empty() && !advises(d.agent)) {
    if (d.rounds++ >= kRounds) return fail_with("it went on calling tools beyond what is allowed");
    d.conversation.push_back(reply->message());
    d.phase = Phase::kTools;
    taken.calls = reply->calls;
    // Each call needs a result, but only so many are carried out.
    for (size_t i = kCallsARound; i < taken.calls.size(); ++i) taken.calls[i].name.clear();
    return taken;
  }
  std::string why;
  if (reply->stop == Stop::kRefused) why = "the model declined to answer";
  if (reply->stop == Stop::kLength) why = "the answer was cut off at its limit; be shorter";
  tl::expected<KernelAnswer, Unusable> answer = tl::unexpected(Unusable{why});
  if (why.empty() && advises(d.agent)) {
    const auto wrong = take_advice(d, *reply);
    if (!wrong) return taken;
    answer = tl::unexpected(Unusable{*wrong});
  } else if (why.empty()) {
    answer = kernel_answer(reply->text, options_.language);
  }
  if (!answer) {
    const std::string unusable = answer.error().problem;
    ++tally.unusable;
    const auto again = advises(d.agent) ? Result<std::string>("Answer with exactly one fenced block marked json, of the form given above.")
                                        : prompt(options_.documents, "answer_format", {{"fence", fence_of(options_.language)}});
    const auto repair = again ? prompt(options_.documents, "repair", {{"problem", one_line(unusable, 600)}, {"answer_format", *again}}) : again;
    if (d.repairs++ > 0 || !repair) return fail_with("unusable twice: " + unusable);
    d.conversation.push_back(reply->message());
    d.conversation.push_back({Message::Role::kUser, *repair, {}, {}, false, json::array()});
    d.phase = Phase::kIdle;
    taken.problem = unusable;
    return taken;
  }
  ++tally.kernels;
  d.action = answer->action;
  d.lesson = answer->lesson;
  Kernel kernel = std::move(answer->kernel);
  kernel.parent = d.parent;
  kernel.author = "model:" + options_.models[static_cast<size_t>(d.model)].name;
  d.last = kernel;
  d.last_hash = kernel.hash();
  const std::string agent = d.agent;
  conclude(d);
  d.phase = Phase::kWaiting;
  taken.seed = search::Seed{std::move(kernel), agent, answer->action};
  taken.reason = answer->reason;
  taken.expected_speedup = answer->expected_speedup;
  return taken;
}

void Team::tool_results(int direction, std::vector<Message> results) {
  Direction& d = directions_[static_cast<size_t>(direction)];
  for (Message& message : results) d.conversation.push_back(std::move(message));
  d.phase = Phase::kIdle;
}

void Team::judged(const std::string& kernel, const Judged& judged) {
  looked_.add(kernel, judged);
  for (size_t i = 0; i < directions_.size(); ++i) {
    Direction& d = directions_[i];
    if (d.phase != Phase::kWaiting || d.last_hash != kernel) continue;
    Tally& tally = tallies_[static_cast<size_t>(d.model)];
    const bool better = judged.accepted && judged.score > judged.best_before;
    const bool own = judged.accepted && judged.score > d.best_score;
    if (better && judged.best_before > 0) tally.gain += std::log(judged.score / judged.best_before);
    tally.accepted += judged.accepted ? 1 : 0;
    fruitless_ = better ? 0 : fruitless_ + 1;
    record(static_cast<int>(i), judged.verdict, judged.reason, judged.score, kernel, judged.best_before);
    if (judged.accepted) {
      d.fixes = 0;
      d.idle_rounds = own ? 0 : d.idle_rounds + 1;
      if (own) d.best = d.last, d.best_score = judged.score;
    } else {
      ++d.fixes;
    }
    d.last_judged = judged;
    if (d.fixes >= kFixes) {
      d.last.reset();
      d.fixes = 0;
      ++d.idle_rounds;
    }
    if (d.idle_rounds >= kIdleRounds) {
      // This line is worked out: begin another.
      d.best.reset();
      d.last.reset();
      d.best_score = 0;
      d.idle_rounds = 0;
      d.briefed = false;
      d.hint += static_cast<int>(directions_.size());
    }
    d.phase = Phase::kIdle;
  }
}

bool Team::waits_for(const std::string& kernel) const {
  return std::any_of(directions_.begin(), directions_.end(), [&](const Direction& d) { return d.phase == Phase::kWaiting && d.last_hash == kernel; });
}

json Team::answers() const {
  json all = json::array();
  for (const Trial& t : trials_) {
    if (t.kernel.empty()) continue;
    json row = {{"kernel", t.kernel}, {"name", t.model}, {"agent", t.agent}, {"action", t.action}, {"verdict", t.verdict}, {"score", t.score}};
    if (const Judged* const judged = looked_.find(t.kernel)) {
      row["settings"] = looked_.tried(judged->source);
      if (const std::string best = looked_.fastest(judged->source); !best.empty()) row["best"] = best, row["best_score"] = looked_.find(best)->score;
    }
    all.push_back(std::move(row));
  }
  return all;
}

bool Team::kernels_waiting() const {
  return std::any_of(directions_.begin(), directions_.end(), [](const Direction& d) { return d.phase == Phase::kWaiting; });
}

bool Team::gave_up() const {
  return fruitless_ >= kFruitless && std::all_of(directions_.begin(), directions_.end(), [](const Direction& d) {
           return d.phase == Phase::kIdle && d.conversation.empty();
         });
}

json Team::ledger() const {
  json rows = json::array();
  for (size_t m = 0; m < tallies_.size(); ++m) {
    const Tally& t = tallies_[m];
    rows.push_back({{"model", options_.models[m].name}, {"calls", t.calls}, {"failures", t.failures}, {"unusable", t.unusable}, {"kernels", t.kernels}, {"accepted", t.accepted},
                    {"gain", t.gain}, {"seconds", t.seconds}, {"tokens", t.cost.tokens}, {"dollars", static_cast<double>(t.cost.nanodollars) * 1e-9}});
  }
  return rows;
}

}  // namespace hone::agent
