// A program that was captured and cut, with what each of its tasks costs at least and whether hone has a kernel for it:
// what hone explain shows, and what a budget is shared out by.
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "hone/base/json.h"
#include "hone/base/result.h"
#include "hone/engine/workbench.h"
#include "hone/evaluate/program/program_session.h"
#include "hone/program/tasks.h"

namespace hone::face {

/// Of one task.
struct TaskPrice {
  double least_ns = 0;       ///< by this machine's peaks, of one of its steps: what they have in common is read once
  std::string pattern;       ///< of the first offer; empty: no pattern covers it
  std::string why_not;       ///< then
};

struct OpenedProgram {
  std::unique_ptr<evaluate::ProgramSession> session;
  program::Program program;
  program::Plan plan;
  std::vector<TaskPrice> prices;   ///< of plan.tasks
  std::shared_ptr<engine::Workbench> bench;   ///< of a card; null: not opened yet

  [[nodiscard]] double multiplicity(size_t task) const { return static_cast<double>(plan.tasks[task].steps.size()); }
  [[nodiscard]] double least_ns() const;        ///< of all tasks, as often as they run
  [[nodiscard]] double covered_share() const;   ///< of that, by tasks that patterns cover
  [[nodiscard]] int steps(program::Region::Kind kind) const;
};

/// kUsage for a target that programs do not run on.
[[nodiscard]] Status check_program_target(const std::string& target);
/// Of a session's capture. Operators that the language lacks are taken apart by PyTorch's own decompositions where tasks can say the pieces.
[[nodiscard]] Result<program::Program> understood(evaluate::ProgramSession& session);
/// Priced for the CPU or a card, which is opened for that.
[[nodiscard]] Result<OpenedProgram> open_program(std::unique_ptr<evaluate::ProgramSession> session, const engine::RunOptions& options);

/// Tables for people.
[[nodiscard]] std::string cut_text(const OpenedProgram& opened);
[[nodiscard]] base::Json cut_json(const OpenedProgram& opened);

/// Task files, known values as TASK.INPUT.npy beside them, and NAME.program.toml with the steps: what goes into each and comes out of it.
[[nodiscard]] Status write_cut(const OpenedProgram& opened, const std::filesystem::path& folder);

}  // namespace hone::face
