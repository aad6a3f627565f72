// Works through a bench: one run of the engine a task, in order, each outcome kept before the next begins. A task that
// fails is a row with its reason. What it needs from outside is in Services, so that tests can fake it. One thread.
#pragma once
#include <functional>

#include "hone/face/bench/state.h"

namespace hone::face::bench {

struct Progress {
  enum class Step : uint8_t { kBegins, kRuns, kDone } step = Step::kBegins;
  size_t index = 0;                        ///< of the task
  const State* state = nullptr;
  const engine::Progress* run = nullptr;   ///< kRuns
  bool recalls = false;                    ///< an earlier champion is verified and measured, nothing is searched for
};

struct Services {
  base::Clock* clock = nullptr;
  archive::Store* store = nullptr;
  /// For a run of `task`; progress and run_id are ours to fill in.
  std::function<Result<engine::Services>(const task::Task& task, const engine::RunOptions& options)> run;
  std::function<std::string()> new_run_id;
  std::function<void(const Progress&)> progress;   ///< may be empty
  /// Called whenever an entry of the state has changed; what it keeps is what a killed bench goes on from. It may renew the others.
  std::function<Status(State&, size_t index)> save;
};

/// The task of an entry with the workloads and on the track asked for.
[[nodiscard]] Result<task::Task> task_of(const Entry& entry, const Asked& asked);

/// Brings task `index` to its row: begins its run, or goes on with it. An Error ends the bench for now and leaves the
/// task to be gone on with: kInterrupted, kUnavailable where another process works on the run, or what `save` says.
[[nodiscard]] Status play(State& state, size_t index, const Services& services);

/// Seconds that the tasks still take, by what those done took, and by the budget where none is done.
[[nodiscard]] double seconds_left(const State& state);

}  // namespace hone::face::bench
