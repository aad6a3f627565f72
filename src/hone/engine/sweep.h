// Every configuration of a kernel's tunables, built, checked and timed: what complete tuning spaces are made of. Timings come in
// rounds over the whole space, each in another order, so that a machine's good and bad minutes fall on no configuration alone.
// Where the machine has cores to spare, they build while the measuring ones measure and do nothing else; else the two take turns.
// One call at a time.
#pragma once
#include <functional>
#include <memory>
#include <optional>

#include "hone/evaluate/measure/gauge.h"
#include "hone/kernel/kernel.h"
#include "hone/search/tune/space_files.h"
#include "hone/target/toolchain/toolchain.h"
#include "hone/task/task.h"

namespace hone::engine {

struct SweepProgress {
  int round = 1;                ///< that is going on
  size_t known = 0, total = 0;  ///< configurations measured or found not to work; all there are
  double best_ms = 0;           ///< 0: none has worked yet
};

struct SweepOptions {
  int threads = 0;              ///< of the kernel; 0: all
  int jobs = 0;                 ///< builds side by side; 0: as many as there are CPUs for them
  double seconds = 0;           ///< of wall time, beyond which it ends with what it has; 0: no limit
  int timings = 32;             ///< of a configuration; fewer where the time ends before the rounds do
  int rounds = 8;               ///< in which they are taken: at least one each, in another order each time
  uint64_t seed = 1;            ///< of the orders, which are random: what was measured by the end is a fair sample
  std::function<bool()> interrupted;
  std::function<void(const SweepProgress&)> progress;
  /// Called now and then, and at the end, with all that is known.
  std::function<Status(const search::tune::TuningCache&)> keep;
};

struct SweepResult {
  search::tune::TuningCache cache;
  size_t total = 0;             ///< configurations that the constraints allow
  int rounds = 0;               ///< that every configuration has been through, those of earlier calls included
  bool beside = false;          ///< built on other cores than measured on, at the same time
  int jobs = 1;
  double seconds = 0;
  std::string first_refusal;    ///< why the first configuration that did not work did not; empty: all did
  /// One configuration timed again and again, once among every so many others: what the machine itself did meanwhile (ms).
  std::vector<double> control_ms;
};

/// `known`: what an earlier call left, gone on with from the round it was in; kInput where its tunables are others. A cost is the
/// median of a configuration's timings (ms), which are in the order taken. `cache.kernel` is called `name`.
/// The task has one workload.
[[nodiscard]] Result<SweepResult> sweep(const kernel::Kernel& kernel, const std::string& name, const task::Task& task,
                                        std::shared_ptr<target::Toolchain> toolchain, const SweepOptions& options,
                                        const std::optional<search::tune::TuningCache>& known = {});

}  // namespace hone::engine
