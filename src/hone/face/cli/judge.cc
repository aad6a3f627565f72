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
#include "hone/face/cli/context.h"
#include "hone/face/cli/text.h"
#include "hone/target/card.h"
#include "hone/target/cpu.h"
#include "hone/target/simt_device.h"

namespace hone::face {
namespace {

using nlohmann::json;

struct JudgeBench {
  std::shared_ptr<target::Toolchain> toolchain;
  std::unique_ptr<evaluate::Evaluator> evaluator;
  engine::Place place;
};

Result<JudgeBench> bench_for(const task::Task& task, int threads, const target::SimtDevice* emulated, std::optional<int> card) {
  JudgeBench bench;
  evaluate::EvaluatorOptions judging;
  judging.interrupted = interrupted;
  judging.facts = evaluate::cached_facts();
  if (card) {
    HONE_TRY(const std::shared_ptr<target::Card> opened, target::Card::open(*card));
    HONE_TRY(bench.toolchain, target::cuda_toolchain(opened->info().arch));
    bench.place = engine::card_place(opened->info(), bench.toolchain->name());
    HONE_TRY(bench.evaluator, evaluate::card_evaluator(task, bench.toolchain, opened, judging));
    return bench;
  }
  if (emulated) {
    HONE_TRY(bench.toolchain, target::emulator_toolchain(emulated->language));
    bench.place = engine::emulator_place(*emulated, bench.toolchain->name());
    HONE_TRY(bench.evaluator, evaluate::emulated_evaluator(task, bench.toolchain, judging));
    return bench;
  }
  HONE_TRY(bench.toolchain, target::local_toolchain());
  bench.place = engine::cpu_place(bench.toolchain->name(), threads > 0 ? threads : target::cpu_info().threads);
  judging.threads = threads;
  HONE_TRY(bench.evaluator, evaluate::cpu_evaluator(task, bench.toolchain, judging));
  return bench;
}

json ratio_json(const evaluate::Ratio& ratio) {
  return {{"median", ratio.median}, {"low", ratio.low}, {"high", std::isfinite(ratio.high) ? json(ratio.high) : json()}};
}

}  // namespace

Result<int> evaluate_kernel(const KernelArguments& arguments) {
  HONE_TRY(const task::Task task, runnable_task_of(arguments.task));
  HONE_TRY(const kernel::Kernel kernel, known_kernel(arguments.kernels.front()));
  HONE_TRY_VOID(check_threads(arguments.threads));
  HONE_TRY_VOID(check_target_of(arguments.target, kernel));
  const std::optional<int> card = target::card_ordinal(arguments.target);
  const target::SimtDevice* const emulated = card ? nullptr : target::simt_device(kernel.header.language);
  std::vector<evaluate::Opponent> opponents;
  if (card) {
    HONE_TRY(const std::vector<target::CardInfo> cards, target::cards());
    if (*card < static_cast<int>(cards.size())) {
      HONE_TRY(opponents, engine::card_opponents(task, arguments.opponents, cards[static_cast<size_t>(*card)]));
    }
  } else if (!emulated) {
    HONE_TRY(opponents, engine::cpu_opponents(task, arguments.opponents, arguments.threads > 0 ? arguments.threads : target::cpu_info().threads));
  }
  watch_interrupts();
  HONE_TRY(JudgeBench bench, bench_for(task, arguments.threads, emulated, card));
  say_where_verified(kernel, arguments.kernels.front(), task, bench.place);
  HONE_TRY(const evaluate::Screening screening, bench.evaluator->screen(kernel));
  evaluate::Promotion promotion;
  promotion.verdict = screening.verdict;
  if (screening.verdict.accepted()) {
    HONE_TRY(promotion, bench.evaluator->promote(kernel, opponents));
  }
  const evaluate::Verdict& verdict = promotion.verdict;
  std::FILE* out = arguments.json ? stderr : stdout;
  fmt::print(out, "{}: {}\n", verdict.accepted() ? "accepted" : std::string(evaluate::name_of(verdict.kind)),
             verdict.accepted() ? fmt::format("right on every input family, workload and hidden shape ({})", task.name) : verdict.reason);
  if (!verdict.accepted() && !verdict.detail.empty()) fmt::print(out, "{}\n", verdict.detail);
  if (verdict.accepted() && !emulated) fmt::print(out, "\n{}", promotion_text(promotion, task));
  if (verdict.accepted() && emulated)
    fmt::print(out, "\n  on the emulator, with the limits of {}; {}\n  times: absent (the emulator is for correctness)\n", emulated->model,
               promotion.sanitizers_absent.empty() ? fmt::format("sanitizers found nothing on {} shapes", promotion.sanitized_shapes)
                                                   : "no sanitizers: " + promotion.sanitizers_absent);
  if (verdict.accepted() && !arguments.save.empty()) {
    const std::string day = engine::day_of(base::system_clock().unix_ms());
    HONE_TRY_VOID(base::write_file_atomic(arguments.save, engine::champion_text(kernel, task, bench.place, day)));
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
  HONE_TRY(const task::Task task, runnable_task_of(arguments.task));
  HONE_TRY(const kernel::Kernel a, known_kernel(arguments.kernels.at(0)));
  HONE_TRY(const kernel::Kernel b, known_kernel(arguments.kernels.at(1)));
  HONE_TRY_VOID(check_threads(arguments.threads));
  const std::optional<int> card = target::card_ordinal(arguments.target);
  for (const auto* kernel : {&a, &b}) {
    HONE_TRY_VOID(check_target_of(arguments.target, *kernel));
    if (!card && target::simt_device(kernel->header.language))
      return fail(ErrorCode::kUsage, "kernels for GPUs are not compared here: the emulator knows no time",
                  "--target cuda:0 compares them on a card, where there is one; hone evaluate judges each by itself");
  }
  watch_interrupts();
  HONE_TRY(JudgeBench bench, bench_for(task, arguments.threads, nullptr, card));
  for (const auto* kernel : {&a, &b}) {
    say_where_verified(*kernel, arguments.kernels[kernel == &a ? 0 : 1], task, bench.place);
    HONE_TRY(const evaluate::Screening screening, bench.evaluator->screen(*kernel));
    if (!screening.verdict.accepted())
      return fail(ErrorCode::kInput, fmt::format("{} is refused: {}: {}", arguments.kernels[kernel == &a ? 0 : 1],
                                                 evaluate::name_of(screening.verdict.kind), screening.verdict.reason),
                  "only accepted kernels are compared: see hone evaluate");
  }
  evaluate::Opponent opponent;
  opponent.name = "B";
  opponent.kernel = b;
  HONE_TRY(const evaluate::Promotion promotion, bench.evaluator->promote(a, {opponent}));
  if (!promotion.verdict.accepted())
    return fail(ErrorCode::kInput, fmt::format("{} is refused: {}", arguments.kernels[0], promotion.verdict.reason));
  const engine::Headline line = engine::headline_of(promotion, task);
  std::FILE* out = arguments.json ? stderr : stdout;
  const std::string found = line.comparison == evaluate::Comparison::kInconclusive
                                ? "INCONCLUSIVE: neither A nor B is known to be faster"
                                : fmt::format("A is {} than B", evaluate::name_of(line.comparison));
  fmt::print(out, "{}: time(B) / time(A) = {}\n\n{}", found, ratio_text(line.speedup), promotion_text(promotion, task));
  if (arguments.json)
    fmt::print("{}\n", base::canonical_json(json{{"comparison", evaluate::name_of(line.comparison)}, {"ratio", ratio_json(line.speedup)}}));
  switch (line.comparison) {
    case evaluate::Comparison::kFaster: return 0;
    case evaluate::Comparison::kSlower: return 10;
    case evaluate::Comparison::kInconclusive: return 11;
  }
  return 3;
}

}  // namespace hone::face
