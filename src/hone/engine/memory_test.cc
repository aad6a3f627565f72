// Memory end to end with a fake evaluator: what a second run and a run on a sibling task save, that worthless lessons save
// nothing and cost little, and that recalling keeps runs replayable, resumable and honest.
#include "hone/engine/memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "hone/engine/testing/fake_run.h"

namespace hone::engine::memory_cases {
namespace {

using nlohmann::json;
using testing::Bench;
using testing::must;

constexpr int kBudget = 40;
constexpr uint64_t kSeeds = 10;
/// Share of all effects that a sibling task has in common.
constexpr double kKinship = 0.9;

RunOptions asked(uint64_t seed, bool memory = true, uint64_t shuffle = 0) {
  RunOptions options;
  options.seed = seed;
  options.budget_seconds = 0;
  options.budget_evaluations = kBudget;
  options.memory = memory;
  options.shuffle_memory = shuffle;
  return options;
}

/// A task and its sources; `sibling`: the same in another shape, whose kernels are other texts and act much alike.
void set_up(Bench& bench, uint64_t truth, bool sibling) {
  bench.truth = {truth, 0.1, 0.1, kKinship};
  bench.sources = 4;
  if (!sibling) return;
  bench.task = must(task::task_from_expressions("y = exp(x)", {"x=f32[512,2000]"}, {}));
  bench.suffix = "_sibling";
  bench.run_id = "bbbbbbbbbbbb";
}

/// Takes over what is in the archive of another.
void inherit(Bench& bench, const Bench& from) { std::filesystem::copy_file(from.archive, bench.archive); }

kernel::Kernel kernel_of(const Bench& bench, const std::string& hash) {
  for (const kernel::Kernel& kernel : bench.all_kernels())
    if (kernel.hash() == hash) return kernel;
  ADD_FAILURE() << "no such kernel";
  return {};
}

/// Evaluations until a kernel is within 95 % of `best_ns`; one more than there were where none is.
int until(const Bench& bench, double best_ns) {
  int n = 0;
  for (const json& event : bench.events("screened")) {
    ++n;
    if (event.at("score") > 0 && 0.95 * bench.truth.time_ns(kernel_of(bench, event.at("kernel"))) <= best_ns) return n;
  }
  return n + 1;
}

double champion_ns(const Bench& bench) { return bench.truth.time_ns(kernel_of(bench, bench.info().champion)); }

/// Of each task the evaluations that a run took, over those of the run that knew nothing.
struct Ratios {
  std::vector<double> second, second_shuffled, sibling, sibling_shuffled;
};

Ratios ratios() {
  Ratios all;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Bench first, alone;
    set_up(first, seed, false);
    must(first.start(asked(seed)));
    set_up(alone, seed, true);
    must(alone.start(asked(seed + 100, false)));
    const auto ratio = [&](bool sibling, uint64_t shuffle) {
      const Bench& cold = sibling ? alone : first;
      Bench bench;
      set_up(bench, seed, sibling);
      bench.run_id = "cccccccccccc";
      inherit(bench, first);
      must(bench.start(asked(seed + 100, true, shuffle)));
      return static_cast<double>(until(bench, champion_ns(cold))) / until(cold, champion_ns(cold));
    };
    all.second.push_back(ratio(false, 0));
    all.second_shuffled.push_back(ratio(false, seed));
    all.sibling.push_back(ratio(true, 0));
    all.sibling_shuffled.push_back(ratio(true, seed));
  }
  return all;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

TEST(LongMemoryTest, saves_evaluations_on_the_same_and_on_a_sibling_task_and_shuffled_lessons_do_not) {
  const Ratios r = ratios();
  fmt::print("evaluations to 95 % of the champion over those of a run that knows nothing, {} tasks, medians: second run {:.2f}, shuffled {:.2f}; "
             "sibling {:.2f}, shuffled {:.2f} (each: {:.2f} | {:.2f})\n",
             kSeeds, median(r.second), median(r.second_shuffled), median(r.sibling), median(r.sibling_shuffled), fmt::join(r.sibling, " "),
             fmt::join(r.sibling_shuffled, " "));
  EXPECT_LE(median(r.second), 0.4);
  EXPECT_LE(median(r.sibling), 0.4);
  EXPECT_GT(median(r.second_shuffled), 0.4);
  EXPECT_GT(median(r.sibling_shuffled), 0.4);
}

TEST(MemoryTest, is_silent_where_nothing_is_known_or_nothing_is_asked) {
  Bench first;
  must(first.start(asked(1)));
  EXPECT_TRUE(first.events("recalled").empty());
  Bench without;
  inherit(without, first);
  without.run_id = "cccccccccccc";
  must(without.start(asked(2, false)));
  EXPECT_TRUE(without.events("recalled").empty());
  archive::Store store = without.open();
  for (const archive::Lesson& lesson : must(store.lessons(must(store.contexts("cpu")).at(0).id())))
    for (const archive::Evidence& evidence : lesson.evidence) EXPECT_EQ(evidence.run, first.run_id) << "a run without memory leaves nothing";
}

TEST(MemoryTest, recalls_the_champion_first_and_judges_it_anew) {
  Bench first;
  set_up(first, 5, false);
  must(first.start(asked(5)));
  const std::string champion = first.info().champion;
  Bench second;
  set_up(second, 5, false);
  inherit(second, first);
  second.run_id = "cccccccccccc";
  int screens = 0;
  second.hooks.before = [&](const char* call, const kernel::Kernel& kernel) { screens += std::string(call) == "screen" && kernel.hash() == champion ? 1 : 0; };
  must(second.start(asked(6)));
  ASSERT_EQ(second.events("recalled").size(), 1u);
  EXPECT_EQ(second.events("screened").at(1).at("kernel"), champion);
  EXPECT_GE(screens, 1);
  EXPECT_LE(second.truth.time_ns(kernel_of(second, second.info().champion)), second.truth.time_ns(kernel_of(second, champion)));

  // What held then does not any more: the run goes on without it.
  Bench third;
  set_up(third, 5, false);
  inherit(third, first);
  third.run_id = "cccccccccccc";
  third.truth.wrong = 0.95;
  const RunResult result = must(third.start(asked(6)));
  EXPECT_NE(result.champion, champion);
  for (const json& event : third.events("screened")) {
    if (event.at("kernel") != champion) continue;
    EXPECT_EQ(event.at("score"), 0);
  }
}

TEST(MemoryTest, keeps_what_it_recalled_so_that_replays_and_resumed_runs_decide_alike) {
  Bench first;
  set_up(first, 3, false);
  must(first.start(asked(3)));
  Bench whole, cut;
  for (Bench* bench : {&whole, &cut}) {
    set_up(*bench, 3, true);
    inherit(*bench, first);
  }
  must(whole.start(asked(4)));
  ASSERT_EQ(whole.events("recalled").size(), 1u);
  {
    archive::Store store = whole.open();
    EXPECT_EQ(must(replay_run(must(store.run(whole.run_id)), whole.task, whole.services(store))).champion, whole.info().champion);
  }
  // Stopped after nine evaluations; meanwhile the archive learns something else.
  bool stop = false;
  cut.progress = [&](const Progress& p) { stop = stop || p.evaluated >= 9; };
  cut.interrupted = [&] { return stop; };
  must(cut.start(asked(4)));
  {
    Bench other;
    set_up(other, 3, false);
    other.archive = cut.archive;
    other.run_id = "dddddddddddd";
    must(other.start(asked(9)));
  }
  cut.progress = nullptr;
  cut.interrupted = nullptr;
  must(cut.resume());
  const auto kernels = [](const Bench& bench) {
    std::vector<std::string> all;
    for (const json& event : bench.events("screened")) all.push_back(event.at("kernel"));
    return all;
  };
  EXPECT_EQ(kernels(cut), kernels(whole));
  EXPECT_EQ(cut.info().champion, whole.info().champion);
}

TEST(MemoryTest, counts_a_trial_once_and_the_carried_promise_too) {
  Bench first;
  set_up(first, 3, false);
  must(first.start(asked(3)));
  Bench sibling;
  set_up(sibling, 3, true);
  inherit(sibling, first);
  must(sibling.start(asked(4)));
  archive::Store store = sibling.open();
  int carried = 0;
  std::set<std::pair<std::string, int64_t>> trials;
  for (const archive::Context& context : must(store.contexts("cpu")))
    for (const archive::Lesson& lesson : must(store.lessons(context.id())))
      for (const archive::Evidence& evidence : lesson.evidence) {
        if (evidence.carried) {
          ++carried;
          EXPECT_EQ(evidence.run, sibling.run_id);
          EXPECT_EQ(context.task_hash, first.task.hash());
          continue;
        }
        EXPECT_TRUE(trials.emplace(evidence.run, evidence.n).second) << evidence.run << " " << evidence.n;
      }
  EXPECT_EQ(carried, static_cast<int>(sibling.events("recalled").at(0).at("first").size()));
  size_t screened = 0;
  for (const Bench* bench : {&first, &sibling}) screened += bench->events("screened").size();
  EXPECT_GE(trials.size(), screened);
}

/// A kernel that somebody gave, not a pattern's.
search::Seed given_kernel(const char* arguments) {
  const std::string source = fmt::format("/* hone\nlanguage = \"c++\"\n[[launch]]\nkernel = \"mine\"\ngrid = [\"1\"]\nargs = [{}]\n*/\nvoid mine() {{}}\n", arguments);
  search::Seed seed{must(kernel::parse_kernel(source, "given")), "start", "the kernel given"};
  seed.kernel.author = "user";
  return seed;
}

TEST(MemoryTest, offers_a_kernel_that_no_pattern_made_where_its_plan_fits) {
  for (const bool fits : {true, false}) {
    Bench first;
    const search::Seed mine = given_kernel(fits ? R"("x", "y")" : R"("x", "other", "y")");
    {
      archive::Store store = first.open();
      RunMemory memory(first.task, {"cpu", "", "fake"}, {mine}, {});
      archive::KernelRow row;
      row.hash = mine.kernel.hash();
      row.language = "c++";
      row.source = mine.kernel.source;
      row.config_json = "{}";
      row.author = "user";
      row.task_hash = first.task.hash();
      must(store.put_kernel(row));
      search::Proposal proposal;
      proposal.kernel = mine.kernel;
      must(memory.keep(store, "aaaaaaaaaaaa", 1, proposal, true, 3, "naive", first.clock.unix_ms()));
      must(memory.close(store, "aaaaaaaaaaaa", {{mine.kernel, 3}}, "naive", first.clock.unix_ms()));
    }
    must(first.start(asked(1)));
    const auto screened = first.events("screened");
    const bool offered = std::any_of(screened.begin(), screened.end(), [&](const json& e) { return e.at("kernel") == mine.kernel.hash(); });
    EXPECT_EQ(offered, fits);
    if (!fits) continue;
    archive::Store store = first.open();
    EXPECT_TRUE(replay_run(must(store.run(first.run_id)), first.task, first.services(store))) << "its text is in the log";
  }
}

}  // namespace
}  // namespace hone::engine::memory_cases
