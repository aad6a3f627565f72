// Language models within a run: what is asked, what comes back, and what becomes of it, as events. A question
// is an event before it is sent, an answer one before it is used, so a resumed run asks nothing twice: an
// answer that came while nobody could write the event lies in the archive; a question whose answer was lost
// with the process counts as paid and is not repeated, but to models that answer later
// (agent::ModelConfig::later). One thread (calls run on the desk's).
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "hone/agent/model/config.h"
#include "hone/agent/team.h"
#include "hone/agent/tool.h"
#include "hone/engine/desk.h"
#include "hone/engine/event_log.h"
#include "hone/search/strategy.h"
#include "hone/task/task.h"

namespace hone::engine {

class Consult {
 public:
  struct Options {
    std::string run;
    agent::ModelsConfig models;
    agent::TeamOptions team;      ///< its models and feedback are filled in here
    agent::ToolTable tools;
  };
  /// `services` and `store` must outlive it.
  Consult(Options options, const ModelServices& services, archive::Store& store);

  /// Takes in what came back and asks what there is to ask, until there is nothing more of either. New
  /// kernels go to `strategy`.
  [[nodiscard]] Status attend(EventLog& log, search::Strategy& strategy, const agent::Standing& standing);
  /// The search is ending: calls under way are cancelled, and what came back is written down. `for_now`: somebody may go on
  /// with it, so questions to models that answer later stay open.
  [[nodiscard]] Status finish(EventLog& log, search::Strategy& strategy, const agent::Standing& standing, bool for_now);
  /// Of a run's `budget` of evaluations, those that are kept for answers to come where the models' file says `patient`:
  /// two a call, the kernel and one variant of it, and half of the budget at the most. 0 where nobody is being asked.
  [[nodiscard]] int kept_back(int budget) const;
  /// Questions without an answer yet.
  [[nodiscard]] int open() const { return static_cast<int>(open_.size()); }
  /// Until an answer is there, or `most` passed. Returns at once where one is known to be.
  void wait(std::chrono::milliseconds most);

  [[nodiscard]] bool waits_for(const std::string& kernel) const { return team_.waits_for(kernel); }
  /// Team::answers().
  [[nodiscard]] nlohmann::json answers() const { return team_.answers(); }
  /// Whether one is there.
  [[nodiscard]] bool came() const { return desk_->any_back(); }
  /// Kernels of models that nobody has looked at yet.
  [[nodiscard]] bool kernels_waiting() const { return team_.kernels_waiting(); }

  /// Kernels that a diagnoser may be asked about next, of which nothing was told yet; none once no more may be asked.
  [[nodiscard]] std::vector<std::string> wants_facts() const;
  void tell(const std::string& kernel, agent::Facts facts) { team_.tell(kernel, std::move(facts)); }
  [[nodiscard]] std::optional<agent::Promise> promised(const std::string& kernel) const { return team_.promised(kernel); }
  void judged(const std::string& kernel, const agent::Judged& judged) { team_.judged(kernel, judged); }
  [[nodiscard]] nlohmann::json ledger() const;
  [[nodiscard]] std::vector<std::string> lessons() const { return team_.lessons(); }

 private:
  struct Open {
    int direction = 0, model = 0;
    agent::Cost most;
    bool here = false;          ///< sent by this process
    std::optional<agent::Request> again;  ///< of another process, to a model that answers later
  };
  [[nodiscard]] Status replay_asked(EventLog& log, const agent::Standing& standing);
  [[nodiscard]] Result<bool> ask(EventLog& log, const agent::Standing& standing);
  /// `live`: of question `n`, where the event is new.
  [[nodiscard]] Status take_answer(EventLog& log, search::Strategy& strategy, int n, event::Exchanged live);
  /// An event where an answer could not be used: whose, and why.
  [[nodiscard]] Status put_aside(EventLog& log, int n, const std::string& reason);
  [[nodiscard]] Status run_tools(EventLog& log, int n, int direction, const std::vector<agent::ToolCall>& calls);
  [[nodiscard]] Status collect(EventLog& log, search::Strategy& strategy, bool lost_too);

  Options options_;
  const ModelServices& services_;
  archive::Store& store_;
  agent::Budget budget_;
  agent::Team team_;
  std::map<int, Open> open_;
  int asked_ = 0;
  bool ending_ = false, for_now_ = false;
  std::unique_ptr<Desk> desk_;
};

/// Lines of work for so many calls at a time and (0: any number) in all: each has a call to begin with and two to go on.
[[nodiscard]] int lines_for(const agent::ModelsConfig& models);

/// Key of the lessons of a task, a JSON list of lines, newest last.
[[nodiscard]] std::string lessons_key(const std::string& task_hash);

}  // namespace hone::engine
