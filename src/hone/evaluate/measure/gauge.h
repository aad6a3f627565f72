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

struct GaugeOptions {
  int threads = 2;      ///< for drawing and checking
  int least = 7;        ///< timings of a kernel that works
  int most = 32;
};

struct Gauged {
  Verdict verdict;
  std::vector<double> times_ns;  ///< a call, in the order taken; empty where the verdict refuses
  Spent spent;
};

class Gauge {
 public:
  /// For a task with one workload; task and loader must outlive the gauge. kInput where it has several.
  [[nodiscard]] static Result<std::unique_ptr<Gauge>> create(const task::Task& task, Loader& loader, const GaugeOptions& options);

  /// `seconds`: beyond the least timings, no more are begun once so long has passed. An Error means that the gauge could not
  /// do its work; whatever the kernel does wrong is a verdict.
  [[nodiscard]] Result<Gauged> time(const kernel::Kernel& kernel, double seconds);

 private:
  Gauge(Loader& loader, const GaugeOptions& options, std::unique_ptr<Stage> stage)
      : loader_(loader), options_(options), stage_(std::move(stage)) {}
  [[nodiscard]] Verdict check(Player& player, Spent& spent);

  Loader& loader_;
  GaugeOptions options_;
  std::unique_ptr<Stage> stage_;
  base::Rng rng_{base::secret_seed()};
};

}  // namespace hone::evaluate
