#include "hone/engine/run.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <future>
#include <map>
#include <set>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hone/base/fields.h"
#include "hone/base/file.h"
#include "hone/base/hash.h"
#include "hone/base/json.h"
#include "hone/base/random.h"
#include "hone/base/trace.h"
#include "hone/agent/guide.h"
#include "hone/agent/prompt.h"
#include "hone/base/version.h"
#include "hone/engine/advisor.h"
#include "hone/engine/behaviour.h"
#include "hone/engine/briefing.h"
#include "hone/engine/cards.h"
#include "hone/engine/champion.h"
#include "hone/engine/changes.h"
#include "hone/engine/code_name.h"
#include "hone/engine/consult.h"
#include "hone/engine/event_log.h"
#include "hone/engine/facts.h"
#include "hone/engine/ledger.h"
#include "hone/engine/memory.h"
#include "hone/engine/summary.h"
#include "hone/engine/tools.h"
#include "hone/task/reference/op_facts.h"

namespace hone::engine {
namespace {

using evaluate::Promotion;
using evaluate::Screening;
using kernel::Kernel;
using nlohmann::json;

/// Share of a time budget kept for the finalists' race and the promotion, where that has no time of its own.
constexpr double kPromotionShare = 0.4;
/// Nothing left to win: the estimate of the speed-of-light fraction, and searching on without gain.
constexpr double kAtLight = 0.985;
/// Who is faster than that shows that the bound is none, as where a cache of the card's size keeps a part of what is written.
constexpr double kPastLight = 1.01;
constexpr int kPatience = 30;
constexpr double kGain = 1.005;
constexpr int kFinalists = 3;
/// A rival this near the best may turn out to be it.
constexpr double kInReach = 0.9;
/// An answer of a model's is worth a close look at the end even so.
constexpr double kAnswersInReach = 0.5;
/// Kernels of the library's that are looked at before models begin to write.
constexpr int kFirstLooks = 4;

/// A task's name as a part of a file's: it is free text, and may hold slashes.
std::string file_stem(std::string_view name) {
  std::string stem(name.substr(0, 60));
  for (char& c : stem)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '_') c = '_';
  return stem;
}

archive::KernelRow row_of(const Kernel& kernel, const std::string& action, const std::string& task_hash) {
  archive::KernelRow row;
  row.hash = kernel.hash();
  row.language = kernel::name_of(kernel.header.language);
  row.source = kernel.source;
  row.config_json = base::canonical_json(json(kernel.config));
  row.parent = kernel.parent;
  row.author = kernel.author;
  row.action = action;
  row.note = kernel.header.note;
  row.task_hash = task_hash;
  return row;
}

struct Candidate {
  Kernel kernel;
  std::string action;
  double score = 0;
  double sol = 0;            ///< estimated fraction of the speed of light
  std::string hash;
};

bool is_answer(const Kernel& kernel) { return kernel.author.starts_with("model:"); }

/// A proposal on its way to its screening. Its end waits for the build.
struct Queued {
  std::shared_ptr<const search::Proposal> proposal;
  std::shared_future<std::string> code;   ///< valid: it is being built, or was; names what it became (code_name.h)
  std::optional<size_t> card;             ///< that it is being looked at on, of several
  std::string yardstick;                  ///< hash of what it is timed against there
  /// Empty in a replay and where nobody knows. Waits for the build.
  [[nodiscard]] std::string code_name() const { return code.valid() ? code.get() : std::string(); }
  [[nodiscard]] bool built() const { return !code.valid() || code.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }
};

std::vector<CardService> cards_of(const Services& services) {
  std::vector<CardService> cards = {{services.target, services.evaluator}};
  cards.insert(cards.end(), services.beside.begin(), services.beside.end());
  return cards;
}

class Run {
 public:
  Run(std::string id, const task::Task& task, RunOptions options, const Services& services,
      std::vector<archive::Event> recorded)
      : id_(std::move(id)), task_(task), options_(std::move(options)), services_(services),
        log_(*services.store, id_, std::move(recorded), *services.clock),
        strategy_(services.strategy ? services.strategy()
                                    : search::make_strategy(options_.strategy, services.seeds, services.limits, options_.seed, {.timed = services.timed})),
        memory_(task, {services.target, services.device, services.toolchain}, services.seeds, services.limits),
        cards_(cards_of(services)),
        advisor_([this](const Kernel& kernel, bool thorough) -> Result<Examined> {
          if (!services_.examine) return fail(ErrorCode::kUnavailable, "nobody here can make a diagnosis");
          HONE_TRY(evaluate::Evaluator * evaluator, this->evaluator());
          return services_.examine(*evaluator, kernel, thorough);
        }, [this](const Kernel& kernel, const diagnose::Metrics& metrics) { return expected(kernel, metrics); }) {}

  Result<RunResult> drive() {
    HONE_TRY_VOID(start());
    HONE_TRY_VOID(remember());
    HONE_TRY_VOID(start_models());
    for (;;) {
      HONE_TRY(const std::string reason, search());
      HONE_TRY(RunResult result, conclude(reason));
      // An interrupted search that is resumed goes on; every other end is the end.
      if (reason == "interrupted" && stop_was_recorded_) continue;
      HONE_TRY_VOID(services_.store->update_run(id_, reason == "interrupted" ? "interrupted" : "finished",
                                                result.champion, result.summary_json));
      show(Progress::Step::kDone, result.champion, "", reason);
      return result;
    }
  }

 private:
  Status start();
  Status start_models();
  /// Takes what earlier runs offer; an event where that is anything.
  Status remember();
  [[nodiscard]] agent::ToolTable model_tools();
  [[nodiscard]] agent::Standing standing() const;
  /// Tells the models what is known of the kernels that they are about to improve.
  Status tell_facts();
  /// How many proposals may join the queue, `left` of them at most.
  [[nodiscard]] int room(int left) const;
  /// What changes of a diagnosed kernel are expected to do, from what they did elsewhere.
  [[nodiscard]] std::vector<search::tune::Effect> expected(const Kernel& kernel, const diagnose::Metrics& metrics);
  /// Has the kernel diagnosed that the strategy would extend, where it is time for that.
  Status take_advice();
  /// Begins what the first screenings will need, while the evaluator gets ready. The build cache keeps it.
  void build_first_looks();
  /// Whatever is in the queue is being built from now on, side by side.
  Status build_queued();
  Status build_again();
  /// The time for searching is over.
  [[nodiscard]] bool is_late() const;
  /// Of a late run: where in the queue the library's first offer waits, of which most is expected. No run ends without a look at it.
  [[nodiscard]] std::optional<size_t> owed_first() const;
  /// Of a search that builds ahead: the first that is built.
  [[nodiscard]] size_t next_built() const;
  /// The one to write down next: in a replay the one that was.
  [[nodiscard]] Result<size_t> next_looked_at();
  /// Of several cards: has the free ones look at what is built, until something is to be written down.
  [[nodiscard]] Result<size_t> next_on_cards();
  /// Gives what is built to cards that are free.
  [[nodiscard]] Status hand_out();
  [[nodiscard]] LookOrder order_of(const Kernel& kernel, bool built) const;
  /// That one; all of the queue where builds would disturb measurements.
  Status screen_queued();
  /// Nothing to look at until a model answers: the event, Waited or Stalled, says whose fault that is.
  template <class E>
  Status await_models();
  /// Of earlier runs on the task, newest last.
  [[nodiscard]] Result<std::vector<std::string>> kept_lessons();
  Status keep_lessons();
  Result<std::string> search();
  Result<RunResult> conclude(const std::string& reason);
  Result<evaluate::Evaluator*> evaluator();
  [[nodiscard]] bool is_workload_shape(const std::string& shape) const {
    return std::any_of(task_.workloads.begin(), task_.workloads.end(), [&](const task::Workload& w) { return task::bindings_text(w.bindings) == shape; });
  }
  Status screen_proposal(const Queued& queued);
  /// A proposal whose code was evaluated before: written down, and nothing else.
  Status drop(const search::Proposal& proposal, const std::string& code);
  [[nodiscard]] search::Outcome outcome_of(const Kernel& kernel, const Screening& screening, double score) const;
  /// kCorrupt where an event speaks of another kernel, `found`, than the one that follows from the seed.
  Status about(const std::string& found, const std::string& hash) const;
  Status set_yardstick(const Candidate& candidate);
  /// Nobody looks at what is in the queue; what a card is at ends unheard.
  void drop_queue();
  /// Where nothing was accepted: looks at the last resort, once, and says whether it did.
  Result<bool> fall_back();
  /// Promotes the best, and where that is refused the next ones; the one that became champion, or nothing.
  Result<std::optional<Candidate>> promote_best(RunResult& result);
  /// Accepted kernels that meet the best once more before a promotion.
  [[nodiscard]] std::vector<std::string> rivals(const Candidate& best) const;
  Status race();
  void show(Progress::Step step, const std::string& kernel, const std::string& action, const std::string& verdict) const;
  [[nodiscard]] std::string stop_reason(bool batch_empty) const;
  /// Of the budget; the rest is kept for the promotion.
  [[nodiscard]] double search_seconds() const { return (options_.sampling_seconds > 0 ? 1 : 1 - kPromotionShare) * options_.budget_seconds; }
  [[nodiscard]] json summary(const std::optional<Candidate>& champion, const std::optional<Promotion>& promotion,
                             const std::string& path) const;
  /// Null for one that was not accepted.
  [[nodiscard]] const Candidate* accepted_candidate(const std::string& hash) const {
    const auto at = std::find_if(accepted_.begin(), accepted_.end(), [&](const Candidate& c) { return c.hash == hash; });
    return at == accepted_.end() ? nullptr : &*at;
  }
  [[nodiscard]] const Kernel* accepted_kernel(const std::string& hash) const {
    const Candidate* const candidate = accepted_candidate(hash);
    return candidate ? &candidate->kernel : nullptr;
  }
  [[nodiscard]] const Candidate* leader() const { return accepted_.empty() ? nullptr : &accepted_.front(); }

  std::string id_;
  const task::Task& task_;
  RunOptions options_;
  const Services& services_;
  EventLog log_;
  std::unique_ptr<search::Strategy> strategy_;
  RunMemory memory_;
  [[nodiscard]] json gain(const Promotion& promotion) const;
  std::string reference_;                ///< the first accepted kernel, which scores are over
  Cards cards_;
  std::optional<search::Changes> changes_;   ///< once a diagnosis asked for it
  Advisor advisor_;
  std::unique_ptr<Consult> consult_;     ///< null: no models
  std::string machine_;                  ///< as models are told
  bool fallen_back_ = false;
  std::optional<event::Recalled> recalled_;   ///< what memory offered
  std::vector<double> bounds_ns_;
  std::vector<evaluate::LightBound> bounds_;
  std::vector<Candidate> accepted_;      ///< best first
  std::map<std::string, std::string> codes_;  ///< machine code and plan -> the kernel that was evaluated with it
  std::optional<Candidate> yardstick_;
  double yardstick_score_ = 1;
  int evaluated_ = 0, considered_ = 0, refused_ = 0, dropped_ = 0, since_gain_ = 0;
  bool looked_ = false;                  ///< the library has no more to look at
  std::set<std::string> raced_;          ///< kernels of the finals, and answers that were looked at closely
  evaluate::Spent spent_;
  bool stop_was_recorded_ = false;
  int64_t batch_build_ns_ = 0;           ///< waited for builds, not yet written into an event
  int next_advice_ = 0;                  ///< evaluations before a diagnosis is asked for again, where the search builds ahead
  std::map<std::string, std::shared_future<void>> first_looks_;  ///< by kernel: under way in build_first_looks()
  std::vector<Queued> queue_;            ///< last, so that its builds end before what they use
};

Status Run::start() {
  HONE_TRY(const event::Started started, log_.step<event::Started>([&]() -> Result<event::Started> {
    event::Started begun;
    begun.task = task_.name;
    begun.task_hash = task_.hash();
    begun.target = services_.target;
    begun.device = services_.device;
    begun.track = task::name_of(task_.track);
    begun.toolchain = services_.toolchain;
    begun.machine = json::parse(services_.machine_json);
    begun.options = json::parse(options_.to_json());
    for (const auto& w : task_.workloads) begun.workloads.push_back({w.name, w.bindings, w.weight});
    for (const auto& o : services_.opponents) begun.opponents.push_back(o.name);
    begun.hone = base::kVersion;
    return begun;
  }));
  if (started.task_hash != task_.hash())
    return log_.contradiction("of task " + base::short_hash(started.task_hash), "task " + base::short_hash(task_.hash()));
  machine_ = started.machine.dump() + "\ntoolchain: " + started.toolchain;
  show(Progress::Step::kPreparing, "", "", "");
  build_first_looks();
  HONE_TRY(const event::Calibrated calibrated, log_.step<event::Calibrated>([&]() -> Result<event::Calibrated> {
    const int64_t before = services_.clock->now_ns();
    HONE_TRY(evaluate::Evaluator * evaluator, this->evaluator());
    return event::Calibrated{evaluator->bounds_ns(), evaluator->light_bounds(), services_.clock->now_ns() - before};
  }));
  // Drawing the pool, its oracle's answers, the bound: all of it is needed to verify.
  spent_.verify += calibrated.prepare_ns;
  bounds_ns_ = calibrated.bounds_ns;
  bounds_ = calibrated.bounds;
  return {};
}

Status Run::remember() {
  if (!options_.memory || !options_.recall.empty()) return {};
  std::optional<event::Recalled> recalled;
  if (!log_.replaying()) {
    HONE_TRY(recalled, memory_.recall(*services_.store, id_, services_.clock->unix_ms(), options_.shuffle_memory));
    if (!recalled) return {};
  } else if (!log_.next_is<event::Recalled>()) {
    return {};
  }
  HONE_TRY(recalled_, log_.step<event::Recalled>([&]() -> Result<event::Recalled> { return *recalled; }));
  strategy_->remember(memory_.take(*recalled_));
  return {};
}

Status Run::start_models() {
  if (options_.models_json.empty()) return {};
  Consult::Options options;
  options.run = id_;
  HONE_TRY(options.models, agent::ModelsConfig::from_json(options_.models_json));
  if (!log_.replaying() && services_.models.clients.size() != options.models.models.size())
    return fail(ErrorCode::kInternal, "the run's models were not made");
  options.tools = model_tools();
  HONE_TRY(event::Agents told, log_.step<event::Agents>([&]() -> Result<event::Agents> {
    event::Agents tell;
    HONE_TRY(tell.lessons, kept_lessons());
    for (const auto& model : options.models.models) tell.models.push_back(model.name);
    tell.prompts = agent::prompt_versions();
    tell.documents = agent::documents_to_keep();
    tell.tools = options.tools.specs();
    tell.facts = briefing(services_.toolchain, services_.place_facts ? services_.place_facts() : "", task_, bounds_, options_);
    // Whoever cannot look at a kernel that closely has nothing for a diagnoser to go by.
    tell.diagnose = static_cast<int>(options_.diagnose && services_.examine ? options.models.diagnoses() : agent::Diagnose::kNever);
    tell.research = options.models.researches();
    if (tell.research) {
      tell.patterns = pattern_lines(services_.seeds);
      if (recalled_) tell.memory = memory_lines(*recalled_);
    }
    tell.timing = services_.timing;
    tell.lines = lines_for(options.models);
    tell.directions = directions_for(task_, bounds_, services_.limits);
    tell.worked = worked_kernels(services_.seeds, services_.languages.front());
    return tell;
  }));
  // What models were told is the run's, whatever it says in the program that goes on with it or replays it.
  options.team.lessons = std::move(told.lessons);
  options.team.documents = std::move(told.documents);
  options.team.tools = told.tools ? std::move(*told.tools) : options.tools.specs();
  options.team.diagnose = static_cast<agent::Diagnose>(told.diagnose);
  options.team.research = told.research;
  options.team.patterns = std::move(told.patterns);
  options.team.memory = std::move(told.memory);
  options.team.task_toml = task_.to_toml([](const task::InputSpec& input) { return input.name + ".npy"; });
  options.team.operations = task::ops_used_text(task_.surface);
  options.team.machine = machine_;
  options.team.facts = std::move(told.facts);
  options.team.timing = told.timing.value_or("");
  options.team.width = told.lines.value_or(options.models.calls_at_once);
  options.team.directions = told.directions.value_or(std::vector<std::string>{});
  options.team.worked = told.worked.value_or(std::vector<std::string>{});
  for (size_t w = 0; w < task_.workloads.size(); ++w) options.team.courses.push_back({agent::one_line(task_.workloads[w].name, 60), w < bounds_ns_.size() ? bounds_ns_[w] : 0});
  options.team.language = services_.languages.front();
  consult_ = std::make_unique<Consult>(std::move(options), services_.models, *services_.store);
  return {};
}

agent::ToolTable Run::model_tools() {
  RunTools on;
  on.language = services_.languages.front();
  on.run = id_;
  on.evaluator = [this] { return evaluator(); };
  on.examine = services_.examine;
  on.microbenchmark = services_.microbenchmark;
  on.limits = [this] {
    return json{{"place", services_.place_facts ? services_.place_facts() : ""}, {"plan", services_.limits},
                {"peaks", services_.peaks ? services_.peaks() : json()}};
  };
  on.kernel_of = [this](std::string_view wanted) -> const Kernel* {
    if (wanted == "best") return leader() ? &leader()->kernel : nullptr;
    const auto at = std::find_if(accepted_.begin(), accepted_.end(), [&](const Candidate& c) { return c.hash.starts_with(wanted); });
    return at == accepted_.end() ? nullptr : &at->kernel;
  };
  on.score_of = [this](const Screening& screening) { return yardstick_ ? screening.score * yardstick_score_ : 1; };
  on.best_score = [this] { return leader() ? leader()->score : 0; };
  on.bounds_ns = bounds_ns_;
  // A run without memory, or with a shuffled one, is there to show what memory is worth.
  if (options_.memory && options_.shuffle_memory == 0)
    on.memory = [this](const std::string& words) -> Result<json> {
      MemoryQuery query{words, &task_, {services_.target, services_.device, services_.toolchain}, services_.seeds, services_.limits, id_,
                        services_.clock->unix_ms()};
      return search_memory(*services_.store, query);
    };
  return run_tools(std::move(on));
}

Status Run::tell_facts() {
  for (const std::string& hash : consult_->wants_facts()) {
    const Kernel* const kernel = accepted_kernel(hash);
    // What the finals of an interrupted search refused is nobody's to look at any more.
    if (!kernel) {
      consult_->tell(hash, {});
      continue;
    }
    HONE_TRY(const event::Look look, advisor_.profile(log_, *kernel));
    consult_->tell(hash, facts_of(look));
  }
  return {};
}

agent::Standing Run::standing() const {
  // Who begins has to know what there is to beat.
  const bool looked = looked_ || evaluated_ + dropped_ >= std::min<int>(kFirstLooks, static_cast<int>(services_.seeds.size()));
  if (!leader()) return {{}, 0, 0, looked};
  return {leader()->kernel, leader()->score, leader()->sol, looked};
}

template <class E>
Status Run::await_models() {
  return log_.step<E>([&]() -> Result<E> {
    const double limit = options_.budget_seconds > 0 ? search_seconds() : INFINITY;
    const auto stopped = [&] { return services_.interrupted && services_.interrupted(); };
    while (consult_->open() > 0 && !consult_->came() && log_.now() <= limit && !stopped()) consult_->wait(std::chrono::milliseconds(100));
    return E{consult_->open()};
  }).map([](const E&) {});
}

Status Run::about(const std::string& found, const std::string& hash) const {
  if (found == hash) return {};
  return log_.contradiction("about kernel " + base::short_hash(found), base::short_hash(hash));
}

Result<evaluate::Evaluator*> Run::evaluator() {
  const int64_t before = services_.clock->now_ns();
  const bool opens = !cards_.open();
  HONE_TRY(evaluate::Evaluator* const evaluator, cards_.home(yardstick_ ? std::optional(yardstick_->kernel) : std::nullopt));
  // The first time is the run's and paid from its budget; being killed costs it nothing.
  if (opens && !bounds_ns_.empty()) log_.leave_out_since(before);
  return evaluator;
}

void Run::show(Progress::Step step, const std::string& kernel, const std::string& action, const std::string& verdict) const {
  if (!services_.progress) return;
  Progress p;
  p.step = step;
  p.considered = considered_;
  p.evaluated = evaluated_;
  p.accepted = static_cast<int>(accepted_.size());
  p.best_score = leader() ? leader()->score : 0;
  p.sol_fraction = leader() ? leader()->sol : 0;
  p.elapsed_seconds = log_.now();
  p.budget_seconds = options_.budget_seconds;
  p.budget_evaluations = options_.budget_evaluations;
  p.kernel = kernel;
  p.action = action;
  p.verdict = verdict;
  services_.progress(p);
}

Status Run::set_yardstick(const Candidate& candidate) {
  HONE_TRY(const event::Yardstick event, log_.step<event::Yardstick>([&]() -> Result<event::Yardstick> {
    // Of several cards each is told before it looks at the next kernel.
    if (!cards_.several()) {
      HONE_TRY_VOID(evaluator());
      HONE_TRY_VOID(cards_.home(candidate.kernel));
    }
    return event::Yardstick{candidate.kernel.hash(), candidate.score};
  }));
  HONE_TRY_VOID(about(event.kernel, candidate.kernel.hash()));
  yardstick_ = candidate;
  yardstick_score_ = candidate.score;
  return {};
}

search::Outcome Run::outcome_of(const Kernel& kernel, const Screening& screening, double score) const {
  search::Outcome outcome;
  outcome.accepted = screening.verdict.accepted();
  outcome.score = score;
  outcome.seconds = static_cast<double>(screening.spent.build + screening.spent.verify + screening.spent.run) * 1e-9;
  if (outcome.accepted) outcome.behaviour = behaviour_of(kernel, task_, services_.limits, screening.median_ns, bounds_);
  return outcome;
}

Status Run::drop(const search::Proposal& proposal, const std::string& code) {
  const std::string hash = proposal.kernel.hash();
  HONE_TRY(const event::Duplicate event, log_.step<event::Duplicate>([&]() -> Result<event::Duplicate> {
    HONE_TRY_VOID(services_.store->put_kernel(row_of(proposal.kernel, proposal.action, task_.hash())));
    return event::Duplicate{hash, codes_.at(code), proposal.kernel.parent, proposal.kernel.author, proposal.kernel.header.pattern, proposal.action,
                            proposal.reason, proposal.kernel.config, std::exchange(batch_build_ns_, 0)};
  }));
  HONE_TRY_VOID(about(event.kernel, hash));
  spent_.build += event.build_ns;
  ++since_gain_;
  ++dropped_;
  search::Outcome outcome;
  outcome.seconds = static_cast<double>(event.build_ns) * 1e-9;
  outcome.twin = event.of;
  strategy_->observe(proposal, outcome);
  if (consult_)
    consult_->judged(hash, {false, "not looked at", fmt::format("it became the same machine code as kernel {}: propose something else", base::short_hash(event.of)),
                            "", 0, leader() ? leader()->score : 0, 0});
  return {};
}

LookOrder Run::order_of(const Kernel& kernel, bool built) const {
  LookOrder order{kernel, built && !options_.recall.empty(), consult_ && consult_->waits_for(kernel.hash()), consult_ != nullptr, {}, yardstick_score_, leader() ? leader()->score : 0};
  if (yardstick_) order.yardstick = yardstick_->kernel;
  return order;
}

Status Run::screen_proposal(const Queued& queued) {
  const search::Proposal& proposal = *queued.proposal;
  const std::string code = queued.code_name();
  if (log_.replaying() ? log_.next_is<event::Duplicate>() : codes_.contains(code)) return drop(proposal, code);
  const std::string hash = proposal.kernel.hash();
  const std::optional<agent::Promise> promise = consult_ ? consult_->promised(hash) : std::nullopt;
  HONE_TRY(const event::Screened event, log_.step<event::Screened>([&]() -> Result<event::Screened> {
    HONE_TRY_VOID(services_.store->put_kernel(row_of(proposal.kernel, proposal.action, task_.hash())));
    const auto look = [&]() -> Result<Judgement> {
      if (queued.card) return cards_.take(*queued.card);
      HONE_TRY(evaluate::Evaluator* const evaluator, this->evaluator());
      return judge(*evaluator, order_of(proposal.kernel, !code.empty()));
    };
    HONE_TRY(Judgement judged, look());
    judged.screening.spent.build += std::exchange(batch_build_ns_, 0);
    const bool accepted = judged.screening.verdict.accepted();
    const double score = judged.score;
    if (options_.memory)
      HONE_TRY_VOID(memory_.keep(*services_.store, id_, evaluated_ + 1, proposal, accepted, score, reference_.empty() && accepted ? hash : reference_,
                                 services_.clock->unix_ms()));
    event::Screened seen;
    seen.n = evaluated_ + 1;
    seen.kernel = hash;
    seen.parent = proposal.kernel.parent;
    seen.author = proposal.kernel.author;
    seen.pattern = proposal.kernel.header.pattern;
    seen.action = proposal.action;
    seen.reason = proposal.reason;
    seen.note = proposal.kernel.header.note;
    seen.config = proposal.kernel.config;
    seen.screening = std::move(judged.screening);
    seen.score = score;
    seen.first_score = judged.first_score;
    seen.told = std::move(judged.told);
    if (queued.card) seen.card = cards_.name(*queued.card), seen.yardstick = queued.yardstick;
    if (proposal.predicted > 0) seen.predicted = proposal.predicted, seen.cause = proposal.cause;
    if (promise) seen.predicted = promise->speedup, seen.cause = promise->cause;
    if (!code.empty()) seen.code = code;
    return seen;
  }));
  HONE_TRY_VOID(about(event.kernel, hash));
  const Screening& screening = event.screening;
  const double score = event.score;
  if (event.first_score && is_answer(proposal.kernel)) raced_.insert(hash);
  ++evaluated_;
  spent_ += screening.spent;
  const bool accepted = screening.verdict.accepted();
  if (accepted && reference_.empty()) reference_ = hash;
  memory_.observe(proposal.kernel, accepted, score);
  if (event.code) codes_.emplace(*event.code, hash);
  strategy_->observe(proposal, outcome_of(proposal.kernel, screening, score));
  if (const Candidate* const parent = accepted_candidate(proposal.kernel.parent)) {
    advisor_.outcome(proposal, score, parent->score);
    if (promise && parent->score > 0) advisor_.outcome(promise->action, promise->cause, promise->speedup, score / parent->score);
  }
  const double best_before = leader() ? leader()->score : 0;
  double sol = 0;
  if (accepted) {
    Candidate candidate{proposal.kernel, proposal.action, score, 0, hash};
    std::vector<double> fractions, weights;
    for (size_t w = 0; w < screening.median_ns.size() && w < bounds_ns_.size(); ++w) {
      fractions.push_back(bounds_ns_[w] / screening.median_ns[w]);
      weights.push_back(task_.workloads[w].weight);
    }
    candidate.sol = sol = evaluate::weighted_geometric_mean(fractions, weights);
    since_gain_ = !leader() || score > leader()->score * kGain ? 0 : since_gain_ + 1;
    const auto at = std::find_if(accepted_.begin(), accepted_.end(), [&](const Candidate& c) { return c.score < score; });
    accepted_.insert(at, std::move(candidate));
  } else {
    ++refused_;
    ++since_gain_;
  }
  if (consult_) {
    agent::Judged judged{accepted, std::string(evaluate::name_of(screening.verdict.kind)), screening.verdict.reason, screening.verdict.detail, score,
                         best_before, sol, base::content_hash(proposal.kernel.source), proposal.kernel.config, event.yardstick.value_or(yardstick_ ? yardstick_->hash : ""), screening};
    // Earlier runs told what the verdict says.
    if (event.told) {
      judged.reason = event.told->reason, judged.detail = event.told->detail;
      if (auto& accuracy = judged.screening.verdict.accuracy; accuracy && !is_workload_shape(accuracy->shape)) accuracy->shape = "a shape that is not told";
    }
    consult_->judged(hash, judged);
  }
  show(Progress::Step::kScreened, hash, proposal.action, std::string(evaluate::name_of(screening.verdict.kind)));
  // Nothing is timed against a recalled kernel.
  const bool untimed = !options_.recall.empty() && screening.repetitions == 0;
  if (accepted && !untimed && (!yardstick_ || leader()->score > kYardstickGain * yardstick_score_)) {
    const Candidate best = *leader();
    HONE_TRY_VOID(set_yardstick(best));
  }
  return {};
}

std::string Run::stop_reason(bool batch_empty) const {
  if (batch_empty) return "exhausted";
  if (services_.interrupted && services_.interrupted()) return "interrupted";
  // Preparing may have eaten it all: the first kernel is looked at even so.
  if (evaluated_ > 0 && is_late() && !owed_first()) return "budget";
  if (options_.budget_evaluations > 0 && evaluated_ >= options_.budget_evaluations) return "budget";
  if (leader() && leader()->sol >= kAtLight && leader()->sol < kPastLight && since_gain_ >= 8) return "speed of light";
  // What was on its way when the last gain was found knew nothing of it.
  if (since_gain_ >= kPatience + (options_.ahead ? options_.batch : 0)) return "stagnation";
  return {};
}

bool Run::is_late() const { return options_.budget_seconds > 0 && log_.elapsed() > search_seconds(); }

std::optional<size_t> Run::owed_first() const {
  if (!is_late() || services_.seeds.empty() || !options_.recall.empty()) return std::nullopt;
  const std::string hash = services_.seeds.front().kernel.hash();
  const auto at = std::find_if(queue_.begin(), queue_.end(), [&](const Queued& q) { return q.proposal->kernel.hash() == hash; });
  return at == queue_.end() ? std::nullopt : std::optional(static_cast<size_t>(at - queue_.begin()));
}

int Run::room(int left) const {
  if (owed_first()) return 0;
  const auto queued = static_cast<int>(queue_.size());
  const int free = options_.ahead || queued == 0 ? options_.batch - queued : 0;
  return options_.budget_evaluations > 0 ? std::min(free, left - queued) : free;
}

void Run::build_first_looks() {
  if (!services_.prebuild || log_.replaying()) return;
  // Every core is free until the evaluator is there: those that will join the queue soon are built, too.
  const size_t soon = options_.strategy == search::StrategyKind::kTune ? 1 : 2 * static_cast<size_t>(options_.batch);
  for (size_t i = 0; i < services_.seeds.size() && i < soon; ++i) {
    const Kernel& kernel = services_.seeds[i].kernel;
    first_looks_.emplace(kernel.hash(), std::async(std::launch::async, [this, &kernel] { services_.prebuild(kernel); }));
  }
}

Status Run::build_queued() {
  if (log_.replaying() || queue_.empty()) return {};
  if (!cards_.open()) HONE_TRY_VOID(evaluator());
  const int64_t before = services_.clock->now_ns();
  for (Queued& queued : queue_)
    if (!queued.code.valid())
      queued.code = std::async(std::launch::async, [this, proposal = queued.proposal] {
        const Kernel& kernel = proposal->kernel;
        if (const auto at = first_looks_.find(kernel.hash()); at != first_looks_.end()) at->second.wait();
        return code_name(kernel, cards_.builder()->build(kernel), task_, services_.limits);
      }).share();
  // Building and measuring exclude each other on a CPU: all builds first, side by side.
  if (!options_.ahead)
    for (const Queued& queued : queue_) queued.code.wait();
  else (void)next_built();
  batch_build_ns_ += services_.clock->now_ns() - before;
  return {};
}

/// What was built and paid for before the process that built it was gone.
Status Run::build_again() {
  if (!cards_.open()) HONE_TRY_VOID(evaluator());
  const int64_t before = services_.clock->now_ns(), paid = batch_build_ns_;
  HONE_TRY_VOID(build_queued());
  batch_build_ns_ = paid;
  log_.leave_out_since(before);
  return {};
}

size_t Run::next_built() const {
  const base::Span span("wait for a build");
  if (const auto first = owed_first()) {
    queue_[*first].code.wait();
    return *first;
  }
  for (;;) {
    for (size_t i = 0; i < queue_.size(); ++i)
      if (queue_[i].built()) return i;
    (void)queue_.front().code.wait_for(std::chrono::milliseconds(2));
  }
}

Result<size_t> Run::next_looked_at() {
  if (!log_.replaying()) return cards_.several() ? next_on_cards() : options_.ahead ? next_built() : 0;
  const std::string hash = log_.next_kernel();
  const auto at = std::find_if(queue_.begin(), queue_.end(), [&](const Queued& q) { return q.proposal->kernel.hash() == hash; });
  return at == queue_.end() ? 0 : static_cast<size_t>(at - queue_.begin());
}

Status Run::hand_out() {
  const auto owed = owed_first();
  for (Queued& queued : queue_) {
    // Two scores are over the same kernel, or over what was timed against it: the first that is accepted comes before all others.
    if (!yardstick_ && cards_.any_under_way()) return {};
    if (queued.card || !queued.built()) continue;
    if (owed && &queued != &queue_[*owed]) continue;
    const std::string code = queued.code_name();
    const bool twin = !code.empty() && std::any_of(queue_.begin(), queue_.end(), [&](const Queued& q) { return q.card && q.code_name() == code; });
    if (twin || codes_.contains(code)) continue;
    HONE_TRY(queued.card, cards_.free());
    if (!queued.card) return {};
    queued.yardstick = yardstick_ ? yardstick_->hash : "";
    cards_.begin(*queued.card, order_of(queued.proposal->kernel, !code.empty()));
  }
  return {};
}

Result<size_t> Run::next_on_cards() {
  const base::Span span("wait for a card");
  for (;;) {
    HONE_TRY_VOID(hand_out());
    for (size_t i = 0; i < queue_.size(); ++i)
      if (queue_[i].card ? cards_.done(*queue_[i].card) : queue_[i].built() && codes_.contains(queue_[i].code_name())) return i;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

Status Run::screen_queued() {
  while (!queue_.empty()) {
    // The rest of what a process that is gone was at: side by side as well, and what became the same code as another is found.
    if (!log_.replaying() && std::ranges::none_of(queue_, [](const Queued& q) { return q.code.valid(); })) HONE_TRY_VOID(build_again());
    HONE_TRY(const size_t place, next_looked_at());
    const auto at = queue_.begin() + static_cast<std::ptrdiff_t>(place);
    const Queued queued = std::move(*at);
    queue_.erase(at);
    HONE_TRY_VOID(screen_proposal(queued));
    if (options_.ahead) break;
  }
  return {};
}

std::vector<search::tune::Effect> Run::expected(const Kernel& kernel, const diagnose::Metrics& metrics) {
  if (!changes_) {
    auto known = known_changes(options_.memory ? services_.store : nullptr, services_.target, services_.device, id_);
    changes_ = known ? std::move(*known) : search::Changes();
  }
  return changes_->expect(metrics, kernel.header, kernel.config, services_.limits);
}

Status Run::take_advice() {
  if (!options_.diagnose) return {};
  if (options_.ahead) {
    // There is always a new best somewhere in the queue: one look for as many evaluations as a batch would have.
    const int first = std::min(options_.batch, static_cast<int>(services_.seeds.size()));
    if (evaluated_ < std::max(first, next_advice_) || strategy_->wants_diagnosis().empty()) return {};
    next_advice_ = evaluated_ + options_.batch;
  }
  return advisor_.advise(log_, *strategy_, [this](const std::string& hash) { return accepted_kernel(hash); });
}

Result<std::string> Run::search() {
  for (;;) {
    if (consult_) HONE_TRY_VOID(tell_facts());
    if (consult_) HONE_TRY_VOID(consult_->attend(log_, *strategy_, standing()));
    std::vector<search::Proposal> batch;
    std::string reason;
    bool going = false;
    // With models about, waiting for one of them is an event as well: a replay asks the strategy as often.
    bool waiting = false;
    if (!log_.next_is<event::Stopped>()) {
      reason = log_.replaying() ? "" : stop_reason(false);
      // What models answered is judged and tuned before it is given up.
      if (consult_ && (reason == "stagnation" || reason == "speed of light") && (consult_->kernels_waiting() || strategy_->owed() > 0)) reason.clear();
      int left = options_.budget_evaluations - evaluated_;
      if (consult_ && left > 0 && !consult_->kernels_waiting()) left -= consult_->kept_back(options_.budget_evaluations);
      const bool saving = options_.budget_evaluations > 0 && left <= 0 && reason.empty();
      if (log_.replaying() ? log_.next_is<event::Stalled>() : consult_ && (reason == "stagnation" || saving) && consult_->open() > 0) {
        HONE_TRY_VOID(await_models<event::Stalled>());
        continue;
      }
      if (const int most = room(left); reason.empty() && (most > 0 || !options_.ahead)) {
        HONE_TRY_VOID(take_advice());
        batch = strategy_->next(most);
        waiting = batch.empty() && consult_ &&
                  (log_.replaying() ? log_.next_is<event::Waited>() || log_.next_is<event::Considered>()
                                    : consult_->open() > 0 || !std::exchange(looked_, true));
        if (batch.empty() && queue_.empty() && !waiting && !log_.next_is<event::Stopped>()) reason = log_.replaying() ? "" : "exhausted";
      }
      going = reason.empty() && (!batch.empty() || !queue_.empty());
    }
    const search::Skipped skipped = strategy_->take_skipped();
    if (!going && !waiting) {
      HONE_TRY(const bool again, fall_back());
      if (again) continue;
      stop_was_recorded_ = log_.replaying();
      if (consult_) HONE_TRY_VOID(consult_->finish(log_, *strategy_, standing(), reason == "interrupted"));
      HONE_TRY(event::Stopped stopped, log_.step<event::Stopped>([&]() -> Result<event::Stopped> { return event::Stopped{reason}; }));
      return std::move(stopped.reason);
    }
    considered_ += static_cast<int>(batch.size()) + skipped.total();
    if (skipped.any()) {
      HONE_TRY_VOID(log_.step<event::Considered>([&]() -> Result<event::Considered> {
        return event::Considered{skipped.constraint, skipped.duplicate, skipped.predicted_slower};
      }));
    }
    if (waiting) {
      HONE_TRY_VOID(await_models<event::Waited>());
      continue;
    }
    for (search::Proposal& proposal : batch) queue_.push_back({std::make_shared<const search::Proposal>(std::move(proposal)), {}});
    HONE_TRY_VOID(build_queued());
    HONE_TRY_VOID(screen_queued());
  }
}

void Run::drop_queue() {
  for (const Queued& queued : queue_)
    if (queued.card) (void)cards_.take(*queued.card);
  queue_.clear();
}

Result<bool> Run::fall_back() {
  const bool wanted = log_.replaying() ? log_.next_is<event::Fallback>()
                                       : !fallen_back_ && !leader() && services_.last_resort && options_.recall.empty() &&
                                             !(services_.interrupted && services_.interrupted());
  if (!wanted || !services_.last_resort) return false;
  fallen_back_ = true;
  const std::string hash = services_.last_resort->kernel.hash();
  HONE_TRY(const event::Fallback event, log_.step<event::Fallback>([&]() -> Result<event::Fallback> { return event::Fallback{hash}; }));
  HONE_TRY_VOID(about(event.kernel, hash));
  if (!strategy_->add(*services_.last_resort, true)) return false;
  drop_queue();
  for (search::Proposal& proposal : strategy_->next(1)) queue_.push_back({std::make_shared<const search::Proposal>(std::move(proposal)), {}});
  HONE_TRY_VOID(build_queued());
  HONE_TRY_VOID(screen_queued());
  return true;
}

std::vector<std::string> Run::rivals(const Candidate& best) const {
  std::vector<std::string> chosen;
  std::set<std::string> sources = {best.kernel.source};
  for (size_t i = 1; i < accepted_.size(); ++i) {
    const Candidate& rival = accepted_[i];
    // The next best, and the best setting of each of the models' sources that might be.
    const bool next = i < kFinalists && rival.score >= kInReach * best.score;
    const bool answer = is_answer(rival.kernel) && !sources.contains(rival.kernel.source) && rival.score >= kAnswersInReach * best.score;
    if (!next && !answer) continue;
    sources.insert(rival.kernel.source);
    chosen.push_back(rival.hash);
  }
  return chosen;
}

Status Run::race() {
  // Scores were taken against different yardsticks at different times: the best few meet once more.
  if (accepted_.size() < 2) return {};
  const Candidate best = accepted_.front();
  HONE_TRY_VOID(set_yardstick(best));
  raced_.insert(best.hash);
  for (const std::string& hash : rivals(best)) {
    if (log_.replaying() && !log_.next_is<event::Raced>()) break;
    Candidate& rival = *std::find_if(accepted_.begin(), accepted_.end(), [&](const Candidate& c) { return c.hash == hash; });
    HONE_TRY(const event::Raced event, log_.step<event::Raced>([&]() -> Result<event::Raced> {
      HONE_TRY(evaluate::Evaluator * evaluator, this->evaluator());
      HONE_TRY(Screening screening, is_answer(rival.kernel) ? evaluator->screen_closely(rival.kernel) : evaluator->screen(rival.kernel));
      return event::Raced{hash, std::move(screening)};
    }));
    raced_.insert(hash);
    HONE_TRY_VOID(about(event.kernel, hash));
    spent_ += event.screening.spent;
    rival.score = event.screening.verdict.accepted() ? event.screening.score * best.score : 0;
  }
  refused_ += static_cast<int>(std::erase_if(accepted_, [](const Candidate& c) { return c.score <= 0; }));
  std::stable_sort(accepted_.begin(), accepted_.end(), [](const Candidate& a, const Candidate& b) { return a.score > b.score; });
  return {};
}

Result<std::optional<Candidate>> Run::promote_best(RunResult& result) {
  for (int tries = 0; tries < kFinalists && leader(); ++tries) {
    const Candidate candidate = *leader();
    const std::string hash = candidate.kernel.hash();
    show(Progress::Step::kPromoting, hash, candidate.action, "");
    HONE_TRY(event::Promoted event, log_.step<event::Promoted>([&]() -> Result<event::Promoted> {
      HONE_TRY(evaluate::Evaluator * evaluator, this->evaluator());
      HONE_TRY(Promotion promotion, evaluator->promote(candidate.kernel, services_.opponents));
      return event::Promoted{hash, std::move(promotion)};
    }));
    HONE_TRY_VOID(about(event.kernel, hash));
    result.promotion = std::move(event.promotion);
    spent_ += result.promotion->spent;
    if (result.promotion->verdict.accepted()) return std::optional<Candidate>(candidate);
    // What the full trial refuses is out for good, also when an interrupted run goes on.
    accepted_.erase(accepted_.begin());
    ++refused_;
  }
  return std::optional<Candidate>();
}

Result<RunResult> Run::conclude(const std::string& reason) {
  RunResult result;
  result.run = id_;
  result.reason = reason;
  HONE_TRY_VOID(race());
  HONE_TRY(std::optional<Candidate> champion, promote_best(result));
  // Older programs ended here: their archives go on as they went.
  const bool ended = log_.replaying() && !log_.next_is<event::Fallback>() && !log_.next_is<event::Promoted>();
  if (!champion && services_.last_resort && !ended) {
    // However many were accepted and refused again: plain loops are next, unless they were among the refused.
    std::erase_if(accepted_, [&](const Candidate& c) { return c.kernel.source != services_.last_resort->kernel.source; });
    HONE_TRY_VOID(fall_back());
    HONE_TRY(champion, promote_best(result));
  }
  std::string path;
  if (champion) {
    result.champion = champion->kernel.hash();
    if (!services_.champions.empty())
      path = (services_.champions / fmt::format("{}-{}{}", file_stem(task_.name), base::short_hash(result.champion),
                                                 kernel::row_of(champion->kernel.header.language).suffix)).string();
    HONE_TRY(const event::Champion event, log_.step<event::Champion>([&]() -> Result<event::Champion> {
      return event::Champion{result.champion, path, day_of(services_.clock->unix_ms()), champion->score};
    }));
    HONE_TRY_VOID(about(event.kernel, result.champion));
    if (!path.empty()) {
      HONE_TRY_VOID(base::make_directories(services_.champions));
      const Place place{services_.target, services_.device, services_.toolchain};
      HONE_TRY_VOID(base::write_file_atomic(path, champion_text(champion->kernel, task_, place, event.day)));
    }
  }
  if (champion && options_.diagnose) HONE_TRY_VOID(advisor_.conclude(log_, champion->kernel));
  HONE_TRY(const event::Finished finished, log_.step<event::Finished>([&]() -> Result<event::Finished> {
    if (consult_) HONE_TRY_VOID(keep_lessons());
    if (options_.memory && champion) {
      std::vector<RunMemory::Finalist> finalists;
      for (size_t i = 0; i < accepted_.size() && i < kFinalists; ++i) finalists.push_back({accepted_[i].kernel, accepted_[i].score});
      HONE_TRY_VOID(memory_.close(*services_.store, id_, finalists, reference_, services_.clock->unix_ms()));
    }
    json said = summary(champion, result.promotion, path);
    if (consult_) {
      HONE_TRY(const auto events, services_.store->events(id_));
      said["models"]["questions"] = ledger_json(ledger_of(read_events(events), ledger_sources(*services_.store)));
    }
    return event::Finished{reason, result.champion, std::move(said)};
  }));
  if (finished.reason != reason || finished.champion != result.champion || !finished.summary.is_object())
    return log_.contradiction("another end", reason);
  result.summary_json = base::canonical_json(finished.summary);
  return result;
}

Result<std::vector<std::string>> Run::kept_lessons() {
  HONE_TRY(const auto kept, services_.store->fact(lessons_key(task_.hash())));
  std::vector<std::string> lessons;
  base::Notes notes;
  if (kept) base::read_value(json::parse(*kept, nullptr, false), lessons, "lessons", notes);
  return lessons;
}

Status Run::keep_lessons() {
  constexpr size_t kKept = 20;
  HONE_TRY(std::vector<std::string> lessons, kept_lessons());
  for (const std::string& lesson : consult_->lessons())
    if (std::find(lessons.begin(), lessons.end(), lesson) == lessons.end()) lessons.push_back(lesson);
  if (lessons.size() > kKept) lessons.erase(lessons.begin(), lessons.end() - kKept);
  return services_.store->put_fact(lessons_key(task_.hash()), base::canonical_json(json(lessons)));
}

/// What the run won, over the kernel given or else the first that was accepted: of their pairs in the promotion, as quick looks at different times
/// are no comparison. Null where neither took part.
json Run::gain(const Promotion& promotion) const {
  const auto played = [&](auto is) -> std::optional<Headline> {
    const auto at = std::ranges::find_if(services_.opponents, is);
    return at == services_.opponents.end() ? std::nullopt : against(promotion, task_, at->name);
  };
  auto line = played([](const evaluate::Opponent& o) { return o.name == "start"; });
  if (!line) line = played([&](const evaluate::Opponent& o) { return o.kernel && o.kernel->hash() == reference_; });
  if (!line) return nullptr;
  return {{"over", line->opponent}, {"comparison", evaluate::name_of(line->comparison)},
          {"median", line->speedup.median}, {"low", line->speedup.low}, {"high", line->speedup.high}};
}

json Run::summary(const std::optional<Candidate>& champion, const std::optional<Promotion>& promotion,
                  const std::string& path) const {
  json out = {{"run", id_}, {"task", task_.name}, {"target", services_.target}, {"track", task::name_of(task_.track)},
              {"champion", nullptr}, {"verdict", "none"}, {"comparison", "INCONCLUSIVE"}, {"opponent", nullptr},
              {"speedup", nullptr}, {"sol_fraction", nullptr}, {"accuracy", nullptr}, {"gain", nullptr}, {"quick_looks_over_first", nullptr},
              {"considered", considered_}, {"evaluations", evaluated_}, {"refused", refused_},
              {"seconds", {{"total", log_.now()}, {"build", static_cast<double>(spent_.build) * 1e-9},
                           {"verify", static_cast<double>(spent_.verify) * 1e-9},
                           {"run", static_cast<double>(spent_.run) * 1e-9}}}};
  if (consult_) {
    out["models"] = consult_->ledger();
    out["models"]["answers"] = consult_->answers();
    for (json& answer : out["models"]["answers"]) answer["raced"] = raced_.contains(answer.value("best", "")) || raced_.contains(answer.value("kernel", ""));
  }
  if (json predictions = advisor_.calibration(); !predictions.is_null()) out["predictions"] = std::move(predictions);
  if (!champion || !promotion) return out;
  const Headline line = headline_of(*promotion, task_);
  out["champion"] = {{"hash", champion->kernel.hash()}, {"path", path}};
  out["verdict"] = evaluate::name_of(promotion->verdict.kind);
  out["quick_looks_over_first"] = champion->score;
  out["gain"] = gain(*promotion);
  out["sol_fraction"] = line.sol_fraction;
  if (!line.opponent.empty()) {
    out["opponent"] = line.opponent;
    out["comparison"] = evaluate::name_of(line.comparison);
    out["speedup"] = {{"median", line.speedup.median}, {"low", line.speedup.low}, {"high", line.speedup.high}};
  }
  if (const auto& a = promotion->verdict.accuracy)
    out["accuracy"] = {{"candidate", a->candidate}, {"anchor", a->anchor}, {"bound", a->bound}};
  return out;
}

}  // namespace

std::string RunOptions::to_json() const {
  json out = {{"target", target}, {"strategy", search::name_of(strategy)}, {"seed", seed}, {"budget_seconds", budget_seconds},
                    {"budget_evaluations", budget_evaluations}, {"threads", threads}, {"opponents", opponents}, {"start_source", start_source},
                    {"recall", recall}, {"batch", batch}, {"diagnose", diagnose}};
  if (ahead) out["ahead"] = true;
  if (!languages.empty()) out["languages"] = languages;
  if (!models_json.empty()) out["models"] = models_json;
  out["memory"] = memory;
  if (shuffle_memory != 0) out["shuffle_memory"] = shuffle_memory;
  if (sampling_seconds > 0) out["sampling_seconds"] = sampling_seconds;
  return base::canonical_json(out);
}

Result<RunOptions> RunOptions::from_json(std::string_view text) try {
  const json in = json::parse(text, nullptr, false);
  RunOptions options;
  const auto strategy = in.is_object() ? search::strategy_from(in.value("strategy", "")) : std::nullopt;
  if (!strategy) return fail(ErrorCode::kCorrupt, "the run's options cannot be read", "start a new run");
  options.strategy = *strategy;
  options.target = in.value("target", "cpu");
  options.seed = base::exactly(in, "seed", uint64_t{1});
  options.budget_seconds = in.value("budget_seconds", 60.0);
  options.budget_evaluations = base::exactly(in, "budget_evaluations", 0);
  options.sampling_seconds = in.value("sampling_seconds", 0.0);
  options.threads = base::exactly(in, "threads", 0);
  // As it was before a run could have another.
  options.batch = base::exactly(in, "batch", 2);
  options.ahead = in.value("ahead", false);
  options.opponents = in.value("opponents", "all");
  options.start_source = in.value("start_source", "");
  options.recall = in.value("recall", "");
  options.languages = in.value("languages", "");
  options.models_json = in.value("models", "");
  options.memory = in.value("memory", false);
  options.shuffle_memory = base::exactly(in, "shuffle_memory", uint64_t{0});
  options.diagnose = in.value("diagnose", false);
  return options;
} catch (const json::exception& e) {
  return fail(ErrorCode::kCorrupt, fmt::format("the run's options cannot be read: {}", e.what()), "start a new run");
}

namespace {

/// Drives a run that we hold. What is stopped in a hurry is as resumable as what is stopped gently.
Result<RunResult> drive_held(const archive::RunInfo& info, const task::Task& task, const RunOptions& options,
                             const Services& services, std::vector<archive::Event> events) {
  auto result = Run(info.id, task, options, services, std::move(events)).drive();
  if (!result) {
    // Best effort, as the archive may be what failed: the error says more than a status, and either way
    // the run can be resumed.
    const char* status = result.error().code == ErrorCode::kInterrupted ? "interrupted" : "failed";
    (void)services.store->update_run(info.id, status, info.champion, info.summary_json);
  }
  return result;
}

}  // namespace

Result<RunResult> start_run(const task::Task& task, const RunOptions& asked, const Services& services) {
  RunOptions options = asked;
  if (options.batch <= 0) options.batch = services.batch;
  // Models are told what became of their kernels before they are asked again: with them about, batches end.
  options.ahead = services.builds_aside && options.models_json.empty();
  options.diagnose = options.diagnose && services.examine != nullptr;
  archive::RunInfo info;
  info.id = services.run_id.empty() ? fmt::format("{:012x}", base::secret_seed() >> 16) : services.run_id;
  info.task_name = task.name;
  info.task_hash = task.hash();
  info.target = services.target;
  info.options_json = options.to_json();
  info.task_toml = task.to_toml();
  info.created_unix_ms = info.updated_unix_ms = services.clock->unix_ms();
  info.status = "running";
  HONE_TRY_VOID(services.store->create_run(info));
  HONE_TRY(const auto lock, services.store->lock_run(info.id));
  return drive_held(info, task, options, services, {});
}

Result<RunResult> resume_run(const archive::RunInfo& run, const task::Task& task, const Services& services) {
  HONE_TRY(const auto lock, services.store->lock_run(run.id));
  // As it is now that nobody else can change it.
  HONE_TRY(const archive::RunInfo info, services.store->run(run.id));
  if (info.status == "finished")
    return fail(ErrorCode::kInput, fmt::format("run {} is finished", info.id), fmt::format("hone show {}", info.id));
  HONE_TRY(const RunOptions options, RunOptions::from_json(info.options_json));
  HONE_TRY(auto events, services.store->events(info.id));
  if (info.status != "running")
    HONE_TRY_VOID(services.store->update_run(info.id, "running", info.champion, info.summary_json));
  return drive_held(info, task, options, services, std::move(events));
}

Result<RunResult> replay_run(const archive::RunInfo& run, const task::Task& task, const Services& services) {
  HONE_TRY(const RunOptions options, RunOptions::from_json(run.options_json));
  HONE_TRY(const auto events, services.store->events(run.id));
  const LoggedEvent last = events.empty() ? LoggedEvent() : read_event(events.back());
  const auto* const end = last.as<event::Finished>();
  if (!end) return fail(ErrorCode::kInput, fmt::format("run {} has not come to an end", run.id), fmt::format("hone resume {}", run.id));
  if (end->reason == "interrupted")
    return fail(ErrorCode::kInput, fmt::format("run {} was interrupted", run.id), fmt::format("hone resume {} goes on with it", run.id));
  // In an archive of its own: whatever goes wrong, the record stays as it is.
  HONE_TRY(const base::ScratchDirectory scratch, base::ScratchDirectory::create("replay"));
  HONE_TRY(archive::Store store, archive::Store::open(scratch.path() / "archive.db"));
  archive::RunInfo copy = run;
  copy.status = "running";
  HONE_TRY_VOID(store.create_run(copy));
  Services silent = services;
  silent.store = &store;
  silent.models = {};
  silent.champions.clear();
  silent.interrupted = nullptr;
  silent.evaluator = [&]() -> Result<std::unique_ptr<evaluate::Evaluator>> {
    return fail(ErrorCode::kCorrupt, fmt::format("the recording of run {} ends before its decisions do", run.id));
  };
  HONE_TRY(RunResult result, drive_held(copy, task, options, silent, events));
  if (result.champion != run.champion)
    return fail(ErrorCode::kCorrupt, fmt::format("the replay of run {} ends with another champion", run.id));
  return result;
}

}  // namespace hone::engine
