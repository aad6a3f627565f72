// What commands share: the archive, the task they were given, the services a run needs, Ctrl-C.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "hone/archive/store.h"
#include "hone/engine/champion.h"
#include "hone/engine/local.h"
#include "hone/engine/workbench.h"
#include "hone/face/cli/commands.h"
#include "hone/target/toolchain/toolchain.h"
#include "hone/task/task.h"

namespace hone::face {

[[nodiscard]] Result<task::Task> task_of(const TaskArguments& arguments);
/// The same for commands that run it: every workload has to fit this machine's memory.
[[nodiscard]] Result<task::Task> runnable_task_of(const TaskArguments& arguments);

/// kInput where a workload does not fit this machine's memory.
[[nodiscard]] Status check_fits(const task::Task& task, const std::string& where);

/// A text file that the user named: no folder, not absurdly large. `what` is for messages: "task file".
[[nodiscard]] Result<std::string> read_text(const std::string& file, std::string_view what);

/// kUsage unless `threads` is 0 (all) or a number of threads this machine has.
[[nodiscard]] Status check_threads(int threads);

/// The folder of the default archive; champions and reports lie there too.
[[nodiscard]] std::filesystem::path home();
/// To write to; created where there is none.
[[nodiscard]] Result<archive::Store> open_archive();
/// To look at, which a read-only archive allows; kNotFound where there is none.
[[nodiscard]] Result<archive::Store> read_archive();

/// The place that a kernel is judged at: `target`, or where it is empty the one of the kernel's language. kUsage and kInput where
/// that does not take it.
[[nodiscard]] Result<std::shared_ptr<engine::Workbench>> workbench_for(const std::string& target, const kernel::Kernel& kernel, int threads);

/// A kernel from a file, or from the archive by (a prefix of) its hash. `task`: what it is for, where that is known; an ordinary Triton kernel may
/// need it (target/toolchain/triton_start.h).
[[nodiscard]] Result<kernel::Kernel> kernel_of(const std::string& file_or_hash, archive::Store* store, const task::Task* task = nullptr);
/// The same with the archive as read_archive() has it, or without where there is none; it is opened for what is no file.
[[nodiscard]] Result<kernel::Kernel> known_kernel(const std::string& file_or_hash, const task::Task* task = nullptr);

/// The newest run whose champion a kernel is.
[[nodiscard]] Result<std::optional<archive::RunInfo>> run_of_champion(archive::Store& store, const std::string& hash);

/// Says on standard error where the kernel's file claims more, or other, than holds here; nothing where it
/// was verified as it is used now, or nowhere.
void say_where_verified(const kernel::Kernel& kernel, const std::string& name, const task::Task& task, const engine::Place& here);

/// First Ctrl-C: interrupted() is true from then on. Second, or SIGTERM: hurried() too. Third: the process ends.
void watch_interrupts();
[[nodiscard]] bool interrupted();
[[nodiscard]] bool hurried();
[[nodiscard]] int interrupts_so_far();
/// Of what a command looks at: given up at the first Ctrl-C, facts kept between calls.
[[nodiscard]] evaluate::EvaluatorOptions looking();

}  // namespace hone::face
