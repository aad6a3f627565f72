// What commands share: the archive, the task they were given, the services a run needs, Ctrl-C.
#pragma once
#include <memory>
#include <string>

#include "hone/archive/store.h"
#include "hone/engine/run.h"
#include "hone/face/cli/commands.h"
#include "hone/target/toolchain/toolchain.h"
#include "hone/task/task.h"

namespace hone::face {

[[nodiscard]] Result<task::Task> task_of(const TaskArguments& arguments);

/// The folder of the default archive; champions and reports lie there too.
[[nodiscard]] std::filesystem::path home();
[[nodiscard]] Result<archive::Store> open_archive();

/// A kernel from a file, or from the archive by (a prefix of) its hash.
[[nodiscard]] Result<kernel::Kernel> kernel_of(const std::string& file_or_hash, archive::Store* store);

/// Opponents for a task on the CPU: "all", "none" or a list such as "naive,pytorch". Those that cannot
/// take part are absent with a reason; that is found out when they are started.
[[nodiscard]] Result<std::vector<evaluate::Opponent>> opponents_for(const task::Task& task, const std::string& names);

/// Services of a run on the CPU; `task`, `store` and `toolchain` must outlive them.
[[nodiscard]] Result<engine::Services> cpu_services(const task::Task& task, archive::Store& store,
                                                    std::shared_ptr<target::Toolchain> toolchain,
                                                    const engine::RunOptions& options,
                                                    const std::string& opponents);
[[nodiscard]] std::string machine_json();

/// First Ctrl-C: interrupted() is true from then on. Second: hurried() too. Third: the process ends.
void watch_interrupts();
[[nodiscard]] bool interrupted();
[[nodiscard]] bool hurried();

}  // namespace hone::face
