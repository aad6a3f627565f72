// Several lines of work on one task, each a direction that a model follows: generate, fix what was refused,
// optimise what was accepted. The team decides who is asked what, and makes proposals of the answers. It is
// a deterministic function of what it was told, in order, so that a run's log replays through it; it calls
// nobody itself. What one direction learns, the others read in their next prompt. One thread.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hone/agent/answer.h"
#include "hone/agent/looked.h"
#include "hone/agent/model/budget.h"
#include "hone/agent/model/config.h"
#include "hone/agent/model/message.h"
#include "hone/agent/prompt.h"
#include "hone/search/strategy.h"

namespace hone::agent {

struct TeamModel {
  std::string name;
  double share = 1;
  int max_output_tokens = 8192;
  bool tools = true;
};

struct TeamOptions {
  std::string task_toml, machine;          ///< as prompts show them
  std::string operations;                  ///< what the task's operations mean where it does not say so itself; a line each, may be empty
  std::string facts;                       ///< of machine, build, workloads and run, for prompts that have a place for them
  std::string timing;                      ///< the document that says how the target times ("timing_cpu"); empty: in earlier runs
  std::vector<std::string> worked;         ///< files of the library's kernels for the task, in `language`
  std::vector<Course> courses;             ///< the task's workloads
  kernel::Language language = kernel::Language::kCpp;
  std::vector<TeamModel> models;
  std::vector<ToolSpec> tools;
  int width = 4;                           ///< directions side by side
  std::vector<std::string> directions;     ///< to begin in, best first; empty: in earlier runs, which had one list for every task
  int history_tokens = 1500;               ///< of what was tried, in a prompt
  bool feedback = true;                    ///< false: every question is a generator's that knows of nothing before it
  Documents documents;                     ///< what prompts are made of; empty: this program's own
  std::vector<std::string> lessons;        ///< of earlier runs, most useful first
  Diagnose diagnose = Diagnose::kNever;    ///< when a diagnoser is asked before an optimiser
  bool research = false;                   ///< a researcher is asked before everybody else, once
  std::vector<std::string> patterns, memory;  ///< what it is asked about, with the lessons; a line each
};

/// A hardware counter or a model of one; what nobody knows is absent.
struct Metric {
  std::string name;
  std::optional<double> value;
  bool modelled = false;
  std::string about;                       ///< what it is
};
/// A line a metric; `about`: with what each is.
[[nodiscard]] std::string metrics_text(const std::vector<Metric>& metrics, bool about = false);
/// What is known of a kernel before it is improved.
struct Facts {
  std::vector<Metric> metrics;
  std::string rules;                       ///< what hone's rules say; empty: nothing
  std::string workload;                    ///< that all this is of; empty: nobody knows
  bool sure = false;                       ///< they name a bottleneck, and something that promises a gain
};
/// What a diagnoser promised of the kernel that was made under its diagnosis.
struct Promise {
  std::string action, cause;               ///< "optimiser's action", "diagnoser: memory"
  double speedup = 1;                      ///< over the kernel that was diagnosed
};

/// The best so far, of whoever.
struct Standing {
  std::optional<kernel::Kernel> kernel;
  double score = 0, light = 0;
  bool looked = true;                      ///< the library's own kernels were looked at: there is something to begin from
};

struct Ask {
  int direction = 0, model = 0;
  std::string agent, parent;               ///< parent: hash of the kernel it is about, or empty
  Request request;
};

/// What an answer asks for: a kernel to look at, or tools; or neither.
struct Taken {
  std::optional<search::Seed> seed;
  std::string reason;
  double expected_speedup = 0;
  std::vector<ToolCall> calls;
  std::string problem;                     ///< why it is neither
};

class Team {
 public:
  explicit Team(TeamOptions options);

  /// Who is to be asked next, and which model, given those `forbidden` (by the budget); absent when every
  /// direction is busy or the team has given up. Who has a kernel to mend or to improve comes before who would begin, and
  /// nobody begins before the library's own kernels were looked at.
  [[nodiscard]] std::optional<std::pair<int, int>> next(const std::vector<bool>& forbidden, const Standing& standing) const;
  /// The request for it; the same as before where nothing was told in between.
  [[nodiscard]] Result<Ask> prepare(int direction, int model, const Standing& standing) const;
  /// It was sent.
  void sent(const Ask& ask);
  /// Its answer, or why there is none. `seconds` and `cost` are what the model took.
  [[nodiscard]] Taken take(int direction, const std::optional<Reply>& reply, const std::string& problem, double seconds, const Cost& cost);
  /// What the tools said; the direction goes on.
  void tool_results(int direction, std::vector<Message> results);
  /// A kernel was looked at, of whoever: a direction that waits for it goes on.
  void judged(const std::string& kernel, const Judged& judged);
  /// Kernels that lines are about to improve and that nobody has told facts of: to be told before the next question.
  [[nodiscard]] std::vector<std::string> wants_facts() const;
  void tell(const std::string& kernel, Facts facts) { facts_[kernel] = std::move(facts); }
  /// Of a kernel that is not judged yet; absent where no diagnoser promised anything.
  [[nodiscard]] std::optional<Promise> promised(const std::string& kernel) const;
  /// Nobody waits for anything but an answer, and nobody will ask again.
  [[nodiscard]] bool gave_up() const;
  [[nodiscard]] bool kernels_waiting() const;
  /// An answer's kernel of that hash was not judged yet.
  [[nodiscard]] bool waits_for(const std::string& kernel) const;
  /// Every kernel that was answered, in order, as the report tells of it: {"kernel", "name", "agent", "action", "verdict", "score", "settings",
  /// "best", "best_score"}; settings: of its tunables that were tried, the best of them by its hash.
  [[nodiscard]] nlohmann::json answers() const;
  /// Lessons that models stated and outcomes bore out or not, newest last.
  [[nodiscard]] std::vector<std::string> lessons() const;
  /// A row a model: calls, failures, unusable answers, kernels, accepted, gain (natural log of the best's speedups), seconds, tokens, dollars.
  [[nodiscard]] nlohmann::json ledger() const;

 private:
  enum class Phase : uint8_t { kIdle, kAsked, kTools, kWaiting };
  struct Direction {
    Phase phase = Phase::kIdle;
    std::string agent;                       ///< of the conversation under way
    int model = 0, rounds = 0, repairs = 0;  ///< of it
    std::vector<Message> conversation;       ///< goes on with the next request where not empty
    std::string parent;
    std::optional<kernel::Kernel> last, best;  ///< last proposed; best accepted
    std::string last_hash, action, lesson;
    Judged last_judged;
    double best_score = 0;
    int fixes = 0, idle_rounds = 0, hint = 0;
    bool briefed = false;                    ///< its generator was told what the researcher found
    std::string diagnosed;                   ///< the kernel that a diagnoser was asked about last
    std::string bottleneck, diagnosis;       ///< what came of it; empty: nothing
    double foretold = 0;
  };
  enum class Research : uint8_t { kNone, kDue, kAsked, kDone };
  struct Trial {
    int direction;
    std::string agent, model, action, verdict, reason, lesson;
    double score;
    std::string kernel;                      ///< its hash; empty: there was none to look at
    double best_before = 0;                  ///< score of the best then; 0: there was none
    /// It did not become the best of the run.
    [[nodiscard]] bool lost() const { return score <= best_before; }
  };
  struct Tally {
    int calls = 0, failures = 0, unusable = 0, kernels = 0, accepted = 0;
    double gain = 0, seconds = 0;
    Cost cost;
  };
  void conclude(Direction& direction);
  /// The answer of a researcher or diagnoser is taken in; what is wrong with it, where it cannot be used.
  [[nodiscard]] std::optional<std::string> take_advice(Direction& direction, const Reply& reply);
  [[nodiscard]] bool wants_diagnosis(const Direction& direction, const std::string& best) const;
  /// What rules and diagnoser say of its best kernel, for an optimiser who sees the setting `shown` of it; empty: nothing.
  [[nodiscard]] std::string advice(const Direction& direction, const std::string& shown) const;
  [[nodiscard]] Result<std::string> research_question() const;
  void record(int direction, const std::string& verdict, const std::string& reason, double score, const std::string& kernel = {}, double best_before = 0);
  // What prompts are filled with (team_words.cc). A place keeps its meaning for ever, as recorded runs are replayed
  // with the prompts they were made with: what is to be said in another way has a place of another name.
  /// A line a trial, newest kept, within the tokens allowed.
  [[nodiscard]] std::string attempts(const std::function<std::string(const Trial&)>& line_of) const;
  [[nodiscard]] std::string history(int direction) const;
  [[nodiscard]] std::string notes(int direction, const std::string& best) const;
  [[nodiscard]] std::string note(const Trial& trial, int direction, const std::string& best) const;
  [[nodiscard]] std::string others(int direction) const;
  [[nodiscard]] std::string best_of_run(const Standing& standing, const std::string& shown_above) const;
  /// The same, without what the prompt shows already: the kernel `shown` above it, and the library's kernels.
  [[nodiscard]] std::string best_beside(const Standing& standing, const kernel::Kernel* shown) const;
  [[nodiscard]] std::string settings(const kernel::Kernel& kernel, const std::string& shown, const std::string& best) const;
  /// The kernel's source with the fastest of its settings so far.
  [[nodiscard]] kernel::Kernel tuned(const kernel::Kernel& kernel) const;
  [[nodiscard]] Result<std::string> question(const Direction& direction, int index, const Standing& standing, std::string& agent, std::string& parent) const;
  /// Its next question is a generator's.
  [[nodiscard]] static bool begins(const Direction& direction);
  [[nodiscard]] std::string hint_of(int number) const;
  [[nodiscard]] int choose_model(const std::vector<bool>& forbidden) const;

  TeamOptions options_;
  std::string system_;
  std::vector<Direction> directions_;
  std::vector<Trial> trials_;
  std::vector<Tally> tallies_;
  Looked looked_;
  int fruitless_ = 0;
  std::map<std::string, Facts> facts_;
  Research research_ = Research::kNone;
  std::string found_;                        ///< by the researcher
};

}  // namespace hone::agent
