#include "hone/diagnose/profile/card_variants.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "hone/diagnose/profile/ptx_counting.h"

namespace hone::diagnose {
namespace {

constexpr int kRounds = 7;
constexpr std::chrono::seconds kEach{10};
/// What variants may touch beyond a tensor's end, and beyond a block's shared memory (ptx_variant.h).
constexpr int64_t kSlack = 512;
/// A multiprocessor's schedulers, which issue one instruction a clock each; of every architecture in arch_limits.h.
constexpr double kSchedulers = 4;

struct Variant {
  Without what;
  std::string_view name, about;
};
constexpr Variant kVariants[] = {
    {Without::kGlobalLoads, "without_loads", "loads of global memory"},
    {Without::kGlobalStores, "without_stores", "stores to global memory"},
    {Without::kGlobalMemory, "without_memory", "loads and stores of global memory"},
    {Without::kLocalMemory, "without_local", "arrays of each thread's own in memory"},
    {Without::kAtomicUpdates, "without_atomics", "atomic operations"},
    {Without::kBlockBarriers, "without_barriers", "barriers"},
    {Without::kBankConflicts, "without_conflicts", "bank conflicts"},
    {Without::kSpread, "without_spread", "ways between the addresses of a warp"},
    {Without::kWork, "without_work", "work"},
};

/// The job with so much more shared memory a block, as far as the card has it.
target::LaunchJob with_slack(target::LaunchJob job, const target::CardInfo& card) {
  for (kernel::BoundLaunch& launch : job.plan.launches) launch.shared = std::max(launch.shared, std::min(launch.shared + kSlack, card.shared_max));
  return job;
}

void add_times(const VariantReading& reading, Metrics& metrics) {
  for (const Variant& variant : kVariants) {
    const std::string about = fmt::format("time with its {} left out, over the time of the whole", variant.about);
    if (const auto ran = reading.ns.find(variant.what); ran != reading.ns.end())
      metrics.measured(variant.name, ran->second / reading.whole_ns, about);
    else if (const auto why = reading.problems.find(variant.what); why != reading.problems.end() && !why->second.empty())
      metrics.absent(variant.name, why->second);
    else
      metrics.modelled(variant.name, 1, about + ": it has none");
  }
}

/// Sectors that nobody asked for; one word that a warp shares, or two, is no waste.
double excess_of(const PtxCounts& counts) {
  double all = 0, unused = 0;
  const auto look = [&](double sectors, double each, double used) {
    all += sectors;
    if (each > 2) unused += sectors * std::max(0.0, 1 - used);
  };
  look(counts.sums[kCountLoadSectors], counts.sectors_a_load(), counts.load_use_share());
  look(counts.sums[kCountStoreSectors], counts.sectors_a_store(), counts.store_use_share());
  return all > 0 ? unused / all : 0;
}

void add_counts(const VariantReading& reading, const target::CardInfo& card, const kernel::BoundPlan& plan, const task::Cost& cost, Metrics& metrics) {
  const PtxCounts counts = ptx_counts(reading.counts);
  const auto add = [&](const char* name, double value, const char* about) {
    if (std::isfinite(value)) metrics.measured(name, value, fmt::format("{}, counted by instructions put into it", about));
  };
  add("lane_share", counts.lane_share(), "lanes of a warp that take part in its instructions");
  add("load_sectors", counts.sectors_a_load(), "sectors of 32 bytes that a warp's load touches");
  add("store_sectors", counts.sectors_a_store(), "sectors of 32 bytes that a warp's store touches");
  add("load_use_share", std::min(1.0, counts.load_use_share()), "bytes of the sectors touched that a load asks for");
  add("store_use_share", std::min(1.0, counts.store_use_share()), "the same of stores");
  add("excess_sector_share", excess_of(counts), "sectors of loads and stores that nobody asked for");
  add("shared_conflict_share", counts.conflict_share(), "passes through shared memory that bank conflicts cost");
  if (cost.bytes_read > 0) add("l1_read_ratio", counts.sums[kCountLoadSectors] * kPtxSectorBytes / cost.bytes_read, "bytes of the sectors that loads touch over the task's least");
  // Of a function that is launched twice the clocks would say when the first launch began and the last one ended.
  if (plan.launches.size() == counts.busy_cycles.size())
    add("sm_active_share", counts.active_share(card.sms), "time of a multiprocessor from its first block to its last, over the busiest one's");
  const double issued = counts.sums[kCountWarpInstructions] / card.wave, clocks = reading.whole_ns * card.clock_khz * 1e-6;
  if (clocks > 0)
    metrics.modelled("issue_share", std::min(1.0, issued / (clocks * card.sms * kSchedulers)), "PTX instructions of warps over what the schedulers can issue at the highest clock");
}

}  // namespace

Result<Variants> make_variants(target::Toolchain& toolchain, const kernel::Kernel& kernel, const task::Task& task, const task::Bindings& bindings) {
  Variants all;
  HONE_TRY(all.whole, toolchain.assembly(kernel, task, bindings));
  for (const Variant& variant : kVariants) {
    HONE_TRY(PtxVariant made, ptx_without(all.whole, variant.what));
    if (made.changed > 0) all.texts[variant.what] = std::move(made.text);
    else all.problems[variant.what] = made.kept > 0 ? "all of them decide where it goes, or others wait for them" : "";
  }
  HONE_TRY(all.counting, ptx_counting(all.whole));
  return all;
}

Result<std::vector<Result<VariantReading>>> time_variants(const target::CardInfo& card, std::span<const VariantCase> cases) {
  std::vector<target::TimedJob> jobs;
  for (const VariantCase& one : cases) {
    // The kernel first, so that variants find workspaces as it leaves them, and again at the end, as clocks drift.
    jobs.push_back({one.job, one.variants->whole, kRounds});
    for (const auto& [what, text] : one.variants->texts) jobs.push_back({what == Without::kBankConflicts ? with_slack(one.job, card) : one.job, text, kRounds});
    jobs.push_back({one.job, one.variants->whole, kRounds});
    jobs.push_back({one.job, one.variants->counting, 0});
  }
  HONE_TRY(const std::vector<target::TimedPlan> timed, target::time_plans(card, jobs, kSlack, kEach));
  std::vector<Result<VariantReading>> readings;
  auto next = timed.begin();
  for (const VariantCase& one : cases) {
    const target::TimedPlan& first = *next++;
    VariantReading reading{.problems = one.variants->problems};
    for (const auto& [what, text] : one.variants->texts) {
      const target::TimedPlan& ran = *next++;
      if (ran.problem.empty()) reading.ns[what] = ran.ns;
      else reading.problems[what] = ran.problem;
    }
    const target::TimedPlan &again = *next++, &counted = *next++;
    reading.whole_ns = again.problem.empty() ? 0.5 * (first.ns + again.ns) : first.ns;
    reading.counts = counted.counts;
    reading.uncounted = counted.problem;
    if (first.problem.empty()) readings.emplace_back(std::move(reading));
    else readings.emplace_back(fail(ErrorCode::kInput, "as PTX it does not run: " + first.problem));
  }
  return readings;
}

void add_variants(const VariantReading& reading, const target::CardInfo& card, const kernel::BoundPlan& plan, const task::Cost& cost, Metrics& metrics) {
  add_times(reading, metrics);
  if (!reading.counts.empty()) add_counts(reading, card, plan, cost, metrics);
}

}  // namespace hone::diagnose
