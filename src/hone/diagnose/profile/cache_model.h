// A kernel's caches and branches, modelled by Cachegrind where hardware counters may not be read: the kernel, built once
// more for instructions that Valgrind knows, launched once on one thread in the compilers' jail. Takes a build, half a
// second, and twenty to some two hundred times the kernel's time on one thread. One thread.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "hone/diagnose/profile/cachegrind.h"
#include "hone/evaluate/conditions.h"
#include "hone/kernel/kernel.h"
#include "hone/target/toolchain/toolchain.h"

namespace hone::diagnose {

/// What is run in Valgrind, and the time that it is believed to take there.
struct ModelledShape {
  task::Bindings bindings;
  std::string name;  ///< a workload's; empty: a shape made smaller by hone
  double seconds = 0;
};

/// `asked` itself where a call that takes `one_thread_ns` there fits into `seconds` of Valgrind and its tensors into 1 GB;
/// else a smaller workload of `task` that fits and takes an eighth of that at least; else `asked` with its largest symbol
/// halved until it fits, kernel and task permitting. Nothing where there is no such shape. Pure.
[[nodiscard]] std::optional<ModelledShape> shape_that_fits(const kernel::Kernel& kernel, const task::Task& task, const kernel::Limits& limits,
                                                           const task::Workload& asked, double one_thread_ns, double seconds);

class CacheModel {
 public:
  /// `seconds`: what the run in Valgrind may take, as estimated. It is stopped after twice as much, and then tried once more
  /// at a shape that is much smaller.
  explicit CacheModel(std::shared_ptr<target::Toolchain> toolchain, CacheModelGeometry caches = machine_caches(), double seconds = 20)
      : toolchain_(std::move(toolchain)), caches_(caches), seconds_(seconds) {}

  /// kCacheMetrics of an accepted kernel that was timed: modelled, or absent with the reason (no valgrind, another language,
  /// a source that needs AVX-512, …). An Error is ours.
  [[nodiscard]] Status add(const kernel::Kernel& kernel, const task::Task& task, const evaluate::Conditions& times,
                           const kernel::Limits& limits, Metrics& metrics) const;

 private:
  struct Run {
    LineCounts counts;
    std::string why = {};  ///< there are none
    bool late = false;     ///< because it was stopped
  };
  Result<target::BuildOutcome> build(const kernel::Kernel& kernel, const task::Task& task, const task::Bindings& bindings) const;
  Result<Run> run(const kernel::Kernel& kernel, const task::Task& task, const kernel::Limits& limits, const task::Bindings& bindings) const;
  Result<std::string> model(const kernel::Kernel& kernel, const task::Task& task, const evaluate::Conditions& times,
                            const kernel::Limits& limits, Metrics& metrics) const;

  std::shared_ptr<target::Toolchain> toolchain_;
  CacheModelGeometry caches_;
  double seconds_;
};

/// kCacheMetrics, absent.
void no_cache_model(const std::string& why, Metrics& metrics);

}  // namespace hone::diagnose
