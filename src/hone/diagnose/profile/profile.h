// A kernel's metrics on one workload, gathered from what was timed, from its code and from its plan. Tools run in the
// compilers' jail; where one is missing its metrics are absent and everything else stands.
#pragma once
#include <string>
#include <vector>

#include "hone/diagnose/metrics.h"
#include "hone/evaluate/conditions.h"
#include "hone/kernel/kernel.h"
#include "hone/target/calibrate/peaks.h"
#include "hone/target/toolchain/toolchain.h"

namespace hone::diagnose {

struct Profile {
  std::string workload;
  task::Bindings bindings;
  double weight = 1;
  Metrics metrics;
};

/// Shares of the least time, from times: light, memory_light, compute_light, bandwidth, hot_share, thread_efficiency,
/// write_share; the times themselves in nanoseconds. `peaks`: null leaves bandwidth_share out. Pure.
void add_times(const evaluate::Conditions& times, const target::CpuPeaks* peaks, Metrics& metrics);

/// instructions_per_cycle, cache_miss_share, branch_miss_share; absent, with the reason, where nothing was counted. Pure.
void add_counters(const evaluate::Conditions& times, Metrics& metrics);

/// Everything there is of an accepted kernel on a CPU. `limits` as its plan was bound with. With `remarks` the compiler is
/// asked which loops it did not vectorise (missed_loops, modelled), which takes as long as a build.
[[nodiscard]] Result<std::vector<Profile>> profile_cpu(const kernel::Kernel& kernel, const task::Task& task,
                                                       const std::vector<evaluate::Conditions>& times, const target::Build& build,
                                                       const kernel::Limits& limits, bool remarks);

/// The profile with most to win: weight times the logarithm of the distance from the speed of light. Null when empty.
[[nodiscard]] const Profile* most_to_win(const std::vector<Profile>& profiles);

}  // namespace hone::diagnose
