// Runs on the machine we are on: what the command line does and what a program that embeds hone calls.
//
//   auto task = hone::task::load_task("softmax.toml");
//   auto result = hone::engine::optimize(*task, {});
//   if (result && !result->champion.empty()) use(result->champion_path);
#pragma once
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hone/engine/run.h"
#include "hone/target/toolchain/toolchain.h"

namespace hone::engine {

/// Opponents for a task on the CPU: "all", "none" or a list such as "naive,pytorch,compile". Whether one
/// can take part shows when it is started; kUsage for an unknown name.
[[nodiscard]] Result<std::vector<evaluate::Opponent>> cpu_opponents(const task::Task& task, const std::string& names,
                                                                    int threads);

/// The same on a card: "naive" is the plain kernel there.
[[nodiscard]] Result<std::vector<evaluate::Opponent>> card_opponents(const task::Task& task, const std::string& names,
                                                                     const target::CardInfo& card);

/// Services of a run on its target, callbacks left empty. `task` and `store` must outlive them. `home`:
/// the folder for champions. kUnavailable when no pattern covers the task and no start kernel is given.
/// `hurried`: polled inside a promotion; true gives it up.
[[nodiscard]] Result<Services> local_services(const task::Task& task, archive::Store& store,
                                            std::shared_ptr<target::Toolchain> toolchain, const RunOptions& options,
                                            const std::filesystem::path& home,
                                            std::function<bool()> hurried);

/// The CPU as JSON: model, isa, threads, cache and memory sizes.
[[nodiscard]] std::string machine_json();

struct LocalOptions {
  RunOptions run;
  std::filesystem::path archive;            ///< empty: the default one
  std::function<void(const Progress&)> progress;
  std::function<bool()> interrupted;
};

/// A whole run, synchronously.
[[nodiscard]] Result<RunResult> optimize(const task::Task& task, const LocalOptions& options);

}  // namespace hone::engine
