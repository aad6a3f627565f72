#include "hone/face/bench/bench.h"

#include <algorithm>
#include <climits>
#include <exception>

#include "hone/engine/recall.h"

namespace hone::face::bench {
namespace {

class Play {
 public:
  Play(State& state, size_t index, const Services& services)
      : state_(state), index_(index), entry_(state.entries.at(index)), services_(services), begin_ns_(services.clock->now_ns()) {}

  Status to_its_row() {
    auto row = guarded();
    if (!row) {
      if (leaves_it(row.error())) return tl::unexpected(row.error());
      const double here = static_cast<double>(services_.clock->now_ns() - begin_ns_) * 1e-9;
      row = failed_row(name_, row.error(), entry_.spent + here);
    }
    entry_.row = std::move(*row);
    HONE_TRY_VOID(save());
    show(Progress::Step::kDone, nullptr);
    return {};
  }

 private:
  Result<Row> guarded() {
    try {
      return outcome();
    } catch (const std::exception& e) {
      // Out of memory, most likely: this task's trouble, not the next one's.
      return fail(ErrorCode::kInternal, e.what());
    }
  }

  Result<Row> outcome() {
    name_ = entry_.name;
    if (!entry_.unreadable.empty()) return fail(ErrorCode::kInput, entry_.unreadable);
    HONE_TRY(const task::Task task, task_of(entry_, state_.asked));
    name_ = task.name;
    auto row = run_of(task);
    if (row ? row->recalled && !row->accepted() : recalling_ && !leaves_it(row.error())) {
      // What held in its day does not any more: there is still the search.
      entry_.spent += row ? row->seconds : 0;
      entry_.search = true;
      entry_.run.clear();
      HONE_TRY_VOID(save());
      row = run_of(task);
    }
    if (row) row->seconds += entry_.spent;
    return row;
  }

  Result<Row> run_of(const task::Task& task) {
    if (!entry_.run.empty()) {
      const auto known = services_.store->run(entry_.run);
      if (known) return known->status == "finished" ? row_of_run(*services_.store, known->id, task) : go_on(*known, task);
      if (known.error().code != ErrorCode::kNotFound) return tl::unexpected(known.error());
    }
    return begin(task);
  }

  Result<Row> begin(const task::Task& task) {
    engine::RunOptions options = state_.asked.options;
    options.start_source = entry_.start_source;
    options.memory = !state_.asked.cold;
    if (const auto champion = known_champion(task)) options = engine::recalling(options, *champion);
    HONE_TRY(engine::Services run, services_for(task, options));
    // Kept first: whatever happens from here on, the run can be found again.
    entry_.run = services_.new_run_id();
    run.run_id = entry_.run;
    HONE_TRY_VOID(save());
    HONE_TRY(const engine::RunResult result, engine::start_run(task, options, run));
    return ended(result, task);
  }

  Result<Row> go_on(const archive::RunInfo& info, const task::Task& task) {
    HONE_TRY(const engine::RunOptions options, engine::RunOptions::from_json(info.options_json));
    HONE_TRY(const engine::Services run, services_for(task, options));
    const auto result = engine::resume_run(info, task, run);
    if (result) return ended(*result, task);
    if (result.error().code == ErrorCode::kCorrupt) {
      entry_.run.clear();
      return begin(task);
    }
    ends_the_bench_ = result.error().code == ErrorCode::kUnavailable && held(info.id);
    return tl::unexpected(result.error());
  }

  /// A run whose search was cut short has a champion, but is no result of the bench.
  Result<Row> ended(const engine::RunResult& result, const task::Task& task) {
    if (result.reason == "interrupted") return fail(ErrorCode::kInterrupted, "interrupted");
    return row_of_run(*services_.store, result.run, task);
  }

  /// Whether the task is to be gone on with later.
  [[nodiscard]] bool leaves_it(const Error& error) const { return ends_the_bench_ || error.code == ErrorCode::kInterrupted; }

  bool held(const std::string& run) { return !services_.store->lock_run(run); }

  /// Where the archive cannot tell, there is still the search.
  std::optional<std::string> known_champion(const task::Task& task) {
    // A champion may be in another language than those asked for.
    if (state_.asked.cold || entry_.search || !state_.asked.options.languages.empty()) return std::nullopt;
    const auto runs = services_.store->runs(INT_MAX);
    if (!runs) return std::nullopt;
    return engine::known_champion(*services_.store, *runs, task, state_.conditions.place).value_or(std::nullopt);
  }

  Result<engine::Services> services_for(const task::Task& task, const engine::RunOptions& options) {
    recalling_ = !options.recall.empty();
    show(Progress::Step::kBegins, nullptr);
    HONE_TRY(engine::Services run, services_.run(task, options));
    run.progress = [this](const engine::Progress& p) { show(Progress::Step::kRuns, &p); };
    return run;
  }

  Status save() {
    state_.updated_unix_ms = services_.clock->unix_ms();
    auto saved = services_.save(state_, index_);
    ends_the_bench_ |= !saved;
    return saved;
  }

  void show(Progress::Step step, const engine::Progress* run) const {
    if (services_.progress) services_.progress({step, index_, &state_, run, recalling_});
  }

  State& state_;
  size_t index_;
  Entry& entry_;
  const Services& services_;
  int64_t begin_ns_;
  std::string name_;
  bool recalling_ = false;
  bool ends_the_bench_ = false;
};

}  // namespace

Result<task::Task> task_of(const Entry& entry, const Asked& asked) {
  HONE_TRY(task::Task task, task::parse_task(entry.toml, std::filesystem::path(entry.file).filename().string()));
  HONE_TRY(task, task::select_workloads(std::move(task), asked.workloads));
  return task::select_track(std::move(task), asked.track);
}

Status play(State& state, size_t index, const Services& services) { return Play(state, index, services).to_its_row(); }

double seconds_left(const State& state) {
  double seconds = 0;
  size_t done = 0;
  for (const Entry& entry : state.entries)
    if (entry.row && entry.row->verdict != "error") seconds += entry.row->seconds, ++done;
  // Each evaluation is a second or so, where the budget is no time.
  double each = state.asked.options.budget_seconds > 0 ? state.asked.options.budget_seconds + state.asked.options.sampling_seconds : state.asked.options.budget_evaluations;
  if (done > 0) each = seconds / static_cast<double>(done);
  return each * static_cast<double>(state.left());
}

}  // namespace hone::face::bench
