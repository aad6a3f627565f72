// A bench over tasks whose kernels, evaluator and clock are those of engine/testing/fake_run.h. For tests.
#pragma once
#include "hone/engine/recall.h"
#include "hone/engine/testing/fake_run.h"
#include "hone/face/bench/keep.h"
#include "hone/face/bench/work.h"

namespace hone::face::bench::testing {

using engine::testing::must;

/// A row of a champion that is `ratio` as fast as each opponent.
inline Row accepted_row(const std::string& task, const std::vector<std::pair<std::string, double>>& ratios,
                        evaluate::Comparison comparison = evaluate::Comparison::kFaster) {
  Row row;
  row.task = task;
  row.verdict = "accepted";
  row.compiled = true;
  row.comparison = comparison;
  row.sol_fraction = 0.5;
  row.seconds = 10;
  for (const auto& [name, ratio] : ratios) row.speedups.push_back({name, {ratio, 0.9 * ratio, 1.1 * ratio}, comparison});
  if (!ratios.empty()) row.opponent = ratios.front().first;
  row.run = "0123456789ab";
  row.champion = std::string(64, 'c');
  row.pattern = "rows";
  return row;
}

inline Row refused_row(const std::string& task, const std::string& verdict, const std::string& reason, bool compiled) {
  Row row;
  row.task = task;
  row.verdict = verdict;
  row.reason = reason;
  row.compiled = compiled;
  row.seconds = 5;
  return row;
}

/// A folder of task files, and everything around the bench over them.
struct FakeBench {
  engine::testing::Bench engine;                ///< its clock, archive, truth and hooks serve every task
  std::filesystem::path home = engine.scratch.path() / "home";
  std::filesystem::path suite = engine.scratch.path() / "suite";
  std::vector<Progress::Step> steps;
  int begun = 0;                                ///< run ids given out
  int saves = 0;
  std::function<void()> on_save;                ///< before each
  State state;

  FakeBench() {
    std::filesystem::create_directories(suite);
    engine.sources = 1;
  }

  void add(const std::string& file, const std::string& text) const { must(base::write_file_atomic(suite / file, text)); }
  void add_task(const std::string& name, const std::string& compute) const {
    add(name + ".toml", fmt::format("name = \"{}\"\ninputs = {{ x = \"f32[N]\" }}\ncompute = \"{}\"\n"
                                    "workloads = [ {{ name = \"a\", N = 64 }}, {{ name = \"b\", N = 65 }} ]\n", name, compute));
  }
  void three_tasks() const {
    add_task("1_exp", "y = exp(x)");
    add_task("2_log", "y = x * x");
    add_task("3_neg", "y = -x");
  }

  /// A new bench over what the suite holds now.
  void begin(bool cold = false) {
    state = {};
    state.id = "b00000000001";
    state.asked.suite = {suite.string()};
    state.asked.options.budget_seconds = 0;
    state.asked.options.budget_evaluations = 3;
    state.asked.cold = cold;
    state.conditions.place = {"cpu", "a fake machine", "fake"};
    state.conditions.machine_json = "{}";
    state.entries = must(read_entries(state.asked));
  }

  /// `store` must outlive it.
  Services services(archive::Store& store) {
    Services all;
    all.clock = &engine.clock;
    all.store = &store;
    all.run = [this, &store](const task::Task&, const engine::RunOptions& options) -> Result<engine::Services> {
      engine::Services run = engine.services(store);
      run.device = state.conditions.place.device;
      if (!options.recall.empty()) {
        const auto row = store.kernel(options.recall);
        if (!row) return tl::unexpected(row.error());
        HONE_TRY(kernel::Kernel known, engine::kernel_from(*row));
        run.seeds = {{std::move(known), "fake", "recalled"}};
      }
      return run;
    };
    all.new_run_id = [this] { return fmt::format("{:012x}", next_run_id + static_cast<uint64_t>(begun++)); };
    all.progress = [this](const Progress& p) {
      if (p.step != Progress::Step::kRuns) steps.push_back(p.step);
    };
    all.save = [this](State& s, size_t) {
      if (on_save) on_save();
      ++saves;
      return keep(home, s);
    };
    return all;
  }
  uint64_t next_run_id = 0xa0000000;

  /// All that is left, here and now; the first error ends it.
  Status play_all() {
    archive::Store store = engine.open();
    const Services all = services(store);
    for (size_t i = 0; i < state.entries.size(); ++i)
      if (!state.entries[i].row) HONE_TRY_VOID(play(state, i, all));
    return {};
  }
};

}  // namespace hone::face::bench::testing
