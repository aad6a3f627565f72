#include "hone/target/gpu/session.h"

#include <fcntl.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "hone/base/random.h"
#include "hone/kernel/grid_limits.h"
#include "hone/target/gpu/worker.h"

namespace hone::target {

using worker::GpuCommand;
using worker::GpuControl;

std::shared_ptr<GpuWorkers> make_gpu_workers() { return std::make_shared<GpuWorkers>(); }

void expect_gpu_sessions(GpuWorkers& workers, const CardInfo& card, int sessions) { workers.expect(card, sessions); }

namespace {

constexpr std::chrono::seconds kLoadDeadline{60};

class GpuSession final : public Session {
 public:
  GpuSession(std::shared_ptr<GpuWorkers> workers, std::unique_ptr<GpuWorker> worker)
      : workers_(std::move(workers)), worker_(std::move(worker)) {}
  ~GpuSession() override {
    if (!worker_->usable()) return;
    if (worker_->ask(GpuCommand::kUnload, kLoadDeadline).done()) workers_->give_back(std::move(worker_));
  }
  GpuSession(const GpuSession&) = delete;
  GpuSession& operator=(const GpuSession&) = delete;

  /// `descriptors`: the module's image, then the regions.
  GpuWorker::Answer load(std::span<const int> descriptors) { return worker_->ask(GpuCommand::kLoad, kLoadDeadline, descriptors); }

  BatchOutcome run(std::span<const Call> calls, std::chrono::nanoseconds deadline) override {
    BatchOutcome outcome;
    GpuControl& control = worker_->control();
    HONE_CHECK(calls.size() <= worker::kMaxCalls);
    control.calls = static_cast<uint32_t>(calls.size());
    control.scrub = calls.empty() ? 0 : base::secret_seed() | 1;
    control.replay = calls.size() > 1 && std::all_of(calls.begin(), calls.end(), [](const Call& call) { return call.hot; });
    for (uint32_t t = 0; control.replay && t < control.tensors; ++t) control.tensor_bytes[t] = calls[0].tensors[t].bytes;
    for (size_t c = 0; c < calls.size(); ++c) {
      HONE_CHECK(calls[c].tensors.size() == control.tensors);
      control.cold[c] = calls[c].cold;
      for (size_t t = 0; t < calls[c].tensors.size(); ++t)
        control.placement[c][t] = {calls[c].tensors[t].offset, calls[c].tensors[t].region, 0};
    }
    if (!worker_->usable()) {
      outcome.how = BatchOutcome::How::kDied;
      outcome.why = "the session is over";
      return outcome;
    }
    const auto answer = worker_->ask(GpuCommand::kRun, deadline);
    if (!answer.done()) {
      const bool late = answer.how == GpuWorker::Answer::How::kDeadline;
      outcome.how = late ? BatchOutcome::How::kDeadline : BatchOutcome::How::kDied;
      outcome.why = answer.why;
      outcome.output = answer.words;
      outcome.outside = control.outside != 0;
      if (outcome.outside) outcome.finding = answer.why;
      return outcome;
    }
    outcome.wall_ns = control.device_ns;
    // Events that say less than our own clock leaves room for, or disagree with the worker's: no sample.
    if (!answer.why.empty() || control.span_ns > answer.wall_ns) outcome.contended_ns = outcome.wall_ns;
    return outcome;
  }

  /// Times are the device's: there is no hand-off in them.
  int64_t empty_batch_ns() override { return 0; }

 private:
  std::shared_ptr<GpuWorkers> workers_;
  std::unique_ptr<GpuWorker> worker_;
};

int64_t fact_of(const std::map<std::string, double>& facts, const char* name, const std::string& function, int64_t otherwise) {
  const auto it = facts.find(fmt::format("{}/{}", name, function));
  return it == facts.end() ? otherwise : static_cast<int64_t>(it->second);
}

}  // namespace

std::string refuse_plan(const CardInfo& card, const kernel::BoundPlan& plan, const std::map<std::string, double>& facts) {
  const auto too_many = [](size_t have, int most, const char* what) {
    return have > static_cast<size_t>(most) ? fmt::format("a plan may have at most {} {}, this one has {}", most, what, have) : std::string();
  };
  if (auto why = too_many(plan.launches.size(), worker::kMaxLaunches, "launches"); !why.empty()) return why;
  if (auto why = too_many(plan.workspaces.size(), worker::kMaxWorkspaces, "workspaces"); !why.empty()) return why;
  const auto fact = [&](const char* name, const std::string& function, int64_t otherwise) { return fact_of(facts, name, function, otherwise); };
  for (const kernel::BoundLaunch& launch : plan.launches) {
    if (auto why = too_many(launch.args.size(), worker::kMaxArguments, "arguments a launch"); !why.empty()) return why;
    if (launch.block.empty()) return fmt::format("launch {} has no block: a card needs to know its threads", launch.function);
    // Any of a card's blocks has at most so many threads along x, y, z; any grid so many blocks.
    constexpr int64_t kMostThreads[] = {1024, 1024, 64};
    int64_t threads = 1;
    for (size_t d = 0; d < launch.block.size(); ++d) {
      if (launch.block[d] > kMostThreads[d])
        return fmt::format("launch {} has {} threads a block along {}; the most is {}", launch.function, launch.block[d], "xyz"[d], kMostThreads[d]);
      threads *= launch.block[d];
    }
    if (threads > card.threads_per_block)
      return fmt::format("launch {} has {} threads a block; {} takes {}", launch.function, threads, card.name, card.threads_per_block);
    if (const int64_t most = fact("max_threads", launch.function, threads); threads > most)
      return fmt::format("launch {} has {} threads a block; its registers ({} a thread) and launch bounds allow {}", launch.function, threads,
                         fact("registers", launch.function, 0), most);
    // Of Triton's kernels the compiler, not the plan, says how much is asked for when they are launched.
    const int64_t fixed = fact("static_shared_bytes", launch.function, 0) + fact("dynamic_shared_bytes", launch.function, 0);
    if (launch.shared > card.shared_max - fixed)
      return fmt::format("launch {} wants {} bytes of shared memory a block{}; {} has {}", launch.function, launch.shared,
                         fixed > 0 ? fmt::format(" beside {} in its source", fixed) : "", card.name, card.shared_max);
    for (size_t d = 0; d < launch.grid.size(); ++d)
      if (launch.grid[d] > kernel::kMostGrid[d])
        return fmt::format("launch {} has a grid of {} along {}; the most is {}", launch.function, launch.grid[d], "xyz"[d], kernel::kMostGrid[d]);
  }
  return {};
}

Status fill_plan(GpuControl& control, const Build& build, const kernel::BoundPlan& plan, int tensors, std::span<const Region* const> regions) {
  const auto limit = [](size_t have, int most, const char* what) -> Status {
    if (have > static_cast<size_t>(most))
      return fail(ErrorCode::kInput, fmt::format("a card's worker takes at most {} {}, here are {}", most, what, have));
    return {};
  };
  HONE_TRY_VOID(limit(regions.size(), worker::kMaxRegions, "buffers"));
  HONE_TRY_VOID(limit(static_cast<size_t>(tensors), worker::kMaxTensors, "inputs and outputs"));
  control.regions = static_cast<uint32_t>(regions.size());
  control.launches = static_cast<uint32_t>(plan.launches.size());
  control.workspaces = static_cast<uint32_t>(plan.workspaces.size());
  control.tensors = static_cast<uint32_t>(tensors);
  for (size_t i = 0; i < regions.size(); ++i) control.region[i] = {regions[i]->size(), regions[i]->access() == Region::Access::kOutput, 0};
  for (size_t i = 0; i < plan.workspaces.size(); ++i)
    control.workspace[i] = {task::element_count(plan.workspaces[i].shape) * task::size_of(plan.workspaces[i].dtype), plan.workspaces[i].zero, 0};
  std::map<std::string, uint32_t> symbols;
  for (size_t i = 0; i < plan.launches.size(); ++i) {
    const kernel::BoundLaunch& from = plan.launches[i];
    worker::GpuLaunch& to = control.launch[i];
    const auto it = build.symbols.find(from.function);
    HONE_CHECK(it != build.symbols.end(), from.function);
    const auto [symbol, fresh] = symbols.emplace(it->second, static_cast<uint32_t>(symbols.size()));
    if (fresh) {
      if (it->second.size() >= worker::kMaxSymbol)
        return fail(ErrorCode::kInput, fmt::format("the name of {} is too long: {} characters in the module", from.function, it->second.size()));
      std::strcpy(control.symbol[symbol->second], it->second.c_str());
    }
    to.symbol = symbol->second;
    for (size_t d = 0; d < 3; ++d) {
      to.grid[d] = d < from.grid.size() ? static_cast<uint32_t>(from.grid[d]) : 1;
      to.block[d] = d < from.block.size() ? static_cast<uint32_t>(from.block[d]) : 1;
      to.cluster[d] = d < from.cluster.size() ? static_cast<uint32_t>(from.cluster[d]) : 1;
    }
    to.shared_bytes = static_cast<uint32_t>(from.shared + fact_of(build.facts, "dynamic_shared_bytes", from.function, 0));
    to.arguments = static_cast<uint32_t>(from.args.size());
    for (size_t a = 0; a < from.args.size(); ++a) {
      worker::Argument& argument = to.argument[a];
      argument = {static_cast<uint32_t>(from.args[a].kind), from.args[a].tensor, from.args[a].value};
      if (from.args[a].kind != kernel::Argument::Kind::kScratch) continue;
      // Bytes of the launch's own are one more workspace, or null where its build wants none.
      const int64_t scratch = fact_of(build.facts, "scratch_bytes", from.function, 0);
      if (scratch == 0) continue;
      if (control.workspaces >= static_cast<uint32_t>(worker::kMaxWorkspaces)) return limit(control.workspaces + 1, worker::kMaxWorkspaces, "workspaces");
      argument.tensor = tensors + static_cast<int32_t>(control.workspaces);
      control.workspace[control.workspaces++] = {scratch * to.grid[0] * to.grid[1] * to.grid[2], 0, 0};
    }
  }
  control.symbols = static_cast<uint32_t>(symbols.size());
  return {};
}

Result<std::variant<std::unique_ptr<Session>, LoadFailure>> start_gpu_session(
    const std::shared_ptr<GpuWorkers>& workers, const CardInfo& card, const Build& build, const kernel::BoundPlan& plan, int tensors,
    std::span<const Region* const> regions) {
  using Outcome = std::variant<std::unique_ptr<Session>, LoadFailure>;
  HONE_CHECK(build.card_arch == card.arch, build.card_arch);
  if (std::string why = refuse_plan(card, plan, build.facts); !why.empty()) return Outcome(LoadFailure{std::move(why), {}});
  const base::Fd image(open(build.artifact.c_str(), O_RDONLY | O_CLOEXEC));
  std::error_code error;
  const auto image_bytes = static_cast<int64_t>(std::filesystem::file_size(build.artifact, error));
  if (!image || error) return fail(ErrorCode::kCorrupt, fmt::format("the build {} has gone from the cache", build.artifact.string()));
  std::vector<int> descriptors = {image.get()};
  for (const Region* region : regions) descriptors.push_back(region->fd());
  for (bool again = false;; again = true) {
    HONE_TRY(std::unique_ptr<GpuWorker> worker, again ? workers->start(card) : workers->take(card));
    if (const Status filled = fill_plan(worker->control(), build, plan, tensors, regions); !filled) {
      workers->give_back(std::move(worker));
      return tl::unexpected(filled.error());
    }
    worker->control().image_bytes = image_bytes;
    auto session = std::make_unique<GpuSession>(workers, std::move(worker));
    const auto answer = session->load(descriptors);
    if (answer.done()) return Outcome(std::unique_ptr<Session>(std::move(session)));
    if (answer.refused() || answer.how == GpuWorker::Answer::How::kDeadline) return Outcome(LoadFailure{"while loading: " + answer.why, answer.words});
    // Nothing of the candidate has run: somebody may have ended a worker that waited. What becomes of a new one is no
    // accident.
    if (!again) continue;
    if (answer.how == GpuWorker::Answer::How::kDied) return Outcome(LoadFailure{"while loading: " + answer.why, answer.words});
    return fail(ErrorCode::kUnavailable, fmt::format("card {} cannot take a kernel: {}", card.ordinal, answer.why));
  }
}

}  // namespace hone::target
