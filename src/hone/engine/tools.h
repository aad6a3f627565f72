// Tools on kernels, memory and the machine, for models within a run and for hone mcp alike: what a tool does and says is
// written here once; the two tables differ in how a kernel is named and in who measures. Everything is bounded, and what was
// left out is said. One thread.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "hone/agent/tool.h"
#include "hone/archive/store.h"
#include "hone/engine/champion.h"
#include "hone/engine/examine.h"
#include "hone/engine/microbenchmark.h"
#include "hone/evaluate/evaluator.h"
#include "hone/task/task.h"

namespace hone::engine {

/// What can be asked about a kernel besides its verdict.
enum class Look : uint8_t { kProfile, kDisassembly, kDiagnosis };
struct LookTool {
  Look look;
  const char *name, *title, *description;
};
/// profile_kernel, read_disassembly, diagnose.
[[nodiscard]] const std::vector<LookTool>& look_tools();

/// Looks at an accepted kernel of `evaluator`'s task with `examine`, and adds to `out`:
///   kProfile      "metrics": [{workload, metrics}], those with most to win first, kMostProfiles at the most, "left_out"
///   kDiagnosis    "diagnosis" and "diagnosed_workload"
///   kDisassembly  of the innermost loop of rank `loop`: "function", "code" (text), "instructions", "left_out", "mix", "ports" (or why none); "loops": the
///                 heaviest kMostLoops of all, each {loop (its rank), function, instructions, share, vector, scalar_float, fma, call}; "innermost_loops"
/// kUnavailable where nobody can tell.
inline constexpr size_t kMostProfiles = 4, kMostInstructions = 120, kMostLoops = 12;
using Examine = std::function<Result<Examined>(evaluate::Evaluator&, const kernel::Kernel&, bool thorough)>;
[[nodiscard]] Status add_look(Look look, evaluate::Evaluator& evaluator, const kernel::Kernel& kernel, const Examine& examine, bool thorough,
                              nlohmann::json& out, size_t loop = 0);
/// Of kDisassembly's `loop`, as tools take it.
[[nodiscard]] nlohmann::json loop_type();

/// What memory holds.
struct MemoryQuery {
  std::string words;                       ///< all of them must occur; empty: every run
  const task::Task* near = nullptr;        ///< also lessons and kernels of this task and of similar ones; null: no
  Place place;                             ///< with `near`
  std::vector<search::Seed> seeds;         ///< of the library for `near`
  kernel::Limits limits;
  std::string run;                         ///< whose own evidence is left out; may be empty
  int64_t now_unix_ms = 0;
};
/// {"found": [{run, task, champion, action, gain, quick_looks_over_first, lessons, source}], "left_out", "similar"}: finished runs, newest first, ten
/// at most, the first two with their kernels' text; similar: as the event "recalled" without its measurements, null where there is none.
[[nodiscard]] Result<nlohmann::json> search_memory(archive::Store& store, const MemoryQuery& query);

/// microbenchmark, by `time`.
using TimeSnippet = std::function<Result<SnippetTimes>(const Snippet&)>;
void add_microbenchmark_tool(agent::ToolTable& table, TimeSnippet time);

/// What a run's table works on. All of it must outlive the table.
struct RunTools {
  kernel::Language language = kernel::Language::kCpp;
  std::string run;
  std::function<Result<evaluate::Evaluator*>()> evaluator;
  Examine examine;                                        ///< null: profile_kernel and diagnose are not there
  TimeSnippet microbenchmark;                             ///< null: not there
  std::function<nlohmann::json()> limits;
  /// An accepted kernel of this run by the beginning of its hash, twelve digits at least; the best so far by "best".
  std::function<const kernel::Kernel*(std::string_view)> kernel_of;
  std::function<double(const evaluate::Screening&)> score_of;   ///< over the run's first kernel
  std::function<double()> best_score;                     ///< of the run's best kernel, likewise; 0: there is none
  std::vector<double> bounds_ns;                          ///< of a call, a workload each
  std::function<Result<nlohmann::json>(const std::string& words)> memory;   ///< null: the run uses none, and search_memory is not there
};
[[nodiscard]] agent::ToolTable run_tools(RunTools on);

}  // namespace hone::engine
