// Raw timings of many kernels of one workload, one after another, for complete tuning spaces: each is checked on the pool's
// contents and then timed, cold, until it has enough. No yardstick, no hidden shapes: what a search is to believe is screened.
// One thread drives a gauge.
#pragma once
#include <memory>
#include <vector>

#include "hone/base/random.h"
#include "hone/evaluate/loader.h"
#include "hone/evaluate/measure/batch.h"
#include "hone/evaluate/stage.h"

namespace hone::evaluate {

struct Gauged {
  Verdict verdict;
  std::vector<double> times_ns;  ///< a call, in the order taken; empty where the verdict refuses
  Spent spent;
};

class Gauge {
 public:
  /// For a task with one workload; task and loader must outlive the gauge. kInput where it has several. `threads`: for drawing and
  /// checking.
  [[nodiscard]] static Result<std::unique_ptr<Gauge>> create(const task::Task& task, Loader& loader, int threads);

  /// So many timings of a kernel that works. An Error means that the gauge could not do its work; whatever the kernel does wrong
  /// is a verdict.
  [[nodiscard]] Result<Gauged> time(const kernel::Kernel& kernel, int timings);

 private:
  Gauge(Loader& loader, std::unique_ptr<Stage> stage) : loader_(loader), stage_(std::move(stage)) {}
  [[nodiscard]] std::vector<int> pick(bool checked, int count);
  [[nodiscard]] Verdict check(Player& player, Spent& spent);

  Loader& loader_;
  std::unique_ptr<Stage> stage_;
  base::Rng rng_{base::secret_seed()};
};

}  // namespace hone::evaluate
