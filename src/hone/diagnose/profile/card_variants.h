// What stands in for counters on a card that lets nobody read them: the kernel timed with one stage left out at a time
// (ptx_variant.h), and run once with instructions that count put into it. Variants compute nonsense, in a process of their own
// on copies of the inputs; nobody reads their outputs. Blocking; nobody else may be timing on the card meanwhile.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "hone/diagnose/metrics.h"
#include "hone/diagnose/profile/ptx_variant.h"
#include "hone/target/card.h"
#include "hone/target/device/cuda_launch.h"

namespace hone::diagnose {

struct VariantReading {
  double whole_ns = 0;                       ///< the kernel itself, compiled the same way; caches cold
  std::map<Without, double> ns;              ///< of the variants that ran
  std::map<Without, std::string> problems;   ///< of the others: why they say nothing; empty: it has nothing of the kind, so that the variant is the kernel
  std::vector<uint64_t> counts;              ///< as ptx_counting() says; empty: nothing was counted
  std::string uncounted;                     ///< why not
};

/// `job`: the kernel as it is built and bound. kUnavailable where there is no compiler for variants; kInput where the kernel
/// itself does not run as PTX.
[[nodiscard]] Result<VariantReading> read_variants(const target::CardInfo& card, target::Toolchain& toolchain, const kernel::Kernel& kernel,
                                                   const task::Task& task, const task::Bindings& bindings, const target::LaunchJob& job);

/// without_loads and the like: time with that left out over the time of the whole. By name as well what counts tell, which
/// counters would tell too: lane_share, load_sectors, excess_sector_share, l1_read_ratio, shared_conflict_share, sm_active_share.
void add_variants(const VariantReading& reading, const target::CardInfo& card, const kernel::BoundPlan& plan, const task::Cost& cost, Metrics& metrics);

}  // namespace hone::diagnose
