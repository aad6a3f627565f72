#include "hone/evaluate/loader.h"

#include <fmt/format.h>

#include "hone/target/cpu.h"
#include "hone/target/device/cpu_session.h"

namespace hone::evaluate {

using kernel::Kernel;

Loader::Loader(const task::Task& task, std::shared_ptr<target::Toolchain> toolchain, int threads,
               target::BuildOptions build_options)
    : task_(task), toolchain_(std::move(toolchain)), threads_(threads), build_options_(std::move(build_options)),
      limits_(target::cpu_limits(target::cpu_info())) {
  HONE_CHECK(threads >= 1);
  limits_["THREADS"] = threads;
}

Result<target::BuildOutcome> Loader::build(const Kernel& kernel, const task::Bindings& bindings) {
  std::string key = kernel.hash();
  for (const std::string& symbol : kernel.header.specialise) {
    const auto it = bindings.find(symbol);
    if (it != bindings.end()) key += fmt::format("/{}={}", symbol, it->second);
  }
  {
    const std::scoped_lock lock(builds_mutex_);
    if (const auto it = builds_.find(key); it != builds_.end()) return it->second;
  }
  HONE_TRY(target::BuildOutcome outcome, toolchain_->build(kernel, task_, bindings, build_options_));
  const std::scoped_lock lock(builds_mutex_);
  return builds_.emplace(std::move(key), std::move(outcome)).first->second;
}

Result<Loaded> Loader::load(const Kernel& kernel, const Stage& stage) {
  auto outcome = build(kernel, stage.bindings());
  if (!outcome) {
    if (outcome.error().code == ErrorCode::kInput)
      return Loaded{nullptr, {VerdictKind::kLaunchFails, outcome.error().message, {}, {}}};
    return tl::unexpected(outcome.error());
  }
  if (const auto* failure = std::get_if<target::BuildFailure>(&*outcome))
    return Loaded{nullptr, {VerdictKind::kDoesNotCompile, failure->reason, failure->log, {}}};
  const auto plan = kernel::bind(kernel, task_, stage.bindings(), limits_);
  if (!plan) return Loaded{nullptr, {VerdictKind::kLaunchFails, plan.error().message, {}, {}}};
  const auto regions = stage.regions();
  target::CpuSessionOptions session;
  session.threads = threads_;
  HONE_TRY(auto started, target::start_cpu_session(std::get<target::Build>(*outcome), *plan,
                                                   static_cast<int>(task_.inputs.size() + task_.outputs.size()),
                                                   regions, session));
  if (auto* failure = std::get_if<target::LoadFailure>(&started))
    return Loaded{nullptr, {VerdictKind::kLaunchFails, failure->reason, {}, {}}};
  return Loaded{std::move(std::get<std::unique_ptr<target::Session>>(started)), {}};
}

}  // namespace hone::evaluate
