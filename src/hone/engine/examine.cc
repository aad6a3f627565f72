#include "hone/engine/examine.h"

#include <algorithm>

#include <fmt/format.h>

namespace hone::engine {

using diagnose::Action;
using kernel::Kernel;

std::string name_of(const search::Seed& seed) {
  return seed.action.empty() ? seed.pattern : fmt::format("{}: {}", seed.pattern, seed.action);
}

search::Seed seed_of(pattern::Offer offer) { return {std::move(offer.kernel), std::move(offer.pattern), std::move(offer.action), true}; }

Result<Examined> examine(evaluate::Evaluator& evaluator, const Kernel& kernel, const task::Task& task, const kernel::Limits& limits,
                         const Alternatives& alternatives, bool thorough, diagnose::CardCounters* counters,
                         diagnose::CacheModel* caches) {
  Examined out;
  HONE_TRY(const auto times, evaluator.conditions(kernel, thorough));
  for (const evaluate::Conditions& on : times)
    if (!on.verdict.accepted()) {
      out.verdict = on.verdict;
      return out;
    }
  if (counters) {
    HONE_TRY(out.profiles, diagnose::profile_card(*counters, kernel, task, times));
  } else {
    HONE_TRY(const target::BuildOutcome built, evaluator.build(kernel));
    const auto* const build = std::get_if<target::Build>(&built);
    if (!build) return fail(ErrorCode::kInternal, "a kernel that was timed does not build");
    HONE_TRY(out.profiles, diagnose::profile_cpu(kernel, task, times, *build, limits, thorough));
    for (size_t i = 0; caches && i < times.size(); ++i) HONE_TRY_VOID(caches->add(kernel, task, times[i], limits, out.profiles[i].metrics));
  }
  const diagnose::Profile* const chosen = diagnose::most_to_win(out.profiles);
  if (!chosen) return fail(ErrorCode::kInternal, "a task without workloads");
  out.workload = chosen->workload;
  diagnose::Subject subject{kernel.header, kernel.config, limits};
  for (const search::Seed& seed : alternatives.seeds)
    if (seed.kernel.source != kernel.source) {
      subject.patterns.push_back(name_of(seed));
      if (seed.kernel.header.launches.size() > kernel.header.launches.size()) subject.longer.push_back(name_of(seed));
    }
  // The default compiler serves a kernel that asks for none.
  if (kernel.header.language == kernel::Language::kCpp && kernel.header.compiler.empty()) subject.compilers = alternatives.compilers;
  double weights = 0;
  for (const diagnose::Profile& profile : out.profiles) weights += profile.weight;
  subject.share = weights > 0 ? chosen->weight / weights : 1;
  out.diagnosis = diagnose::diagnose(chosen->metrics, subject);
  return out;
}

ExamineInRun within_seconds(ExamineInRun examine, base::Clock& clock, double seconds) {
  return [examine = std::move(examine), &clock, seconds, spent = 0.0](evaluate::Evaluator& evaluator, const Kernel& kernel, bool thorough) mutable -> Result<Examined> {
    if (!thorough && spent >= seconds) return fail(ErrorCode::kUnavailable, fmt::format("diagnoses have had their {:.0f} seconds", seconds));
    const int64_t start = clock.now_ns();
    auto found = examine(evaluator, kernel, thorough);
    if (!thorough) spent += static_cast<double>(clock.now_ns() - start) * 1e-9;
    return found;
  };
}

std::optional<Kernel> take(const Action& action, const Kernel& kernel, const Alternatives& alternatives) {
  Kernel next = kernel;
  switch (action.kind) {
    case Action::Kind::kTunable:
      if (!next.config.contains(action.name)) return std::nullopt;
      next.config[action.name] = action.to;
      break;
    case Action::Kind::kCompiler:
      next = kernel::with_compiler(kernel, action.name);
      next.config = kernel.config;
      break;
    case Action::Kind::kPattern: {
      const auto seed = std::find_if(alternatives.seeds.begin(), alternatives.seeds.end(),
                                     [&](const search::Seed& s) { return name_of(s) == action.name; });
      if (seed == alternatives.seeds.end()) return std::nullopt;
      next = seed->kernel;
      break;
    }
    case Action::Kind::kRewrite:
      return std::nullopt;
  }
  next.parent = kernel.hash();
  return next.hash() == kernel.hash() ? std::nullopt : std::optional(std::move(next));
}

}  // namespace hone::engine
