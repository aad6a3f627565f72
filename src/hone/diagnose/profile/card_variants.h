// What stands in for counters on a card that lets nobody read them: the kernel timed with one stage left out at a time
// (ptx_variant.h), and run once with instructions that count put into it. Variants compute nonsense, in a process of their own
// on copies of the inputs; nobody reads their outputs. Blocking; nobody else may be timing on the card meanwhile.
#pragma once
#include <map>
#include <span>
#include <string>
#include <vector>

#include "hone/diagnose/metrics.h"
#include "hone/diagnose/profile/ptx_variant.h"
#include "hone/target/card.h"
#include "hone/target/gpu/launch.h"

namespace hone::diagnose {

/// A kernel as PTX, whole and with each stage left out that it has.
struct Variants {
  std::string whole, counting;
  std::map<Without, std::string> texts;
  std::map<Without, std::string> problems;   ///< of stages that are not left out: why not; empty: it has nothing of the kind, so that the variant is the kernel
};
/// kUnavailable where there is no compiler for variants. Thread-safe as the toolchain is; needs no card.
[[nodiscard]] Result<Variants> make_variants(target::Toolchain& toolchain, const kernel::Kernel& kernel, const task::Task& task, const task::Bindings& bindings);

struct VariantReading {
  double whole_ns = 0;                       ///< the kernel itself, compiled the same way; caches cold
  std::map<Without, double> ns;              ///< of the variants that ran
  std::map<Without, std::string> problems;   ///< of the others, as in Variants, and what ended in a fault
  std::vector<uint64_t> counts;              ///< as ptx_counting() says; empty: nothing was counted
  std::string uncounted;                     ///< why not
};

struct VariantCase {
  const Variants* variants;
  target::LaunchJob job;   ///< the kernel as it is built and bound
};
/// One after the other, all in one process where none of them faults. Of a kernel that does not run as PTX: the error (kInput).
[[nodiscard]] Result<std::vector<Result<VariantReading>>> time_variants(const target::CardInfo& card, std::span<const VariantCase> cases);

/// without_loads and the like: time with that left out over the time of the whole. By name as well what counts tell, which
/// counters would tell too: lane_share, load_sectors, excess_sector_share, l1_read_ratio, shared_conflict_share, sm_active_share.
void add_variants(const VariantReading& reading, const target::CardInfo& card, const kernel::BoundPlan& plan, const task::Cost& cost, Metrics& metrics);

}  // namespace hone::diagnose
