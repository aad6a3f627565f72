#include "hone/evaluate/baseline/library_opponents.h"

#include <set>
#include <mutex>

#include <fmt/format.h>

#include "hone/base/random.h"
#include "hone/evaluate/baseline/library_source.h"
#include "hone/target/cpu.h"
#include "hone/target/device/cpu_session.h"
#include "hone/target/toolchain/trusted.h"

namespace hone::evaluate {
namespace {

struct Library {
  const char* name;
  const char* file;      ///< as the linker finds it
  const char* package;   ///< Debian's
  Result<std::string> (*source)(const task::Task&, const task::Bindings&);
};
constexpr Library kLibraries[] = {
    {"openblas", "libopenblas.so.0", "libopenblas0-pthread", openblas_source},
    {"onednn", "libdnnl.so", "libdnnl-dev", onednn_source},
};

using Started = Result<std::unique_ptr<target::Session>>;

class LibraryOpponent {
 public:
  LibraryOpponent(std::shared_ptr<const task::Task> task, const Library& library, int threads)
      : task_(std::move(task)), library_(library), threads_(threads > 0 ? threads : target::cpu_info().threads) {}

  /// Builds the adapter and checks its answer, once; the starter loads it anew each time.
  Result<Opponent::Starter> prepare(const Stage& stage, std::shared_ptr<LibraryOpponent> self) {
    HONE_TRY(const std::string source, library_.source(*task_, stage.bindings()));
    HONE_TRY(const auto library, target::find_library(library_.file, library_.package));
    HONE_TRY(const auto outcome, target::build_with_library(source, library));
    if (const auto* failure = std::get_if<target::BuildFailure>(&outcome))
      return fail(ErrorCode::kUnavailable, "its adapter does not build here: " + failure->reason);
    const auto& build = std::get<target::Build>(outcome);
    HONE_TRY_VOID(check(build, stage.bindings()));
    return [self = std::move(self), build, &stage] { return self->load(build, stage); };
  }

 private:
  Started load(const target::Build& build, const Stage& stage) const {
    const int tensors = static_cast<int>(task_->inputs.size() + task_->outputs.size());
    kernel::BoundPlan plan;
    kernel::BoundLaunch& launch = plan.launches.emplace_back();
    launch.grid = {1};
    for (int i = 0; i < tensors; ++i) launch.args.push_back({kernel::Argument::Kind::kTensor, i, 0});
    target::CpuSessionOptions options;
    options.threads = 1;  // the library has its own
    options.library_threads = threads_;
    options.start_deadline = std::chrono::seconds(60);
    const auto regions = stage.regions();
    HONE_TRY(auto started, target::start_cpu_session(build, plan, tensors, regions, options));
    if (const auto* failure = std::get_if<target::LoadFailure>(&started))
      return fail(ErrorCode::kUnavailable, "it does not run: " + failure->reason);
    return std::move(std::get<std::unique_ptr<target::Session>>(started));
  }

  /// Its answer on inputs of its own, once for each shape.
  Status check(const target::Build& build, const task::Bindings& bindings) {
    const std::scoped_lock lock(mutex_);
    if (checked_.contains(bindings)) return {};
    StageOptions options;
    options.contents = 1;
    options.threads = threads_;
    HONE_TRY(const std::unique_ptr<Stage> stage, Stage::create(*task_, bindings, options));
    stage->draw(0, Family::kNormal, base::secret_seed());
    HONE_TRY(const auto session, load(build, *stage));
    const int slots[] = {0};
    stage->poison(slots);
    const target::Call call = stage->call(0);
    const target::BatchOutcome ran = session->run({&call, 1}, std::chrono::seconds(120));
    if (ran.how != target::BatchOutcome::How::kDone) return fail(ErrorCode::kUnavailable, "it does not run: " + ran.why);
    const Verdict verdict = stage->check(0);
    if (!verdict.accepted()) return fail(ErrorCode::kUnavailable, "its answer is refused: " + verdict.reason);
    checked_.insert(bindings);
    return {};
  }

  std::shared_ptr<const task::Task> task_;
  const Library& library_;
  int threads_;
  std::mutex mutex_;
  std::set<task::Bindings> checked_;
};

}  // namespace

std::vector<Opponent> library_opponents(const task::Task& task, int threads) {
  const auto shared = std::make_shared<const task::Task>(task);
  std::vector<Opponent> opponents;
  for (const Library& library : kLibraries) {
    Opponent& opponent = opponents.emplace_back();
    opponent.name = library.name;
    opponent.prepare = [one = std::make_shared<LibraryOpponent>(shared, library, threads)](const Stage& stage) { return one->prepare(stage, one); };
  }
  return opponents;
}

}  // namespace hone::evaluate
