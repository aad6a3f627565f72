#include "hone/engine/workbench.h"

#include <algorithm>
#include <charconv>
#include <span>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "hone/diagnose/profile/card.h"
#include "hone/engine/briefing.h"
#include "hone/engine/local.h"
#include "hone/engine/run.h"
#include "hone/evaluate/baseline/library_opponents.h"
#include "hone/evaluate/baseline/pytorch_opponents.h"
#include "hone/pattern/library.h"
#include "hone/target/calibrate/peaks.h"
#include "hone/target/card_peaks.h"
#include "hone/target/cpu.h"
#include "hone/target/toolchain/triton.h"

namespace hone::engine {
namespace {

using kernel::Language;

evaluate::Opponent opponent_of(std::string name, kernel::Kernel kernel) {
  evaluate::Opponent opponent;
  opponent.name = std::move(name);
  opponent.kernel = std::move(kernel);
  return opponent;
}

/// What a list may name: on a CPU, and on a card. "all" is the list without what takes minutes to get ready.
constexpr std::string_view kOnCpu[] = {"naive", "pytorch", "compile", "autotune", "openblas", "onednn"}, kOnCard[] = {"naive", "pytorch", "compile", "autotune"};
constexpr std::string_view kSlowToStart = "autotune";

/// "all", "none" or a list, each once, as it is first named: as places in `known`.
Result<std::vector<size_t>> opponents_named(const std::string& names, std::span<const std::string_view> known) {
  if (names == "none") return std::vector<size_t>{};
  std::vector<size_t> found;
  if (names == "all") {
    for (size_t place = 0; place < known.size(); ++place)
      if (known[place] != kSlowToStart) found.push_back(place);
    return found;
  }
  std::stringstream list(names.empty() ? "," : names);
  for (std::string name; std::getline(list, name, ',');) {
    const auto it = std::find(known.begin(), known.end(), name);
    if (it == known.end())
      return fail(ErrorCode::kUsage, fmt::format("unknown opponent \"{}\"", name), fmt::format("a list of {}; or all, or none", fmt::join(known, ", ")));
    const auto place = static_cast<size_t>(it - known.begin());
    if (std::find(found.begin(), found.end(), place) == found.end()) found.push_back(place);
  }
  return found;
}

Result<std::vector<evaluate::Opponent>> chosen(const std::vector<evaluate::Opponent>& all, const std::string& names, std::span<const std::string_view> known) {
  HONE_TRY(const std::vector<size_t> places, opponents_named(names, known));
  std::vector<evaluate::Opponent> found;
  for (const size_t place : places) found.push_back(all.at(place));
  return found;
}

/// Plain loops in the target's own language, whichever others kernels are proposed in.
evaluate::Opponent naive_on(const target::Target& target, const task::Task& task) {
  auto plain = pattern::plain_offer(task, target.languages().front());
  HONE_CHECK(plain.has_value(), "the library writes the first language of every target with a clock");
  return opponent_of("naive", std::move(plain->kernel));
}

class CpuBench final : public Workbench {
 public:
  CpuBench(std::shared_ptr<target::Target> target, std::vector<Language> languages) : Workbench(std::move(target), std::move(languages)) {}

  Result<std::unique_ptr<evaluate::Evaluator>> evaluator(const task::Task& task, const evaluate::EvaluatorOptions& asked) const override {
    evaluate::EvaluatorOptions options = asked;
    options.threads = target().threads();
    return evaluate::cpu_evaluator(task, toolchain(), options);
  }
  Result<std::vector<evaluate::Opponent>> opponents(const task::Task& task, const std::string& names) const override {
    if (names == "none") return std::vector<evaluate::Opponent>{};
    const auto pytorch = evaluate::pytorch_opponents(task, target().threads());
    const auto libraries = evaluate::library_opponents(task, target().threads());
    const std::vector<evaluate::Opponent> all = {naive_on(target(), task), pytorch.at(0), pytorch.at(1), pytorch.at(2), libraries.at(0), libraries.at(1)};
    return chosen(all, names, kOnCpu);
  }
  Result<Examined> examine(evaluate::Evaluator& evaluator, const kernel::Kernel& kernel, const task::Task& task, const Alternatives& alternatives,
                           bool thorough, diagnose::CacheModel* caches) const override {
    return engine::examine(evaluator, kernel, task, limits(), alternatives, thorough, nullptr, caches);
  }
  nlohmann::json peaks() const override { return target::to_json(target::cpu_peaks(target().threads())); }
  std::string facts() const override {
    return cpu_facts(nlohmann::json::parse(machine_json()), toolchain()->extensions(), target::cpu_peaks(target().threads()));
  }
  std::string timing() const override { return "timing_cpu"; }
};

class CardBench final : public Workbench {
 public:
  CardBench(std::shared_ptr<target::Target> target, std::vector<Language> languages)
      : Workbench(std::move(target), std::move(languages)),
        card_(this->target().card()),
        counters_(std::make_unique<diagnose::CardCounters>(card_->info(), toolchain())) {}

  Result<std::unique_ptr<evaluate::Evaluator>> evaluator(const task::Task& task, const evaluate::EvaluatorOptions& options) const override {
    return evaluate::card_evaluator(task, toolchain(), card_, options);
  }
  Result<std::vector<evaluate::Opponent>> opponents(const task::Task& task, const std::string& names) const override {
    if (names == "none") return std::vector<evaluate::Opponent>{};
    const auto pytorch = evaluate::pytorch_opponents(task, card_->info());
    return chosen({naive_on(target(), task), pytorch.at(0), pytorch.at(1), pytorch.at(2)}, names, kOnCard);
  }
  Result<Examined> examine(evaluate::Evaluator& evaluator, const kernel::Kernel& kernel, const task::Task& task, const Alternatives& alternatives,
                           bool thorough, diagnose::CacheModel*) const override {
    return engine::examine(evaluator, kernel, task, limits(), alternatives, thorough, counters_.get());
  }
  nlohmann::json peaks() const override { return target::to_json(target::card_peaks(card_->info())); }
  std::string facts() const override { return card_facts(card_->info(), target::card_peaks(card_->info())); }
  std::string timing() const override { return "timing_card"; }
  /// Builds need cores, not the card. A screening takes a fifth of a build: more proposals on their way would only know less.
  int batch() const override { return std::clamp(target::cpu_info().threads - 1, 2, 12); }
  bool builds_aside() const override { return true; }

 private:
  std::shared_ptr<target::Card> card_;
  std::unique_ptr<diagnose::CardCounters> counters_;
};

/// A GPU that is emulated: verdicts only, so nothing to race and nothing to tune.
class EmulatorBench final : public Workbench {
 public:
  EmulatorBench(std::shared_ptr<target::Target> target, std::vector<Language> languages) : Workbench(std::move(target), std::move(languages)) {}

  Result<std::unique_ptr<evaluate::Evaluator>> evaluator(const task::Task& task, const evaluate::EvaluatorOptions& options) const override {
    return evaluate::emulated_evaluator(task, toolchain(), options);
  }
  Result<std::vector<evaluate::Opponent>> opponents(const task::Task&, const std::string&) const override { return std::vector<evaluate::Opponent>{}; }
  Result<Examined> examine(evaluate::Evaluator&, const kernel::Kernel&, const task::Task&, const Alternatives&, bool, diagnose::CacheModel*) const override {
    return fail(ErrorCode::kUnavailable, "the emulator knows no time: kernels are not diagnosed there", "--target cuda:0 does, where there is a card");
  }
  nlohmann::json peaks() const override { return nullptr; }
  std::string facts() const override {
    return fmt::format("Kernels run on an emulator that checks every access and knows no time ({}); limits: {}\n", place().device, limits_text(limits()));
  }
  std::string timing() const override { return "timing_emulator"; }
};

}  // namespace

Status check_opponents(const std::string& target, const std::string& names) {
  HONE_TRY_VOID(target::check_target_name(target));
  if (!target::has_clock(target)) return {};
  const std::span<const std::string_view> known = target == target::home_of(Language::kCpp) ? std::span<const std::string_view>(kOnCpu) : kOnCard;
  return opponents_named(names, known).map([](const auto&) {});
}

Result<WorkbenchOptions> workbench_options(const RunOptions& options) {
  WorkbenchOptions wanted;
  wanted.threads = options.threads;
  std::stringstream list(options.languages);
  for (std::string name; std::getline(list, name, ',');) {
    const auto language = kernel::language_from(name);
    if (!language) return fail(ErrorCode::kUsage, fmt::format("there is no language \"{}\"", name), "a list of " + kernel::language_names());
    wanted.languages.push_back(*language);
  }
  return wanted;
}

Result<std::shared_ptr<Workbench>> Workbench::open(const std::string& name, const WorkbenchOptions& options) {
  HONE_TRY_VOID(target::check_target_name(name));
  std::vector<Language> languages = target::languages_of(name);
  if (!options.languages.empty()) {
    std::erase_if(languages, [&](Language l) { return std::find(options.languages.begin(), options.languages.end(), l) == options.languages.end(); });
    if (languages.empty()) {
      std::vector<std::string_view> taken;
      for (const Language language : target::languages_of(name)) taken.push_back(kernel::name_of(language));
      return fail(ErrorCode::kUsage, fmt::format("the target {} takes none of the languages asked for", name), fmt::format("it takes {}", fmt::join(taken, ", ")));
    }
  }
  HONE_TRY(std::shared_ptr<target::Target> target, target::open_target(name, {options.threads}));
  // A card takes Triton whether or not it is installed here; nobody is offered what cannot be built.
  if (const auto card = target->card(); card && options.languages.empty() && !target::builds_triton("cuda:" + card->info().arch)) std::erase(languages, Language::kTriton);
  // TileLang's kernels take seconds to build: they are written where they are asked for.
  if (options.languages.empty()) std::erase(languages, Language::kTileLang);
  if (target->card()) return std::make_shared<CardBench>(std::move(target), std::move(languages));
  if (target->has_clock()) return std::make_shared<CpuBench>(std::move(target), std::move(languages));
  return std::make_shared<EmulatorBench>(std::move(target), std::move(languages));
}

Result<std::shared_ptr<Workbench>> workbench_of(const RunOptions& options) {
  HONE_TRY(const WorkbenchOptions wanted, workbench_options(options));
  const std::vector<std::string> targets = targets_of(options.target);
  HONE_TRY_VOID(check_targets(targets));
  return Workbench::open(targets.front(), wanted);
}

Result<std::vector<std::shared_ptr<Workbench>>> workbenches_beside(const Workbench& first, const RunOptions& options) {
  HONE_TRY(const WorkbenchOptions wanted, workbench_options(options));
  std::vector<std::shared_ptr<Workbench>> others;
  for (const std::string& target : targets_of(options.target)) {
    if (target == first.place().target) continue;
    HONE_TRY(others.emplace_back(), Workbench::open(target, wanted));
    HONE_TRY_VOID(check_alike(first.place(), others.back()->place()));
  }
  return others;
}

std::vector<std::string> targets_of(const std::string& list) {
  std::vector<std::string> targets;
  std::stringstream names(list);
  for (std::string name; std::getline(names, name, ',');) targets.push_back(name);
  if (targets.empty()) targets.emplace_back();
  return targets;
}

Status check_targets(const std::vector<std::string>& targets) {
  for (size_t i = 0; i < targets.size(); ++i) {
    HONE_TRY_VOID(target::check_target_name(targets[i]));
    if (targets.size() == 1) continue;
    if (!target::card_ordinal(targets[i]) || target::card_driver(targets[i]) != target::card_driver(targets[0]))
      return fail(ErrorCode::kUsage, fmt::format("\"{}\" in a list of targets", targets[i]), "several at once are cards of one host: cuda:0,cuda:1");
    if (std::find(targets.begin(), targets.begin() + static_cast<std::ptrdiff_t>(i), targets[i]) != targets.begin() + static_cast<std::ptrdiff_t>(i))
      return fail(ErrorCode::kUsage, fmt::format("{} is named twice", targets[i]), "what is timed has its card alone");
  }
  return {};
}

Status check_alike(const Place& first, const Place& other) {
  if (other.device == first.device) return {};
  return fail(ErrorCode::kInput, fmt::format("{} is {}, {} is {}", first.target, first.device, other.target, other.device),
              "cards that work on one thing are alike: what one measures is set beside what another does");
}

Status Workbench::takes(const kernel::Kernel& kernel) const {
  if (target_->takes(kernel.header.language)) return {};
  const std::string home = target::home_of(kernel.header.language);
  return fail(ErrorCode::kInput, fmt::format("the kernel is written in {}, which is not what the target {} takes", kernel::name_of(kernel.header.language), place().target),
              home.empty() ? "" : fmt::format("--target {} takes it", home));
}

Alternatives Workbench::library(const task::Task& task) const {
  return {library_seeds(task, languages_, limits()), toolchain()->other_compilers()};
}

std::optional<search::Seed> Workbench::plain(const task::Task& task) const {
  for (const Language language : languages_)
    if (auto offer = pattern::plain_offer(task, language)) return search::Seed{std::move(offer->kernel), std::move(offer->pattern), std::move(offer->action)};
  return std::nullopt;
}

std::vector<search::Seed> library_seeds(const task::Task& task, const std::vector<Language>& languages, const kernel::Limits& limits) {
  std::vector<search::Seed> all;
  std::vector<std::string> why_not;
  for (const Language language : languages)
    for (pattern::Offer& offer : pattern::offers(task, language, why_not)) {
      search::Seed& seed = all.emplace_back(seed_of(std::move(offer)));
      seed.kernel.config = kernel::fitted(seed.kernel.header, std::move(seed.kernel.config), limits);
    }
  return all;
}

Result<std::optional<kernel::Kernel>> library_kernel(const std::string& name, const task::Task& task, const std::vector<Language>& languages,
                                                     const kernel::Limits& limits) {
  if (name == "naive") {
    if (auto plain = pattern::plain_offer(task, languages.front())) return std::move(plain->kernel);
    return fail(ErrorCode::kUsage, fmt::format("the library writes no {}", kernel::name_of(languages.front())), "give a kernel's file");
  }
  constexpr std::string_view kPrefix = "pattern:";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  const std::vector<search::Seed> all = library_seeds(task, languages, limits);
  size_t number = 0;
  const auto [end, error] = std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size() || number >= all.size())
    return fail(ErrorCode::kUsage, fmt::format("\"{}\": the library has {} kernels for this task, counted from 0", name, all.size()));
  return all[number].kernel;
}

}  // namespace hone::engine
