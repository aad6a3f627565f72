#include <algorithm>
#include <cmath>
#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hone/base/clock.h"
#include "hone/base/file.h"
#include "hone/base/json.h"
#include "hone/engine/local.h"
#include "hone/engine/summary.h"
#include "hone/evaluate/compare/outlook.h"
#include "hone/face/cli/budget.h"
#include "hone/face/cli/context.h"
#include "hone/face/cli/text.h"

namespace hone::face {
namespace {

using nlohmann::json;

constexpr double kMostSeconds = 86400;

json ratio_json(const evaluate::Ratio& ratio) {
  return {{"median", ratio.median}, {"low", ratio.low}, {"high", std::isfinite(ratio.high) ? json(ratio.high) : json()}};
}

}  // namespace

Result<int> evaluate_kernel(const KernelArguments& arguments) {
  HONE_TRY(const task::Task task, runnable_task_of(arguments.task));
  HONE_TRY(const kernel::Kernel kernel, known_kernel(arguments.kernels.front(), &task));
  HONE_TRY(const std::shared_ptr<engine::Workbench> bench, workbench_for(arguments.target, kernel, arguments.threads));
  const bool timed = bench->target().has_clock();
  HONE_TRY(const std::vector<evaluate::Opponent> opponents, bench->opponents(task, arguments.opponents));
  watch_interrupts();
  HONE_TRY(const std::unique_ptr<evaluate::Evaluator> evaluator, bench->evaluator(task, looking()));
  say_where_verified(kernel, arguments.kernels.front(), task, bench->place());
  HONE_TRY(const evaluate::Screening screening, evaluator->screen(kernel));
  evaluate::Promotion promotion;
  promotion.verdict = screening.verdict;
  if (screening.verdict.accepted()) {
    HONE_TRY(promotion, evaluator->promote(kernel, opponents));
  }
  const evaluate::Verdict& verdict = promotion.verdict;
  std::FILE* out = arguments.json ? stderr : stdout;
  fmt::print(out, "{}: {}\n", verdict.accepted() ? "accepted" : std::string(evaluate::name_of(verdict.kind)),
             verdict.accepted() ? fmt::format("right on every input family, workload and hidden shape ({})", task.name) : verdict.reason);
  if (!verdict.accepted() && !verdict.detail.empty()) fmt::print(out, "{}\n", verdict.detail);
  if (verdict.accepted() && timed) fmt::print(out, "\n{}", promotion_text(promotion, task));
  if (verdict.accepted() && !timed) {
    fmt::print(out, "\n  on {}; {}\n", bench->place().device,
               promotion.sanitizers_absent.empty() ? fmt::format("sanitizers found nothing on {} shapes", promotion.sanitized_shapes)
                                                   : "no sanitizers: " + promotion.sanitizers_absent);
    for (const std::string& why : promotion.absent) fmt::print(out, "  absent: {}\n", why);
  }
  if (verdict.accepted() && !arguments.save.empty()) {
    const std::string day = engine::day_of(base::system_clock().unix_ms());
    HONE_TRY_VOID(base::write_file_atomic(arguments.save, engine::champion_text(kernel, task, bench->place(), day)));
    fmt::print(out, "\n  kernel: {}\n", arguments.save);
  }
  if (arguments.json) {
    json line = {{"verdict", evaluate::name_of(verdict.kind)}, {"reason", verdict.reason}, {"accuracy", nullptr}, {"measurement", nullptr}};
    const json whole = evaluate::to_json(promotion);
    line["accuracy"] = whole["verdict"]["accuracy"];
    if (verdict.accepted()) {
      line["measurement"] = whole["workloads"];
      for (json& workload : line["measurement"]) workload.erase("samples_ns"), workload.erase("samples_mhz");
    }
    fmt::print("{}\n", base::canonical_json(line));
  }
  return verdict.accepted() ? 0 : 1;
}

Result<int> compare_kernels(const KernelArguments& arguments) {
  HONE_TRY(const double budget, parse_seconds(arguments.budget, kMostSeconds));
  HONE_TRY(const task::Task task, runnable_task_of(arguments.task));
  HONE_TRY(const kernel::Kernel a, known_kernel(arguments.kernels.at(0), &task));
  HONE_TRY(const kernel::Kernel b, known_kernel(arguments.kernels.at(1), &task));
  HONE_TRY(const std::shared_ptr<engine::Workbench> bench, workbench_for(arguments.target, a, arguments.threads));
  HONE_TRY_VOID(bench->takes(b));
  if (!bench->target().has_clock())
    return fail(ErrorCode::kUsage, "kernels for GPUs are not compared here: the emulator knows no time",
                "--target cuda:0 compares them on a card, where there is one; hone evaluate judges each by itself");
  watch_interrupts();
  HONE_TRY(const std::unique_ptr<evaluate::Evaluator> evaluator, bench->evaluator(task, looking()));
  for (const auto* kernel : {&a, &b}) {
    say_where_verified(*kernel, arguments.kernels[kernel == &a ? 0 : 1], task, bench->place());
    HONE_TRY(const evaluate::Screening screening, evaluator->screen(*kernel));
    if (!screening.verdict.accepted())
      return fail(ErrorCode::kInput, fmt::format("{} is refused: {}: {}", arguments.kernels[kernel == &a ? 0 : 1],
                                                 evaluate::name_of(screening.verdict.kind), screening.verdict.reason),
                  "only accepted kernels are compared: see hone evaluate");
  }
  evaluate::Opponent opponent;
  opponent.name = "B";
  opponent.kernel = b;
  HONE_TRY(const evaluate::Promotion promotion, evaluator->promote_for(a, {opponent}, budget));
  if (!promotion.verdict.accepted())
    return fail(ErrorCode::kInput, fmt::format("{} is refused: {}", arguments.kernels[0], promotion.verdict.reason));
  const engine::Headline line = engine::headline_of(promotion, task);
  std::FILE* out = arguments.json ? stderr : stdout;
  const std::string found = line.comparison == evaluate::Comparison::kInconclusive
                                ? "INCONCLUSIVE: neither A nor B is known to be faster"
                                : fmt::format("A is {} than B", evaluate::name_of(line.comparison));
  fmt::print(out, "{}: time(B) / time(A) = {}\n\n{}", found, ratio_text(line.speedup), promotion_text(promotion, task));
  double pairing = 0;
  json wanting = json::array();
  for (const evaluate::WorkloadResult& workload : promotion.workloads) {
    pairing += workload.sampling_seconds;
    for (const evaluate::OpponentResult& result : workload.opponents)
      if (std::string more = evaluate::would_decide(result, workload.sampling_seconds); !more.empty()) wanting.push_back({{"workload", workload.workload}, {"needs", std::move(more)}});
  }
  fmt::print(out, "\n  {:.1f} of {:.4g} s spent on pairs\n", pairing, budget);
  for (const json& w : wanting) fmt::print(out, "  {} would be decided by {}\n", w["workload"].get<std::string>(), w["needs"].get<std::string>());
  if (arguments.json)
    fmt::print("{}\n", base::canonical_json(json{{"comparison", evaluate::name_of(line.comparison)}, {"ratio", ratio_json(line.speedup)},
                                                 {"spent", {{"budget_seconds", budget}, {"pairing_seconds", pairing}}}, {"would_decide", wanting}}));
  switch (line.comparison) {
    case evaluate::Comparison::kFaster: return 0;
    case evaluate::Comparison::kSlower: return 10;
    case evaluate::Comparison::kInconclusive: return 11;
  }
  return 3;
}

}  // namespace hone::face
