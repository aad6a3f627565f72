// The one way from a target's name to everything that is done there: an evaluator for a task, the library's kernels, the
// opponents, diagnoses, peaks. Every command, hone mcp, models and runs open a place so, and none asks what kind it is.
// Thread-safe but for what it hands out.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "hone/engine/examine.h"
#include "hone/evaluate/evaluator.h"
#include "hone/search/strategy.h"
#include "hone/target/target.h"

namespace hone::engine {

using target::Place;

struct WorkbenchOptions {
  int threads = 0;                            ///< of a CPU; 0: all
  /// Languages that kernels may be written in; empty: all that the target takes. kUsage where it takes none of them.
  std::vector<kernel::Language> languages;
};

struct RunOptions;
/// As a run asks for them; kUsage for a language that there is none of.
[[nodiscard]] Result<WorkbenchOptions> workbench_options(const RunOptions& options);

/// The library's kernels for a task in these languages, most promising first in each, each with the configuration nearest to its
/// first one that its constraints allow under a target's `limits`.
[[nodiscard]] std::vector<search::Seed> library_seeds(const task::Task& task, const std::vector<kernel::Language>& languages, const kernel::Limits& limits);
/// What the command line calls "naive" (plain loops in the first of `languages`) and "pattern:N" (the N-th of the library's kernels for
/// the task, from 0); nothing for another name. kUsage where there are not so many.
[[nodiscard]] Result<std::optional<kernel::Kernel>> library_kernel(const std::string& name, const task::Task& task, const std::vector<kernel::Language>& languages,
                                                                   const kernel::Limits& limits);

/// "cuda:0,cuda:1" -> both; at least one.
[[nodiscard]] std::vector<std::string> targets_of(const std::string& list);
/// kUsage for a list of anything but one target or different cards of one driver. Opens nothing.
[[nodiscard]] Status check_targets(const std::vector<std::string>& targets);
/// kInput where a card is unlike the first of a list.
[[nodiscard]] Status check_alike(const Place& first, const Place& other);

/// kUsage for a name that is no opponent's on that target. Opens nothing.
[[nodiscard]] Status check_opponents(const std::string& target, const std::string& names);

class Workbench {
 public:
  /// kUsage for what is no target's name; kUnavailable with what is missing here.
  [[nodiscard]] static Result<std::shared_ptr<Workbench>> open(const std::string& target, const WorkbenchOptions& options = {});
  virtual ~Workbench() = default;

  [[nodiscard]] const target::Target& target() const { return *target_; }
  [[nodiscard]] const Place& place() const { return target_->place(); }
  [[nodiscard]] const kernel::Limits& limits() const { return target_->limits(); }
  [[nodiscard]] const std::shared_ptr<target::Toolchain>& toolchain() const { return target_->toolchain(); }
  /// Those that are proposed here, the target's first.
  [[nodiscard]] const std::vector<kernel::Language>& languages() const { return languages_; }
  /// kUsage, with where it could run, for a kernel in another language.
  [[nodiscard]] Status takes(const kernel::Kernel& kernel) const;

  [[nodiscard]] virtual Result<std::unique_ptr<evaluate::Evaluator>> evaluator(const task::Task& task, const evaluate::EvaluatorOptions& options) const = 0;
  /// "all", "none" or a list such as "naive,pytorch,compile". Whether one can take part shows when it is started; kUsage for an
  /// unknown name.
  [[nodiscard]] virtual Result<std::vector<evaluate::Opponent>> opponents(const task::Task& task, const std::string& names) const = 0;
  /// Times a kernel's conditions, reads its code and plan, concludes. kUnavailable where there is no clock. `caches`: of a CPU.
  [[nodiscard]] virtual Result<Examined> examine(evaluate::Evaluator& evaluator, const kernel::Kernel& kernel, const task::Task& task,
                                                 const Alternatives& alternatives, bool thorough, diagnose::CacheModel* caches = nullptr) const = 0;
  /// Measured peaks; null where nobody knows.
  [[nodiscard]] virtual nlohmann::json peaks() const = 0;
  /// What a writer of kernels should know of the place beside its name, in lines.
  [[nodiscard]] virtual std::string facts() const = 0;
  /// The prompt that says how it times: "timing_cpu".
  [[nodiscard]] virtual std::string timing() const = 0;
  /// Of a run: proposals at a time, and whether builds disturb no measurement.
  [[nodiscard]] virtual int batch() const { return 2; }
  [[nodiscard]] virtual bool builds_aside() const { return false; }

  /// The library's kernels for a task in languages(), most promising first, and compilers to choose from.
  [[nodiscard]] Alternatives library(const task::Task& task) const;
  /// Plain loops, which take every task, in the first language that the library writes; nothing: it writes none of them.
  [[nodiscard]] std::optional<search::Seed> plain(const task::Task& task) const;
  /// library_kernel() in languages().
  [[nodiscard]] Result<std::optional<kernel::Kernel>> named(const std::string& name, const task::Task& task) const { return library_kernel(name, task, languages_, limits()); }

 protected:
  Workbench(std::shared_ptr<target::Target> target, std::vector<kernel::Language> languages)
      : target_(std::move(target)), languages_(std::move(languages)) {}

 private:
  std::shared_ptr<target::Target> target_;
  std::vector<kernel::Language> languages_;
};

/// The place that a run asks for; of several the first.
[[nodiscard]] Result<std::shared_ptr<Workbench>> workbench_of(const RunOptions& options);
/// The others of the list, all like the first; none as a rule.
[[nodiscard]] Result<std::vector<std::shared_ptr<Workbench>>> workbenches_beside(const Workbench& first, const RunOptions& options);

}  // namespace hone::engine
