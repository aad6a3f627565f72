#include "hone/face/program/attached.h"

#include <algorithm>
#include <map>

#include <nlohmann/json.hpp>

#include "hone/base/file.h"
#include "hone/base/json.h"
#include "hone/base/version.h"
#include "hone/face/cli/budget.h"
#include "hone/face/cli/context.h"
#include "hone/face/program/program_run.h"
#include "hone/program/normalise.h"

namespace hone::face {
namespace {

using base::Json;

constexpr Care kBriefCare{1, 3, 2};    ///< the user waits for it, in a call of the model
constexpr double kDuelSeconds = 4;

class AttachedRun : public ProgramRun {
 public:
  AttachedRun(OpenedProgram opened, engine::RunOptions options, const AttachArguments& arguments)
      : ProgramRun(std::move(opened), std::move(options), "none", kBriefCare, true), arguments_(arguments) {}

  Status run() {
    HONE_TRY_VOID(keep_cut());
    HONE_TRY_VOID(recall_tasks());
    if (as_decided_before()) {
      if (kernels_in_use() > 0) HONE_TRY_VOID(compose(package_name(), kernels_));
      for (TaskResult& result : results_) result.used = result.used && result.runs;
      if (kernels_in_use() > 0) HONE_TRY_VOID(use(names_in_use()));
      return tell_done();
    }
    for (TaskResult& result : results_)
      if (arguments_.when == "never" && result.champion.empty()) result.note = "no kernel in the archive, and no search was asked for";
    if (arguments_.when != "never") {
      HONE_TRY_VOID(look_at_steps());
      if (arguments_.when == "later") HONE_TRY_VOID(opened_.session->tell("wait", Json::object()));
      HONE_TRY_VOID(optimise_tasks());
    }
    if (!kernels_.empty()) HONE_TRY_VOID(decide());
    HONE_TRY_VOID(write_plan(json()));
    return tell_done();
  }

 private:
  /// Faster in place one by one, right as a whole, and the whole faster than without.
  Status decide() {
    HONE_TRY_VOID(put_in_place());
    HONE_TRY_VOID(keep_faster());
    if (kernels_in_use() == 0) return {};
    HONE_TRY_VOID(check());
    if (kernels_in_use() == 0) return {};
    HONE_TRY(const auto pairs, opened_.session->times("nested", 60, kDuelSeconds));
    duel_ = duel_of(pairs);
    if (duel_.comparison == evaluate::Comparison::kFaster) return {};
    for (TaskResult& result : results_) {
      if (result.used) result.note += fmt::format("; the whole is not faster than {} alone", arguments_.nested);
      result.used = false;
    }
    return use({});
  }

  [[nodiscard]] std::filesystem::path plan_file() const { return folder_ / (opened_.program.name + ".plan.json"); }

  /// Under the same conditions, with the same champions: what was found then holds.
  bool as_decided_before() {
    const auto text = base::read_file(plan_file());
    if (!text) return false;
    const auto kept = base::parse_json(*text, "plan");
    if (!kept || !kept->is_object() || kept->value("conditions", Json()) != conditions()) return false;
    if (arguments_.when != "never" && base::number_at(*kept, "budget_seconds").value_or(0) < options_.budget_seconds) return false;
    std::map<std::string, const Json*> rows;
    const Json tasks = kept->value("tasks", Json::array());
    for (const Json& row : tasks) rows[base::string_at(row, "task").value_or("")] = &row;
    for (size_t i = 0; i < results_.size(); ++i) {
      const auto row = rows.find(task(i).name);
      if (row == rows.end()) return false;
      if (base::string_at(*row->second, "champion").value_or("") != results_[i].champion) return false;
    }
    for (size_t i = 0; i < results_.size(); ++i) {
      results_[i].used = rows[task(i).name]->value("used", false);
      results_[i].note = rows[task(i).name]->value("why", "");
      results_[i].time = {rows[task(i).name]->value("eager_ns", 0.0), 0};
    }
    const Json left = kept->value("left_whole", Json::array());
    for (size_t i = 0; i < written_.size(); ++i)
      written_[i].whole = std::find(left.begin(), left.end(), Json(opened_.plan.written[i].name)) != left.end();
    whole_ = kept->value("nested", Json());
    checked_ = kept->value("checked", "");
    return true;
  }

  [[nodiscard]] Json conditions() const {
    return {{"hone", base::kVersion}, {"torch", opened_.program.torch}, {"threads", arguments_.threads}, {"nested", arguments_.nested}, {"device", device()}};
  }

  [[nodiscard]] Json json() const {
    return {{"program", opened_.program.name}, {"tasks", tasks_json()}, {"checked", checked_}, {"bound_ns", opened_.least_ns()}, {"covered", opened_.covered_share()},
            {"conditions", conditions()}, {"left_whole", left_whole()}, {"budget_seconds", arguments_.when == "never" ? 0 : options_.budget_seconds},
            {"nested", duel_.theirs_ns > 0 ? duel_.to_json() : whole_}, {"folder", folder_.string()}};
  }

  Status tell_done() {
    Json report = json();
    const Json cut = cut_json(opened_);
    report["pytorch"] = cut["eager"];
    report["folded"] = cut["folded"];
    return opened_.session->tell("done", {{"report", std::move(report)}, {"used", with_written(names_in_use())}});
  }

  const AttachArguments& arguments_;
  Duel duel_;
  Json whole_;
};

Status attached(std::unique_ptr<evaluate::ProgramSession>& session, const AttachArguments& arguments) {
  engine::RunOptions options;
  options.threads = arguments.threads;
  HONE_TRY_VOID(for_target(arguments.target, options));
  HONE_TRY_VOID(parse_budget(arguments.budget, options));
  options.budget_evaluations = 0;
  HONE_TRY(program::Program program, program::read_program(session->capture()));
  HONE_TRY(program, program::normalise(std::move(program)));  // refused before the session is given away
  HONE_TRY(OpenedProgram opened, open_program(std::move(session), options));
  AttachedRun run(std::move(opened), std::move(options), arguments);
  const Status done = run.run();
  session = run.give_session();
  return done;
}

}  // namespace

Result<int> attach(const AttachArguments& arguments) {
  if (arguments.when != "now" && arguments.when != "later" && arguments.when != "never")
    return fail(ErrorCode::kUsage, fmt::format("\"{}\" says not when to search", arguments.when), "now, later or never");
  watch_interrupts();
  HONE_TRY(auto session, evaluate::ProgramSession::attach(arguments.descriptor));
  const Status done = attached(session, arguments);
  if (!done && session != nullptr) HONE_TRY_VOID(session->tell("failed", {{"message", done.error().to_string()}}));
  return 0;
}

}  // namespace hone::face
