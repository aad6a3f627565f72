// What level 1's kernels do under compute-sanitizer on a card: memcheck, synccheck and racecheck on small and odd shapes. With
// $HONE_ARCHIVE=FILE the champions of the runs in that archive on this kind of target, else the first kernel that the patterns offer for
// each task. Several at a time, as nothing is timed. Prints a line for each; skips without a card or compute-sanitizer.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hone/archive/store.h"
#include "hone/engine/workbench.h"
#include "hone/evaluate/card_sanitize.h"
#include "hone/evaluate/parallel.h"
#include "hone/target/toolchain/cuda_tools.h"
#include "hone/task/task.h"

namespace hone::engine {
namespace {

namespace fs = std::filesystem;

struct Watched {
  task::Task task;
  kernel::Kernel kernel;
  std::string verdict;
  bool clean = false;
  int shapes = 0;
};

void add_champions(const fs::path& file, std::vector<Watched>& all) {
  auto store = archive::Store::open_read_only(file);
  ASSERT_TRUE(store) << store.error().to_string();
  const auto runs = store->runs(1000);
  ASSERT_TRUE(runs) << runs.error().to_string();
  std::set<std::string> seen;
  for (const archive::RunInfo& run : *runs) {
    if (!run.target.starts_with("cuda:") || run.champion.empty() || !seen.insert(run.champion).second) continue;
    const auto row = store->kernel(run.champion);
    auto task = task::parse_task(run.task_toml, run.task_name);
    ASSERT_TRUE(row && task) << run.task_name;
    auto kernel = kernel::parse_kernel(row->source, run.task_name);
    ASSERT_TRUE(kernel) << kernel.error().to_string();
    kernel->config = nlohmann::json::parse(row->config_json).get<kernel::Config>();
    all.push_back({std::move(*task), std::move(*kernel), {}});
  }
}

void add_first_offers(std::vector<Watched>& all) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(fs::path(HONE_SOURCE_DIR) / "tasks/kernelbench/level1"))
    if (entry.path().extension() == ".toml") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    auto task = task::load_task(file);
    ASSERT_TRUE(task) << task.error().to_string();
    const Alternatives offered{library_seeds(*task, {kernel::Language::kCuda}, {}), {}};
    ASSERT_FALSE(offered.seeds.empty()) << task->name;
    kernel::Kernel first = offered.seeds.front().kernel;
    all.push_back({std::move(*task), std::move(first), {}});
  }
}

void watch(Watched& one, const std::shared_ptr<target::Toolchain>& toolchain, const std::shared_ptr<target::Card>& card) {
  evaluate::Loader loader(one.task, toolchain, card);
  std::vector<task::Bindings> shapes;
  for (task::Bindings& shape : evaluate::hidden_shapes(one.task, 7)) {
    const auto fits = kernel::applies(one.kernel, shape, loader.limits_for(one.kernel));
    if (fits && *fits && shapes.size() < 4) shapes.push_back(std::move(shape));
  }
  evaluate::Spent spent;
  const auto found = evaluate::sanitize_on_card(one.kernel, shapes, loader, spent);
  if (!found) {
    one.verdict = "error: " + found.error().to_string();
    return;
  }
  one.shapes = found->shapes;
  // What racecheck does not follow, the emulator does: said, and no fault.
  one.clean = found->verdict.accepted() && (found->shapes > 0 || found->unavailable.starts_with("racecheck does not follow") || shapes.empty());
  one.verdict = !found->verdict.accepted() ? found->verdict.reason : !found->unavailable.empty() ? found->unavailable : "clean";
}

TEST(CardSanitizeLongTest, KernelsOfLevelOneAreClean) {
  const auto cards = target::cards("cuda");
  if (!cards || cards->empty()) GTEST_SKIP() << (cards ? "there is no card" : cards.error().message);
  if (const auto program = target::find_card_tool("compute-sanitizer", "HONE_COMPUTE_SANITIZER"); !program) GTEST_SKIP() << program.error().message;
  const auto card = target::Card::open("cuda:0");
  ASSERT_TRUE(card) << card.error().to_string();
  auto made = target::cuda_toolchain((*card)->info().arch);
  ASSERT_TRUE(made) << made.error().to_string();
  const std::shared_ptr<target::Toolchain> toolchain = std::move(*made);
  std::vector<Watched> all;
  if (const char* const archive = std::getenv("HONE_ARCHIVE"); archive && *archive) add_champions(archive, all);
  else add_first_offers(all);
  ASSERT_FALSE(HasFatalFailure());
  std::mutex printing;
  evaluate::parallel_for(static_cast<int64_t>(all.size()), 6, [&](int64_t i) {
    Watched& one = all[static_cast<size_t>(i)];
    watch(one, toolchain, *card);
    const std::scoped_lock lock(printing);
    fmt::print("{} {:<40} {} shapes: {}\n", one.clean ? " " : "X", one.task.name, one.shapes, one.verdict);
    std::fflush(stdout);
  });
  int clean = 0, unfollowed = 0, without = 0;
  for (const Watched& one : all) {
    clean += one.clean;
    unfollowed += one.verdict.starts_with("racecheck does not follow");
    without += one.verdict.starts_with("its requirements");
    EXPECT_TRUE(one.clean) << one.task.name << ": " << one.verdict;
  }
  fmt::print("{} of {} clean; of these racecheck does not follow {}, {} take no small shape\n", clean, all.size(), unfollowed, without);
}

}  // namespace
}  // namespace hone::engine
