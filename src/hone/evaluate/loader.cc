#include "hone/evaluate/loader.h"

#include <fmt/format.h>

#include "hone/base/trace.h"
#include "hone/kernel/build_case.h"
#include "hone/target/cpu.h"
#include "hone/target/device/cpu_session.h"
#include "hone/target/simt_device.h"

namespace hone::evaluate {

using kernel::Kernel;

Loader::Loader(const task::Task& task, std::shared_ptr<target::Toolchain> toolchain, int threads,
               target::BuildOptions build_options)
    : task_(task), toolchain_(std::move(toolchain)), threads_(threads), build_options_(std::move(build_options)),
      limits_(target::cpu_limits(target::cpu_info())) {
  HONE_CHECK(threads >= 1);
  limits_["THREADS"] = threads;
}

Loader::Loader(const task::Task& task, std::shared_ptr<target::Toolchain> toolchain, std::shared_ptr<target::Card> card)
    : task_(task), toolchain_(std::move(toolchain)), card_(std::move(card)), threads_(1), limits_(target::card_limits(card_->info())) {
  build_options_.pieces = true;
}

bool Loader::emulates(const Kernel& kernel) const { return !card_ && target::simt_device(kernel.header.language); }

std::vector<int64_t> tensor_bytes(const task::ConcreteGraph& graph) {
  std::vector<int64_t> bytes;
  for (const auto& ids : {graph.graph.inputs, graph.graph.outputs})
    for (const int id : ids)
      bytes.push_back(task::element_count(graph.shapes[static_cast<size_t>(id)]) * task::size_of(graph.graph.node(id).type.dtype));
  return bytes;
}

namespace {

Verdict refused_build(const target::BuildFailure& failure) {
  return {failure.evades ? VerdictKind::kCheating : VerdictKind::kDoesNotCompile, failure.reason, failure.log, {}};
}

}  // namespace

kernel::Limits Loader::limits_for(const Kernel& kernel) const {
  return emulates(kernel) ? target::simt_limits(*target::simt_device(kernel.header.language)) : limits_;
}

Result<target::BuildOutcome> Loader::build(const Kernel& kernel, const task::Bindings& bindings, bool sanitize) {
  std::string key = (sanitize ? "sanitized/" : "") + kernel.hash();
  for (const std::string& symbol : kernel.header.specialise) {
    const auto it = bindings.find(symbol);
    if (it != bindings.end()) key += fmt::format("/{}={}", symbol, it->second);
  }
  if (const std::string its_case = kernel::case_name(kernel, task_, bindings); !its_case.empty()) key += "/" + its_case;
  {
    const std::scoped_lock lock(builds_mutex_);
    if (const auto it = builds_.find(key); it != builds_.end()) return it->second;
  }
  const base::Span span(sanitize ? "sanitized build" : "build");
  target::BuildOptions options = build_options_;
  options.sanitize = sanitize;
  HONE_TRY(target::BuildOutcome outcome, toolchain_->build(kernel, task_, bindings, options));
  const std::scoped_lock lock(builds_mutex_);
  return builds_.emplace(std::move(key), std::move(outcome)).first->second;
}

Result<Loaded> Loader::load(const Kernel& kernel, const Stage& stage, const kernel::Limits& limits, bool sanitize) {
  const base::Span span("load");
  auto outcome = build(kernel, stage.bindings(), sanitize);
  if (!outcome) {
    if (outcome.error().code == ErrorCode::kInput)
      return Loaded{nullptr, {VerdictKind::kLaunchFails, outcome.error().message, {}, {}}};
    return tl::unexpected(outcome.error());
  }
  if (const auto* failure = std::get_if<target::BuildFailure>(&*outcome))
    return Loaded{nullptr, refused_build(*failure)};
  const auto& build = std::get<target::Build>(*outcome);
  const auto plan = target::plan_of(kernel, build, task_, stage.bindings(), limits);
  if (!plan) return Loaded{nullptr, {VerdictKind::kLaunchFails, plan.error().message, {}, {}}};
  const auto regions = stage.regions();
  const int tensors = static_cast<int>(task_.inputs.size() + task_.outputs.size());
  const auto loaded = [](auto started) {
    if (auto* failure = std::get_if<target::LoadFailure>(&started))
      return Loaded{nullptr, {VerdictKind::kLaunchFails, failure->reason, failure->output, {}}};
    return Loaded{std::move(std::get<std::unique_ptr<target::Session>>(started)), {}};
  };
  if (card_) {
    HONE_TRY(auto started, card_->start(build, *plan, tensors, regions));
    return loaded(std::move(started));
  }
  target::CpuSessionOptions session;
  session.threads = threads_;
  session.edges = stage.edge();
  session.timed = !stage.edge() && !sanitize;
  session.tensor_bytes = tensor_bytes(stage.graph());
  for (const auto& input : task_.inputs) session.names.push_back(input.name);
  for (const auto& [name, type] : task_.outputs) session.names.push_back(name);
  for (const auto& workspace : kernel.header.workspaces) session.names.push_back(workspace.name);
  HONE_TRY(auto started, target::start_cpu_session(build, *plan, tensors, regions, session));
  return loaded(std::move(started));
}

}  // namespace hone::evaluate
