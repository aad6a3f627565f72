// The rules for cards: where the time of a kernel on a GPU goes. docs/diagnosis_cards.md has the formulas.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "hone/diagnose/reckoner.h"

namespace hone::diagnose {
namespace {

/// As for CPUs (rules.cc).
constexpr double kCardAtLight = 0.93;
/// What a launch costs at least, the gap to the next one included (nanoseconds).
constexpr double kLaunchNs = 2000;
/// Warps in flight, of the most there could be, from which on more of them seldom help.
constexpr double kWarpsEnough = 0.5;
/// Lanes that take part in an instruction, on average, where nothing diverges but the ends.
constexpr double kLanesEnough = 0.9;
/// Reads of as many times the least bytes are nobody's fault.
constexpr double kReadsEnough = 1.25;
/// From this share on a unit is what a kernel waits for.
constexpr double kBusy = 0.6;
/// From this share on warps wait for nothing but their own instructions.
constexpr double kAtInstructions = 0.8;
/// How much of what arithmetic allows an action usually gets. Estimates.
constexpr double kReachRewrite = 0.5, kReachPattern = 0.3, kReachTune = 0.3, kReachBlind = 0.05;

class CardReckoning : Reckoner {
 public:
  CardReckoning(const Metrics& metrics, const Subject& subject) : Reckoner(metrics, subject) {
    light_ = std::clamp(get("light", 0), 0.0, 1.0);
    room_ = 1 - light_;
    least_ = std::clamp(std::max(get("memory_light", 0), get("compute_light", 0)), 0.0, 1.0);
    active_ = get("sm_active_share", 1);
    dram_ = get("dram_share", 0), l2_ = get("l2_share", 0), l1_ = get("l1_share", 0);
    issue_ = active_ * get("issue_share", 0);
    arithmetic_ = active_ * get("arithmetic_share", 0), matrix_ = active_ * get("tensor_share", 0);
    waiting_ = get("memory_stall_share", 0);
    counted_ = counted(metrics);
    varied_ = !counted_ && metrics.get("without_memory").has_value();
  }

  Diagnosis conclude() {
    Diagnosis out;
    out.light = light_;
    if (!metrics_.get("light")) {
      out.bottleneck = kUnknown;
      out.says = "it could not be timed against the speed of light";
      return out;
    }
    if (light_ >= kCardAtLight) {
      out.bottleneck = kLight;
      out.says = fmt::format("at {:.2f} of the least time this card could take: little is left to win", light_);
      out.evidence = evidence({"light", "memory_light", "compute_light", "dram_share"});
      return out;
    }
    launches();
    passes();
    spills();
    if (counted_) {
      tail();
      accesses();
      banks();
      divergence();
      barriers();
      atomics();
      latency();
      units();
    } else if (varied_) {
      tail();
      left_out();
    } else {
      blind();
    }
    others();
    conclude_with(out, {dram_ >= kBusy ? kMemory : kUnknown,
                        counted_  ? fmt::format("memory is {:.0f} % busy, and no metric tells what the rest of its time goes to", 100 * dram_)
                        : varied_ ? "nothing was counted, and it is no faster with any stage left out"
                                  : "nothing was counted, and its code and plan tell no cause",
                        {"light", "memory_light", "dram_share", "issue_share"}});
    return out;
  }

 private:
  [[nodiscard]] double get(std::string_view name, double otherwise) const { return metrics_.get_or(name, otherwise); }
  /// The share of its time in which no unit is what it waits for.
  [[nodiscard]] double idle() const { return std::max(0.0, active_ - std::max({dram_, l2_, l1_, issue_, arithmetic_, matrix_})); }

  /// Of a warp's. Short ways apart are predicates, which cost the instructions of one way: they count half.
  [[nodiscard]] double lanes_at_work() const {
    const double lanes = std::clamp(get("lane_share", 1), 0.0, 1.0);
    return 0.5 * (lanes + std::min(lanes, get("predicated_lane_share", lanes)));
  }

  void patterns(std::string_view cause, double saved, const std::string& why) {
    for (const std::string& pattern : subject_.patterns) act(Action::Kind::kPattern, pattern, 0, 0, cause, saved, kReachPattern, why);
  }

  /// What helps against a cause, whether counters or a stage that was left out tell of it.
  void mend(std::string_view name, double saved, const std::string& why) {
    if (name == kUncoalesced) {
      rewrite("neighbouring threads on neighbouring addresses", name, saved, kReachRewrite, why);
      rewrite("stage through shared memory", name, saved, 0.9 * kReachRewrite, why);
    } else if (name == kRedundant) {
      for (const Role role : {Role::kTile, Role::kHeld}) tune(role, +1, name, saved, kReachTune, why);
      rewrite("keep what is read again in shared memory or registers", name, saved, kReachRewrite, why);
    } else if (name == kDivergence) {
      rewrite("the same work for all lanes of a warp", name, saved, kReachRewrite, why);
    } else if (name == kAtomics) {
      rewrite("reduce within a block first", name, saved, kReachRewrite, why);
    }
    patterns(name, saved, why);
  }

  void launches() {
    const auto count = metrics_.get("launches"), time = metrics_.get("time_ns");
    if (!count || !time || *time <= 0) return;
    const double share = *count * kLaunchNs / *time;
    if (share < 0.1) return;
    const double saved = cause(kLaunches, share, fmt::format("launch-bound: {:.0f} launches in {:.1f} us", *count, *time / 1000), {"launches", "time_ns"});
    const std::string why = fmt::format("{:.0f} launches of {:.1f} us at least", *count, kLaunchNs / 1000);
    rewrite("fuse launches", kLaunches, saved * (1 - 1 / std::max(1.0, *count)), kReachRewrite, why);
    patterns(kLaunches, saved, why);
  }

  void passes() {
    const double extra = get("workspace_ratio", 0);
    if (extra < 0.1 || get("compute_light", 0) > get("memory_light", 0)) return;
    const double share = counted_ ? std::max({dram_, l2_, 0.9 * active_ * waiting_}) : 1 - 0.5 * light_;
    const double saved = cause(kPasses, extra / (1 + extra) * share,
                               fmt::format("memory-bound: its workspaces move {:.2f} times the least bytes again", extra), {"workspace_ratio", "launches", "dram_share"});
    const std::string why = fmt::format("{:.2f} of all bytes are workspaces'", extra / (1 + extra));
    patterns(kPasses, saved, why);
    rewrite("fuse passes", kPasses, saved, kReachRewrite, why);
  }

  void spills() {
    const double local = get("local_share", 0), bytes = get("spill_bytes", 0), arrays = saved_without("without_local");
    if (local < 0.02 && bytes <= 0 && arrays <= 0) return;
    const double share = counted_ ? local * std::max({waiting_, l1_, l2_, dram_}) : std::max(arrays, std::min(0.4, bytes / 512));
    if (share < 0.01) return;
    const double saved = cause(kSpills, share,
                               counted_               ? fmt::format("{:.0f} % of the sectors it moves are spilled registers", 100 * local)
                               : arrays > bytes / 512 ? fmt::format("without arrays that lie in local memory it takes {:.2f} of its time", get("without_local", 1))
                                                      : fmt::format("a thread spills {:.0f} bytes of registers", bytes),
                               {"local_share", "without_local", "spill_bytes", "registers", "memory_stall_share"});
    const std::string why = fmt::format("{:.2f} of the time moves or awaits spilled registers", share);
    for (const Role role : {Role::kHeld, Role::kUnroll, Role::kVector, Role::kTile, Role::kGrain}) tune(role, -1, kSpills, saved, kReachTune, why);
    tune(Role::kThreads, -1, kSpills, saved, 0.5 * kReachTune, why);
    rewrite("fewer values in registers", kSpills, saved, kReachRewrite, why);
  }

  /// Multiprocessors without a block: too few blocks, one that takes longer, a last round that does not fill the card.
  void tail() {
    const double time = get("time_ns", 0), begun = time > 0 ? std::min(1.0, get("launches", 1) * kLaunchNs / time) : 0;
    const double share = std::max(0.0, 1 - active_ - begun);
    if (share < 0.03) return;
    const double saved = cause(kTail, share,
                               fmt::format("occupancy-bound: multiprocessors have a block {:.0f} % of the time", 100 * active_),
                               {"sm_active_share", "sm_balance", "fewest_blocks", "waves"});
    const std::string why = fmt::format("1 - sm_active_share {:.2f}, less what a launch takes", active_);
    tune(Role::kParts, +1, kTail, saved, kReachTune, why);
    for (const Role role : {Role::kGrain, Role::kUnroll, Role::kHeld, Role::kVector, Role::kTile, Role::kThreads})
      tune(role, -1, kTail, saved, 0.5 * kReachTune, why);
    rewrite("more and smaller blocks", kTail, saved, kReachRewrite, why);
    patterns(kTail, saved, why);
  }

  /// Sectors that nobody asked for, and sectors asked for again and again, at the level that is busiest with them.
  void accesses() {
    const double excess = std::max(0.0, get("excess_sector_share", 0));
    // Waiting for memory is waiting for sectors only as far as there are many of them.
    const double sectors = std::max({dram_, l2_, l1_, active_ * std::max(waiting_, get("queue_stall_share", 0))});
    if (excess > 0.1) {
      const double saved = cause(kUncoalesced, excess * sectors,
                                 fmt::format("memory-bound: {:.0f} % of the sectors its loads and stores touch are not needed", 100 * excess),
                                 {"excess_sector_share", "load_sectors", "load_use_share", "store_sectors", "store_use_share", "l2_share", "memory_stall_share"});
      const std::string why = fmt::format("excess sectors {:.2f}, times {:.2f}: the busiest level, or waiting for memory", excess, sectors);
      mend(kUncoalesced, saved, why);
    }
    double worst = 0, ratio = 0;
    const char* level = "";
    const auto look = [&](const char* name, double busy, double needed, const char* text) {
      // What workspaces are read for is the passes' fault.
      const double times = get(name, 0) * needed - get("workspace_read_ratio", 0);
      if (times <= kReadsEnough) return;
      if (const double share = (1 - 1 / times) * busy; share > worst) worst = share, ratio = times, level = text;
    };
    // Further out a level waits for the ones behind it: it is blamed for its own work, and for waiting as far as that is
    // nobody else's.
    const double waits = active_ * waiting_ * (1 - excess);
    look("dram_read_ratio", std::max(dram_, 0.9 * waits), 1, "memory");
    look("l2_read_ratio", std::max(l2_, 0.8 * waits), 1 - excess, "the second-level cache");
    look("l1_read_ratio", std::max(l1_, 0.7 * waits), 1 - excess, "the first-level cache");
    if (worst < 0.05) return;
    const double saved = cause(kRedundant, worst, fmt::format("memory-bound: it reads {:.1f} times the least bytes from {}", ratio, level),
                               {"dram_read_ratio", "l2_read_ratio", "l1_read_ratio", "dram_share", "l2_share", "l1_share"});
    const std::string why = fmt::format("1 - 1 / {:.1f} of the reads, at {:.2f} of the time", ratio, worst / (1 - 1 / ratio));
    mend(kRedundant, saved, why);
  }

  void banks() {
    const double conflicts = get("shared_conflict_share", 0), shared = get("shared_share", 0);
    if (conflicts < 0.1 || shared < 0.05) return;
    const double busy = std::max(l1_ * shared, active_ * get("shared_stall_share", 0));
    const double saved = cause(kBanks, conflicts * busy,
                               fmt::format("{:.0f} % of the passes through shared memory are bank conflicts", 100 * conflicts),
                               {"shared_conflict_share", "shared_share", "l1_share", "shared_stall_share"});
    const std::string why = fmt::format("conflicts {:.2f}, times {:.2f} of the time at or awaiting shared memory", conflicts, busy);
    rewrite("pad or swizzle shared memory", kBanks, saved, kReachRewrite, why);
  }

  void divergence() {
    const double lanes = lanes_at_work();
    if (lanes > kLanesEnough) return;
    const double working = std::max({issue_, arithmetic_, active_ * (get("execution_stall_share", 0) + get("ready_share", 0))});
    const double saved = cause(kDivergence, (1 - lanes) * working,
                               fmt::format("compute-bound: {:.1f} of a warp's 32 lanes take part in an instruction", 32 * lanes),
                               {"lane_share", "predicated_lane_share", "issue_share", "execution_stall_share"});
    const std::string why = fmt::format("idle lanes {:.2f}, times {:.2f} of the time at instructions", 1 - lanes, working);
    mend(kDivergence, saved, why);
  }

  void barriers() {
    // Others may be at work meanwhile, often on the way to the same barrier.
    const double share = active_ * get("barrier_stall_share", 0) * (1 - 0.5 * std::max({dram_, l2_, l1_, issue_}));
    if (share < 0.05) return;
    const double saved = cause(kBarriers, share,
                               fmt::format("latency-bound: warps wait for others of their block {:.0f} % of their time", 100 * get("barrier_stall_share", 0)),
                               {"barrier_stall_share", "issue_share", "block_threads", "code_barriers"});
    const std::string why = fmt::format("warps at barriers {:.2f} of the time, less half of what others do meanwhile", share);
    tune(Role::kThreads, -1, kBarriers, saved, kReachTune, why);
    tune(Role::kStages, +1, kBarriers, saved, 0.5 * kReachTune, why);
    tune(Role::kUnroll, +1, kBarriers, saved, 0.3 * kReachTune, why);
    rewrite("fewer barriers", kBarriers, saved, kReachRewrite, why);
  }

  void atomics() {
    const double share = get("atomic_share", 0);
    if (share < 0.05) return;
    const double busy = std::max({l2_, active_ * waiting_, idle()});
    const double saved = cause(kAtomics, share * busy, fmt::format("{:.0f} % of what the second-level cache does is atomic", 100 * share),
                               {"atomic_share", "l2_share", "memory_stall_share"});
    const std::string why = fmt::format("atomic operations {:.2f}, times {:.2f} of the time", share, busy);
    mend(kAtomics, saved, why);
  }

  /// Waiting for memory while nothing is busy: too few warps, or too little asked for by each.
  void latency() {
    const double share = idle() * std::max(waiting_, 0.5 * get("shared_stall_share", 0));
    if (share < 0.02) return;
    const double limit = get("occupancy_limit", get("occupancy_modelled", 1));
    const double few = std::clamp(1 - limit / kWarpsEnough, 0.0, 1.0);
    if (few > 0.05) {
      const bool registers = get("limited_by_registers", 0) > 0, shared = get("limited_by_shared", 0) > 0;
      const char* const by = registers ? "registers allow" : shared ? "shared memory allows" : "the size of its blocks allows";
      const double saved = cause(kOccupancy, idle() * std::max(waiting_, 0.7) * std::sqrt(few),
                                 fmt::format("occupancy-bound: {} {:.0f} % of the warps that a multiprocessor could hold", by, 100 * limit),
                                 {"occupancy_limit", "occupancy", "registers", "block_threads", "memory_stall_share"});
      const std::string why = fmt::format("idle {:.2f} of the time, while {} {:.2f} of the warps", idle(), by, limit);
      if (registers)
        for (const Role role : {Role::kHeld, Role::kUnroll, Role::kVector, Role::kTile}) tune(role, -1, kOccupancy, saved, kReachTune, why);
      if (shared)
        for (const Role role : {Role::kStages, Role::kTile}) tune(role, -1, kOccupancy, saved, kReachTune, why);
      if (!registers && !shared) tune(Role::kThreads, +1, kOccupancy, saved, kReachTune, why);
      tune(Role::kParts, +1, kOccupancy, saved, 0.5 * kReachTune, why);
      rewrite(registers ? "fewer registers a thread" : shared ? "less shared memory a block" : "larger blocks", kOccupancy, saved, kReachRewrite, why);
    }
    const double saved = cause(kFewBytes, share * (1 - std::sqrt(few)),
                               fmt::format("latency-bound: {:.0f} % of warps' waiting is for memory, which is {:.0f} % busy", 100 * waiting_, 100 * dram_),
                               {"memory_stall_share", "dram_share", "occupancy", "load_sectors", "code_load_bytes"});
    const std::string why = fmt::format("idle {:.2f} of the time, memory's part of the waiting {:.2f}", idle(), waiting_);
    for (const Role role : {Role::kUnroll, Role::kStages, Role::kHeld}) tune(role, +1, kFewBytes, saved, kReachTune, why);
    // No load is wider than 16 bytes.
    if (get("code_load_bytes", 0) < 14) tune(Role::kVector, +1, kFewBytes, saved, kReachTune, why);
    tune(Role::kParts, +1, kFewBytes, saved, 0.5 * kReachTune, why);
    rewrite("wider loads, several on their way at a time", kFewBytes, saved, kReachRewrite, why);
  }

  /// Units at work for longer than the least.
  void units() {
    const double most = std::max({issue_, arithmetic_, matrix_});
    // Warps that wait for nothing but their own instructions keep a scheduler from its work too: by latency, by operands.
    const double working = active_ * (get("execution_stall_share", 0) + get("ready_share", 0));
    if (most < kBusy && working > kAtInstructions) {
      const double saved = cause(kIssue, 0.6 * std::max(0.0, working * lanes_at_work() - least_),
                                 fmt::format("compute-bound: warps are at instructions {:.0f} % of their time, and schedulers {:.0f} % busy", 100 * working, 100 * issue_),
                                 {"execution_stall_share", "ready_share", "issue_share", "arithmetic_share"});
      const std::string why = fmt::format("at instructions {:.2f} of the time; the least is {:.2f}", working, least_);
      for (const Role role : {Role::kUnroll, Role::kHeld}) tune(role, +1, kIssue, saved, 0.5 * kReachTune, why);
      rewrite("more independent instructions", kIssue, saved, kReachRewrite, why);
      return;
    }
    if (most < kBusy) return;
    // A unit that takes most of what is issued is what the schedulers wait for.
    const bool matrix = matrix_ >= 0.9 * most, arithmetic = arithmetic_ >= 0.9 * most;
    // Lanes that idle are divergence's.
    const double lanes = lanes_at_work();
    const std::string_view name = matrix ? kMatrix : arithmetic ? kArithmetic : kIssue;
    const double saved = cause(name, 0.7 * std::max(0.0, most * lanes - least_),
                               fmt::format("compute-bound: {} are {:.0f} % busy", matrix ? "matrix units" : arithmetic ? "arithmetic units" : "schedulers", 100 * most),
                               {"issue_share", "arithmetic_share", "special_share", "tensor_share", "compute_light"});
    const std::string why = fmt::format("busy {:.2f} of the time; the least is {:.2f}", most, least_);
    for (const Role role : {Role::kVector, Role::kUnroll, Role::kHeld}) tune(role, +1, name, saved, 0.5 * kReachTune, why);
    if (get("special_share", 0) > 0.5 * most) rewrite("fewer special functions and divisions", name, saved, kReachRewrite, why);
    if (!matrix && get("compute_light", 0) > 0) rewrite("use matrix units", name, saved, kReachRewrite, why);
    rewrite("fewer instructions for an element", name, saved, 0.8 * kReachRewrite, why);
    patterns(name, saved, why);
  }

  /// What the kernel saved with `what` left out, of its time.
  [[nodiscard]] double saved_without(std::string_view what) const { return std::clamp(1 - get(what, 1), 0.0, 1.0); }

  /// Nothing was counted, but the kernel was timed with one stage left out at a time: a stage costs what its absence saves, as
  /// far as nobody else's absence explains it.
  void left_out() {
    const double excess = get("excess_sector_share", 0), conflicts = get("shared_conflict_share", 0), reads = saved_without("without_loads");
    const double spread = excess > 0.1 ? saved_without("without_spread") : 0, banks = conflicts > 0.1 ? saved_without("without_conflicts") : 0;
    const double barriers = saved_without("without_barriers"), atomics = saved_without("without_atomics");
    const double times = get("l1_read_ratio", 1) * (1 - excess) - get("workspace_read_ratio", 0);
    const double again = times > kReadsEnough ? (1 - 1 / times) * std::max(0.0, reads - spread) : 0;
    spread_out(excess, spread);
    read_again(times, again);
    if (banks > 0.02) {
      const double saved = cause(kBanks, banks, fmt::format("without bank conflicts it takes {:.2f} of its time", get("without_conflicts", 1)),
                                 {"without_conflicts", "shared_conflict_share"});
      rewrite("pad or swizzle shared memory", kBanks, saved, kReachRewrite, "timed without conflicts");
    }
    if (barriers > 0.02) {
      const double saved = cause(kBarriers, barriers, fmt::format("without its barriers it takes {:.2f} of its time", get("without_barriers", 1)),
                                 {"without_barriers", "block_threads", "code_barriers"});
      const std::string why = "timed without barriers";
      tune(Role::kThreads, -1, kBarriers, saved, kReachTune, why);
      tune(Role::kStages, +1, kBarriers, saved, 0.5 * kReachTune, why);
      rewrite("fewer barriers", kBarriers, saved, kReachRewrite, why);
    }
    if (atomics > 0.02) {
      const double saved = cause(kAtomics, atomics, fmt::format("without its atomic operations it takes {:.2f} of its time", get("without_atomics", 1)),
                                 {"without_atomics"});
      mend(kAtomics, saved, "timed without atomic operations");
    }
    const double work = std::clamp(get("without_memory", 1) - banks - barriers - atomics - get("without_work", 0), 0.0, 1.0);
    at_instructions(work);
    waiting_for_memory(active_ * (reads - spread - again - barriers) - light_);
  }

  void spread_out(double excess, double spread) {
    if (spread < 0.02) return;
    const double saved = cause(kUncoalesced, spread,
                               fmt::format("memory-bound: with neighbouring threads on neighbouring addresses it takes {:.2f} of its time", get("without_spread", 1)),
                               {"without_spread", "excess_sector_share", "load_sectors", "store_sectors"});
    const std::string why = fmt::format("timed with neighbouring addresses; excess sectors {:.2f}", excess);
    mend(kUncoalesced, saved, why);
  }

  void read_again(double times, double again) {
    if (again < 0.05) return;
    const double saved = cause(kRedundant, again, fmt::format("memory-bound: its loads ask for {:.1f} times the least bytes, and without loads it takes {:.2f} of its time",
                                                              times, get("without_loads", 1)),
                               {"l1_read_ratio", "without_loads"});
    const std::string why = fmt::format("1 - 1 / {:.1f} of what its loads cost", times);
    mend(kRedundant, saved, why);
  }

  /// `work`: of its time, what is left without memory and without what else has a name.
  void at_instructions(double work) {
    const double lanes = std::clamp(get("lane_share", 1), 0.0, 1.0);
    if (lanes < kLanesEnough) {
      const double saved = cause(kDivergence, (1 - lanes) * work, fmt::format("compute-bound: {:.1f} of a warp's 32 lanes take part in an instruction", 32 * lanes),
                                 {"lane_share", "without_memory"});
      const std::string why = fmt::format("idle lanes {:.2f}, times {:.2f} of the time without memory", 1 - lanes, work);
      mend(kDivergence, saved, why);
    }
    if (work < kBusy) return;
    const std::string_view name = issue_ >= kBusy ? kIssue : kArithmetic;
    const double saved = cause(name, 0.7 * std::max(0.0, work * lanes - least_),
                               fmt::format("compute-bound: without memory it takes {:.2f} of its time", get("without_memory", 1)),
                               {"without_memory", "issue_share", "code_special_share"});
    const std::string why = fmt::format("at instructions {:.2f} of the time; the least is {:.2f}", work, least_);
    for (const Role role : {Role::kVector, Role::kUnroll, Role::kHeld}) tune(role, +1, name, saved, 0.5 * kReachTune, why);
    rewrite("fewer instructions for an element", name, saved, 0.8 * kReachRewrite, why);
    patterns(name, saved, why);
  }

  /// `share`: of the time, what loads cost beyond what their bytes take.
  void waiting_for_memory(double share) {
    if (share < 0.02) return;
    const double limit = get("occupancy_modelled", 1), few = std::clamp(1 - limit / kWarpsEnough, 0.0, 1.0);
    if (few > 0.05) {
      const double saved = cause(kOccupancy, share * std::sqrt(few), fmt::format("occupancy-bound: {:.0f} % of the warps fit, and without loads it takes {:.2f} of its time",
                                                                                 100 * limit, get("without_loads", 1)),
                                 {"occupancy_modelled", "registers", "block_threads", "without_loads"});
      const std::string why = fmt::format("{:.2f} of the warps fit a multiprocessor", limit);
      for (const Role role : {Role::kHeld, Role::kUnroll}) tune(role, -1, kOccupancy, saved, kReachTune, why);
      tune(Role::kThreads, get("limited_by_registers", 0) + get("limited_by_shared", 0) > 0 ? -1 : +1, kOccupancy, saved, kReachTune, why);
      rewrite("more warps a multiprocessor", kOccupancy, saved, kReachRewrite, why);
    }
    const double saved = cause(kFewBytes, share * (1 - std::sqrt(few)), fmt::format("latency-bound: without loads it takes {:.2f} of its time, which its bytes do not explain",
                                                                                    get("without_loads", 1)),
                               {"without_loads", "memory_light", "code_load_bytes"});
    const std::string why = fmt::format("loads cost {:.2f} of the time more than their bytes take", share);
    for (const Role role : {Role::kUnroll, Role::kStages, Role::kHeld}) tune(role, +1, kFewBytes, saved, kReachTune, why);
    if (get("code_load_bytes", 0) < 14) tune(Role::kVector, +1, kFewBytes, saved, kReachTune, why);
    rewrite("wider loads, several on their way at a time", kFewBytes, saved, kReachRewrite, why);
  }

  /// Nothing was counted: what the build and the plan tell. Shares are guesses, smaller than what is counted.
  void blind() {
    const double limit = get("occupancy_modelled", 1), word = get("code_load_bytes", 16), waves = get("waves", 8);
    const double hot = std::clamp(get("hot_share", 1), 0.0, 1.0);
    if (limit < kWarpsEnough) {
      const double saved = cause(kOccupancy, room_ * (1 - limit / kWarpsEnough) * 0.8,
                                 fmt::format("occupancy-bound, by its code: {:.0f} % of the warps fit", 100 * limit), {"occupancy_modelled", "registers", "block_threads"});
      const std::string why = fmt::format("{:.2f} of the warps fit a multiprocessor", limit);
      for (const Role role : {Role::kHeld, Role::kUnroll}) tune(role, -1, kOccupancy, saved, kReachTune, why);
      tune(Role::kThreads, get("limited_by_registers", 0) + get("limited_by_shared", 0) > 0 ? -1 : +1, kOccupancy, saved, kReachTune, why);
    }
    if (waves < 1) {
      const double saved = cause(kTail, room_ * (1 - waves) * 0.8, fmt::format("occupancy-bound, by its plan: blocks for {:.2f} of the card", waves), {"waves", "fewest_blocks"});
      const std::string why = fmt::format("blocks for {:.2f} of the card", waves);
      tune(Role::kParts, +1, kTail, saved, kReachTune, why);
      tune(Role::kGrain, -1, kTail, saved, kReachTune, why);
      rewrite("more and smaller blocks", kTail, saved, kReachRewrite, why);
    }
    if (word > 0 && word < 16 && hot < 0.95) {
      const double saved = cause(kFewBytes, (1 - hot) * (1 - word / 16) * 0.8, fmt::format("latency-bound, by its code: {:.0f} bytes a load", word),
                                 {"code_load_bytes", "hot_share", "occupancy_modelled"});
      const std::string why = fmt::format("loads of {:.0f} bytes, and memory's part of the time {:.2f}", word, 1 - hot);
      for (const Role role : {Role::kVector, Role::kUnroll}) tune(role, +1, kFewBytes, saved, kReachTune, why);
    }
  }

  void others() {
    const std::string why = fmt::format("{:.2f} of the time is beyond the least, and no metric says that this kernel can save it", room_);
    const bool untuned = subject_.header.pattern.empty() || subject_.header.pattern == "plain";
    for (const std::string& pattern : subject_.patterns)
      act(Action::Kind::kPattern, pattern, 0, 0, kUnknown, room_, untuned ? kReachPattern : 0.2 * kReachPattern, why);
    for (const Role role : {Role::kVector, Role::kUnroll, Role::kHeld, Role::kThreads, Role::kGrain, Role::kParts, Role::kStages, Role::kTile, Role::kOther})
      for (const int direction : {-1, +1}) tune(role, direction, kUnknown, room_, kReachBlind, why);
  }

  double light_ = 0, least_ = 0;
  /// Of the time: a multiprocessor has a block; the unit is busy.
  double active_ = 1, dram_ = 0, l2_ = 0, l1_ = 0, issue_ = 0, arithmetic_ = 0, matrix_ = 0;
  double waiting_ = 0;            ///< of warps' waiting: for memory
  bool counted_ = false;
  bool varied_ = false;           ///< not counted, but timed with stages left out
};

}  // namespace

Diagnosis diagnose_card(const Metrics& metrics, const Subject& subject) { return CardReckoning(metrics, subject).conclude(); }

}  // namespace hone::diagnose
