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
#include "hone/engine/workbench.h"
#include "hone/target/toolchain/toolchain.h"

namespace hone::engine {

/// Services of a run on `bench`, callbacks left empty. `task` and `store` must outlive them. `home`: the folder for champions.
/// `hurried`: polled inside a promotion; true gives it up.
[[nodiscard]] Result<Services> local_services(const task::Task& task, archive::Store& store, const std::shared_ptr<Workbench>& bench,
                                              const RunOptions& options, const std::filesystem::path& home, std::function<bool()> hurried);

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
