// A program's way from its tasks to kernels in their places: what hone optimize does with a file (optimise.cc) and what
// torch.compile's backend does with a graph (attached.cc) have in common. One thread drives it.
#pragma once
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "hone/archive/store.h"
#include "hone/base/json.h"
#include "hone/engine/run.h"
#include "hone/engine/workbench.h"
#include "hone/evaluate/compare/compare.h"
#include "hone/face/program/opened.h"
#include "hone/face/program/package.h"
#include "hone/face/program/progress.h"

namespace hone::face {

/// One task's way to its kernel.
struct TaskResult {
  double seconds = 0;            ///< of search
  std::string run, champion, note;
  evaluate::StepTime time;       ///< of all its steps together
  double stepwise_ns = 0;        ///< of PyTorch's where what they are part of is written out; elsewhere as time.eager_ns
  bool runs = true;              ///< its kernel, on this machine
  bool used = false;
};

/// What an operator was written out as, against the operator.
struct WrittenResult {
  evaluate::StepTime time;       ///< kernel_ns: written out, with all kernels
  bool whole = false;            ///< left to PyTorch: no faster in its place
};

/// The composed program and one of PyTorch's ways, in turns: times of different sessions are never compared.
struct Duel {
  evaluate::Ratio ratio;
  evaluate::Comparison comparison = evaluate::Comparison::kInconclusive;
  double ours_ns = 0, theirs_ns = 0;
  [[nodiscard]] std::string to_string() const;
  [[nodiscard]] base::Json to_json() const;
};

[[nodiscard]] Duel duel_of(const evaluate::ProgramSession::Times& times);

/// How much is looked at.
struct Care {
  double step_seconds = 4;       ///< of timing all steps
  int sets = 6, weights = 3;     ///< draws of inputs, the given ones among them; of weights
};

/// kUsage for a target that programs do not run on. Kernels are written in what can be exported for PyTorch.
[[nodiscard]] Status for_target(const std::string& target, engine::RunOptions& options);

class ProgramRun {
 public:
  /// `opponents` of the tasks' runs; `quiet`: what it says goes to standard error.
  ProgramRun(OpenedProgram opened, engine::RunOptions options, std::string opponents, Care care, bool quiet);
  virtual ~ProgramRun() = default;
  [[nodiscard]] std::unique_ptr<evaluate::ProgramSession> give_session() { return std::move(opened_.session); }

 protected:
  template <class... Args>
  void say(fmt::format_string<Args...> format, Args&&... args) const { say(fmt::format(format, std::forward<Args>(args)...)); }
  void say(const std::string& text) const;

  [[nodiscard]] std::string package_name() const { return opened_.program.name + "_hone"; }
  [[nodiscard]] const task::Task& task(size_t i) const { return opened_.plan.tasks[i].task; }
  [[nodiscard]] TaskResult& result_of(const std::string& name);
  [[nodiscard]] std::vector<std::string> names_in_use() const;
  /// Of what was written out, what is PyTorch's one operator whatever kernels there are.
  [[nodiscard]] std::vector<std::string> left_whole() const;
  /// Those of `names`, and what runs as it was written out with them.
  [[nodiscard]] std::vector<std::string> with_written(std::vector<std::string> names) const;
  /// What it runs on, once kernels were looked for.
  [[nodiscard]] std::string device() const { return bench_ == nullptr ? std::string() : bench_->place().device; }
  [[nodiscard]] size_t kernels_in_use() const { return names_in_use().size(); }
  [[nodiscard]] Result<std::vector<ExportedFile>> package(const std::string& name, const std::map<int, ProgramKernel>& kernels) const;
  [[nodiscard]] static Status write(const std::vector<ExportedFile>& files, const std::filesystem::path& folder);

  /// The folder of what is kept, with the cut.
  [[nodiscard]] Status keep_cut();
  /// Kernels of the archive's champions.
  [[nodiscard]] Status recall_tasks();
  /// The time of each task's steps by PyTorch.
  [[nodiscard]] Status look_at_steps();
  /// What each task's search may take.
  [[nodiscard]] std::vector<double> shares() const;
  /// A search for each task that has no kernel yet, as far as the budget goes.
  [[nodiscard]] Status optimise_tasks();
  /// The program with all its kernels, in the program's process; each is timed in its place.
  [[nodiscard]] Status put_in_place();
  /// Leaves out what is no faster than PyTorch in its place.
  [[nodiscard]] Status keep_faster();
  /// Composed as `name`; what does not run is noted.
  [[nodiscard]] Status compose(const std::string& name, const std::map<int, ProgramKernel>& kernels);
  [[nodiscard]] Status use(const std::vector<std::string>& names);
  /// Without kernels: whether the steps give what the module gives.
  [[nodiscard]] Status check_cut();
  /// The composed check; leaves out what is off.
  [[nodiscard]] Status check();
  /// NAME.plan.json: `plan`, and each step with what runs it.
  [[nodiscard]] Status write_plan(base::Json plan) const;
  [[nodiscard]] base::Json tasks_json() const;

  OpenedProgram opened_;
  engine::RunOptions options_;
  std::vector<TaskResult> results_;
  std::vector<WrittenResult> written_;   ///< of plan.written
  std::map<int, ProgramKernel> kernels_;
  std::vector<std::string> notes_;
  std::string constants_, checked_;   ///< bytes; "8 draws, 12 outputs"
  bool record_ = true;                ///< as in ProgramPackage
  std::filesystem::path folder_;
  std::optional<Progress> progress_;  ///< of a search that can be gone on with

 private:
  [[nodiscard]] Status time_steps(const std::vector<std::string>& names, const std::function<void(TaskResult&, const TaskResult& timed)>& take);
  [[nodiscard]] bool is_written_with(size_t written, const std::vector<std::string>& names) const;
  void leave_whole();
  [[nodiscard]] std::vector<double> gains() const;
  [[nodiscard]] Status open_bench();
  [[nodiscard]] Status optimise_task(size_t i);
  [[nodiscard]] Status take(size_t i, const std::string& champion);
  [[nodiscard]] Result<std::string> why_off(bool quick);

  std::string opponents_;
  Care care_;
  bool quiet_;
  std::unique_ptr<archive::Store> store_;
  std::shared_ptr<engine::Workbench> bench_;
};

}  // namespace hone::face
