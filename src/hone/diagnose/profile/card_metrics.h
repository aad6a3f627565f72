// The table of a card's metrics: what each is, of which of Nsight Compute's counters it is reckoned, and what stands in
// where counters may not be read. Names of counters are those of Nsight Compute 2025.3 for compute capability 8.0 to 10.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hone/diagnose/metrics.h"
#include "hone/diagnose/profile/ncu.h"
#include "hone/kernel/kernel.h"
#include "hone/target/arch_limits.h"
#include "hone/target/toolchain/toolchain.h"
#include "hone/task/task.h"

namespace hone::diagnose {

struct CardMetric {
  std::string_view name, unit;    ///< unit: "share", "ns", "bytes", a count
  std::string_view counters;      ///< what it is reckoned of, separated by spaces
  std::string_view formula;       ///< as documents show it
  std::string_view about;
  enum class Over : uint8_t { kTime, kSum } over;  ///< several launches: mean weighted by time, or their sum
  /// NaN where a counter is missing.
  double (*value)(const LaunchCounters& launch);
};
[[nodiscard]] std::span<const CardMetric> card_metrics();

/// All counters of the table, each once.
[[nodiscard]] std::vector<std::string> wanted_counters();

/// The table reckoned over the launches of one call of a plan. What no launch has is absent.
void add_counters(std::span<const LaunchCounters> launches, Metrics& metrics);

/// From counters alone, for a kernel that nobody timed otherwise: time_ns, memory_light, compute_light, light, read_ and
/// write_ratio, with the card's memory peak as the counters have it (bytes / time / share of the peak). `compute_ns`: 0
/// where the task has no products.
void add_light_of_counters(const task::Cost& cost, double compute_ns, Metrics& metrics);
/// The same of a kernel that took `time_ns` on a card whose memory moves `peak` bytes a nanosecond at most.
void add_light(const task::Cost& cost, double time_ns, double peak, double compute_ns, Metrics& metrics);

/// dram_read_ratio, l2_read_ratio, l1_read_ratio: bytes over the task's least, where the counters were read.
void add_traffic(const task::Cost& cost, Metrics& metrics);

/// From the build and the bound plan, nothing measured: registers, spill_bytes, occupancy_modelled, occupancy_limit (as the
/// share that registers, shared memory and block size allow), waves, launches, workspace_ratio, words of loads and the mix of
/// instructions. Of several launches that with the most threads counts.
void add_card_code(const target::Build& build, const kernel::BoundPlan& plan, const target::ArchLimits* limits, const task::Cost& cost,
                   Metrics& metrics);

}  // namespace hone::diagnose
