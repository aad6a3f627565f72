// A run from start to finish: asks the strategy what to try, has it evaluated, logs every outcome as an
// event before acting on it, promotes the best, and ends with a champion or without. Resuming replays
// the log through the same decisions and goes on where it stopped; a run killed at any instant loses
// what was in flight and nothing else. One thread drives a run.
#pragma once
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "hone/archive/store.h"
#include "hone/base/clock.h"
#include "hone/base/result.h"
#include "hone/engine/cards.h"
#include "hone/engine/desk.h"
#include "hone/engine/examine.h"
#include "hone/engine/microbenchmark.h"
#include "hone/evaluate/evaluator.h"
#include "hone/search/strategy.h"
#include "hone/task/task.h"

namespace hone::engine {

struct RunOptions {
  std::string target = "cpu";       ///< "cpu", "cuda:0", …
  search::StrategyKind strategy = search::StrategyKind::kBeam;
  uint64_t seed = 1;                ///< of the search; inputs are secret whatever it is
  double budget_seconds = 60;       ///< 0: none
  int budget_evaluations = 0;       ///< 0: none
  /// Of a promotion's rounds, beside the budget, which then is the search's alone. 0: they take their share of the budget.
  double sampling_seconds = 0;
  int threads = 0;                  ///< 0: all
  int batch = 0;                    ///< proposals at a time, built side by side; 0: as the services have it
  /// So many proposals are always under way: the strategy is asked for another whenever one was screened, and builds go on
  /// beside that; what is built first is screened first. Else a batch is built, then screened. Set by start_run().
  bool ahead = false;
  std::string opponents = "all";    ///< as the user named them
  std::string start_source;         ///< of a kernel to begin from; empty: none
  std::string languages;            ///< a list that kernels may be written in, "cuda,triton"; empty: all that the target takes
  std::string recall;               ///< hash of a kernel in the archive: the only one to look at; empty: none
  bool memory = true;               ///< use what earlier runs learnt, and leave lessons behind
  uint64_t shuffle_memory = 0;      ///< not 0: seeds a permutation that makes the lessons worthless (ablations)
  bool diagnose = true;             ///< kernels are diagnosed before they are extended, where the services can
  std::string models_json;          ///< agent::ModelsConfig: who proposes beside the built-in search; empty: nobody
  [[nodiscard]] std::string to_json() const;
  [[nodiscard]] static Result<RunOptions> from_json(std::string_view json);
};

/// What people watch while it runs.
struct Progress {
  enum class Step : uint8_t { kPreparing, kScreened, kChampion, kPromoting, kDone } step = Step::kPreparing;
  int considered = 0, evaluated = 0, accepted = 0;
  double best_score = 0;            ///< speedup over the first accepted kernel
  double sol_fraction = 0;          ///< of the best, an estimate until promotion
  double elapsed_seconds = 0, budget_seconds = 0;
  int budget_evaluations = 0;
  std::string kernel, action;       ///< of the last screened
  std::string verdict;
};

/// Everything a run needs from outside, so that tests can fake it.
struct Services {
  base::Clock* clock = nullptr;
  archive::Store* store = nullptr;
  /// Made when first needed; expensive.
  std::function<Result<std::unique_ptr<evaluate::Evaluator>>()> evaluator;
  std::vector<CardService> beside;          ///< further cards of the host, like the target: kernels are looked at on whichever is free
  /// How a diagnosis is made of an accepted kernel; null: not at all.
  std::function<Result<Examined>(evaluate::Evaluator&, const kernel::Kernel&, bool thorough)> examine;
  std::function<Result<SnippetTimes>(const Snippet&)> microbenchmark;               ///< models may have snippets timed; null: not
  std::function<nlohmann::json()> peaks;    ///< measured ones, for models; null: nobody knows
  std::vector<search::Seed> seeds;          ///< patterns' offers and the start kernel, most promising first
  /// A kernel that takes every task, looked at where nothing else was accepted: plain loops. Nothing: there is none.
  std::optional<search::Seed> last_resort;
  /// Who decides what is looked at, instead of the run's own strategy over `seeds`; for replays.
  std::function<std::unique_ptr<search::Strategy>()> strategy;
  std::vector<evaluate::Opponent> opponents;
  kernel::Limits limits;
  std::vector<kernel::Language> languages = {kernel::Language::kCpp};  ///< that kernels may be written in, the target's first
  int batch = 2;                            ///< of a new run that asks for none
  bool timed = true;                        ///< the target has a clock: scores tell kernels apart
  bool builds_aside = false;                ///< building disturbs no measurement: there is a card that is measured
  /// Builds a kernel before there is an evaluator, which will find the build in the cache. From several threads. Null: not.
  std::function<void(const kernel::Kernel&)> prebuild;
  ModelServices models;                     ///< as RunOptions::models_json says
  /// What models are told of the place, in lines; asked once by a run with models. Null: nothing.
  std::function<std::string()> place_facts;
  std::string timing = "timing_cpu";        ///< Workbench::timing()
  std::string target = "cpu", device, toolchain, machine_json = "{}";  ///< device: engine::Place
  std::string run_id;                       ///< of a new run, twelve hexadecimal digits; empty: drawn
  std::filesystem::path champions;          ///< folder that the champion's file is written to; empty: none
  std::function<void(const Progress&)> progress;
  /// The user asked for an end: the search stops, the best so far is promoted.
  std::function<bool()> interrupted;
};

struct RunResult {
  std::string run;
  std::string champion;                     ///< hash or empty
  std::optional<evaluate::Promotion> promotion;
  std::string reason;                       ///< why it ended
  std::string summary_json;                 ///< one line, as `--json` prints it
};

/// Starts a new run: creates it in the archive and drives it.
[[nodiscard]] Result<RunResult> start_run(const task::Task& task, const RunOptions& options, const Services& services);

/// Goes on with a run that was interrupted or killed. kInput when it is finished, kUnavailable when
/// another process works on it, kCorrupt when its log does not follow from its options.
[[nodiscard]] Result<RunResult> resume_run(const archive::RunInfo& run, const task::Task& task,
                                           const Services& services);

/// Goes through a finished run's log once more, in memory: the same options, the recorded verdicts and the
/// models' recorded answers, and nobody evaluates or calls anything. Its result, where every decision and
/// every question to a model comes out as it was; else kCorrupt. `services` as for the run; evaluator and
/// models in it are not used.
[[nodiscard]] Result<RunResult> replay_run(const archive::RunInfo& run, const task::Task& task, const Services& services);

}  // namespace hone::engine
