#include "hone/diagnose/rules.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include <fmt/format.h>

#include "hone/diagnose/reckoner.h"

namespace hone::diagnose {
namespace {

/// Near enough to the speed of light that nothing is worth a try.
constexpr double kAtLight = 0.93;
/// So far beyond it that the measurement was no good: what kernels gain over the stream twin by luck is a few per cent.
constexpr double kPastLight = 1.25;
/// How much of what arithmetic allows an action usually gets. Estimates: hone_engine_long_test --gtest_filter='DiagnosisLongTest.*' says how they fare.
constexpr double kReachStores = 0.7, kReachUnroll = 0.5, kReachAhead = 0.3, kReachBalance = 0.6, kReachBlocks = 0.5, kReachSpills = 0.5,
                 kReachPattern = 0.5, kReachScalar = 0.85, kReachCompiler = 0.15, kReachRewrite = 0.4, kReachTile = 0.15;
/// What handing out a block costs a thread (nanoseconds), and making its loops' beginnings and ends.
constexpr double kBlockNs = 60;
/// Accumulators that hide the latency of an addition: four cycles, two a cycle.
constexpr double kManyChains = 8;
/// From this share of a loop on it is what its loop calls that takes the time.
constexpr double kMostlyCalls = 0.5;
/// What a miss of the first level costs where others are under way too (cycles), and what a core does where nothing misses.
constexpr double kMissCycles = 5, kInstructionsPerCycle = 3;

/// The share of a kernel's time each part takes: 1 is all of it.
struct Parts {
  double light, memory, compute;  ///< what the machine could not do faster
  double core;                    ///< with the data in the caches; 1 where that is not known
  bool core_known;
  [[nodiscard]] double least() const { return std::max(memory, compute); }
  /// What any repair may save at most.
  [[nodiscard]] double room() const { return 1 - std::min(light, 1.0); }
};

class Reckoning : Reckoner {
 public:
  Reckoning(const Metrics& metrics, const Subject& subject) : Reckoner(metrics, subject) {
    parts_.light = std::clamp(metrics.get_or("light", 0), 0.0, 1.0);
    parts_.memory = std::clamp(metrics.get_or("memory_light", 0), 0.0, 1.0);
    parts_.compute = std::clamp(metrics.get_or("compute_light", 0), 0.0, 1.0);
    parts_.core_known = metrics.get("hot_share").has_value();
    parts_.core = std::clamp(metrics.get_or("hot_share", 1), 0.0, 1.0);
    room_ = parts_.room();
  }

  Diagnosis conclude() {
    Diagnosis out;
    out.light = parts_.light;
    if (!metrics_.get("light")) {
      out.bottleneck = kUnknown;
      out.says = "it could not be timed against the speed of light";
      return out;
    }
    if (*metrics_.get("light") > kPastLight) {
      out.bottleneck = kUnknown;
      out.says = fmt::format("it took {:.2f} of the least time that was measured for this machine: one of the two was disturbed, and nothing follows from them",
                             1 / *metrics_.get("light"));
      out.evidence = evidence({"light", "memory_light", "compute_light"});
      return out;
    }
    if (parts_.light >= kAtLight) {
      out.bottleneck = kLight;
      out.says = fmt::format("at {:.2f} of the least time this machine could take: little is left to win", parts_.light);
      out.evidence = evidence({"light", "memory_light", "compute_light"});
      return out;
    }
    stores();
    latency();
    dependencies();
    spills();
    scalar();
    balance();
    blocks();
    passes();
    redundant();
    instructions();
    others();
    conclude_with(out, {parts_.memory >= parts_.core ? kMemory : kUnknown, "no metric tells what its time beyond the speed of light goes to",
                        {"light", "memory_light", "hot_share"}});
    return out;
  }

 private:
  /// Stores that fetch each line before they fill it, or that leave the caches where these would have taken them. The
  /// stream twin, timed both ways on this shape, says which is dearer.
  void stores() {
    const auto ratio = metrics_.get("stream_store_gain");
    const double written = metrics_.get_or("write_share", 0);
    if (!ratio || written <= 0 || *ratio <= 0) return;
    const bool streams = metrics_.get_or("stream_store_share", 0) > 0 || current(Role::kStream).value_or(0) > 0;
    // Time with the stores as they are over time with the others. The others save at the most that lines are fetched before they are filled, or that they
    // leave the caches: what is written, once. A copy that writes next to nothing and is the dearer says how the machine was at that moment.
    const double most = streams ? 1 / std::max(1e-9, 1 - written) : 1 + written;
    const double dearer = std::min(most, streams ? 1 / *ratio : *ratio);
    if (dearer <= 1.01) return;
    const double saved = cause(kStores, parts_.memory * (dearer - 1),
                               fmt::format("its stores {}: on this shape that costs a plain copy {:.2f} times as much",
                                           streams ? "bypass the caches" : "go through the caches", dearer),
                               {"stream_store_gain", "write_share", "memory_light", "stream_store_share"});
    const std::string why = fmt::format("memory's part {:.2f} of the time, times {:.2f} - 1", parts_.memory, dearer);
    if (current(Role::kStream))
      tune(Role::kStream, streams ? -1 : +1, kStores, saved, kReachStores, why);
    else
      act(Action::Kind::kRewrite, streams ? "store through the caches" : "store past the caches", 0, 0, kStores, saved, kReachStores, why);
  }

  /// Memory that waits while the core computes, or the other way round.
  void latency() {
    if (!parts_.core_known) return;
    // What is fetched again takes its time too, and has causes of its own.
    const double moving = std::min(1.0, parts_.memory * std::max(1.0, metrics_.get_or("traffic_ratio", 1)));
    const double saved = cause(
        kLatency, 1 - std::max({parts_.core, moving, parts_.compute}),
        fmt::format("with its data in the caches it takes {:.2f} of its time, moving the data alone {:.2f}: the two do not overlap",
                    parts_.core, moving),
        {"hot_share", "memory_light", "light"});
    const std::string why = fmt::format("1 - max({:.2f} in the caches, {:.2f} memory, {:.2f} compute)", parts_.core, moving, parts_.compute);
    tune(Role::kAhead, +1, kLatency, saved, kReachAhead, why);
    tune(Role::kAhead, -1, kLatency, saved, 0.5 * kReachAhead, why);
    tune(Role::kUnroll, +1, kLatency, saved, 0.5 * kReachAhead, why + "; more loads in flight");
  }

  /// The core's part beyond what the machine could not do faster: what better instructions can save.
  [[nodiscard]] double core_room() const { return std::max(0.0, parts_.core - parts_.least()); }

  void dependencies() {
    const auto share = metrics_.get("dependency_share");
    if (!share || *share < 0.1) return;
    const auto now = current(Role::kUnroll);
    const auto chains = metrics_.get("accumulators");
    // As many as keep the ports busy while each waits for its last result.
    const double cycles = metrics_.get_or("loop_cycles", 0), busy = metrics_.get_or("port_cycles", 0);
    const double wanted = chains && busy > 0 ? std::ceil(*chains * cycles / busy) : 0;
    const std::string have = !chains        ? ""
                             : *chains == 0 ? "; it keeps no accumulator in a register"
                                            : fmt::format("; it has {:.0f} accumulator{}", *chains, *chains == 1 ? "" : "s");
    const double saved = cause(kDependencies, std::min(parts_.core * *share, core_room()),
                               fmt::format("its heaviest loop waits for its own results in {:.0f} % of the cycles{}", 100 * *share, have),
                               {"dependency_share", "accumulators", "loop_cycles", "port_cycles", "hot_share"});
    const std::string why = fmt::format("core's part {:.2f} times {:.2f}, at most what is above {:.2f}", parts_.core, *share,
                                        parts_.least());
    // Unrolled as it is, one chain is left of it: the compiler may not add in another order, only the source can.
    const bool in_vain = now && *now > 1 && chains && *chains <= 1;
    if (now) tune(Role::kUnroll, +1, kDependencies, saved, in_vain ? 0.2 * kReachUnroll : kReachUnroll, why);
    if (now && !in_vain) return;
    std::string rewriting = "more independent accumulators";
    if (chains && *chains == 0) rewriting = "hand less from one iteration to the next: nothing of it is an accumulator in a register";
    else if (chains && *chains >= kManyChains) rewriting = fmt::format("shorten the chains of dependent instructions: {:.0f} accumulators are enough", *chains);
    else if (chains && wanted > *chains) rewriting += fmt::format(": {:.0f} instead of {:.0f}", std::min(wanted, 2 * kManyChains), *chains);
    else if (chains) rewriting += fmt::format(" than {:.0f}", *chains);
    act(Action::Kind::kRewrite, rewriting, 0, 0, kDependencies, saved, kReachRewrite, why);
  }

  void spills() {
    const double share = metrics_.get_or("spill_share", 0);
    if (share < 0.04) return;
    const double saved = cause(
        kSpills, std::min(parts_.core * share, core_room()),
        fmt::format("{:.0f} % of its heaviest loops' instructions move registers to and from the stack", 100 * share),
        {"spill_share", "hot_share"});
    const std::string why = fmt::format("core's part {:.2f} times {:.2f}", parts_.core, share);
    tune(Role::kUnroll, -1, kSpills, saved, kReachSpills, why);
    tune(Role::kTile, -1, kSpills, saved, kReachSpills, why);
  }

  void scalar() {
    const auto packed = metrics_.get("vector_share");
    if (!packed) return;
    const double width = std::min(1.0, metrics_.get_or("vector_width", 0));
    // One element at a time where a vector would hold eight or so; narrow vectors where wide ones would do.
    const double useful = *packed * std::max(width, 0.125) + (1 - *packed) * 0.125;
    if (const Metric* const calls = metrics_.find("library_call_share"); calls && calls->value >= kMostlyCalls) return scalar_calls(*calls);
    if (useful > 0.7) return;
    const double saved = cause(
        kScalar, std::min(parts_.core * (1 - useful), core_room()),
        fmt::format("{:.0f} % of its work on values is packed, at {:.0f} % of the vectors' width", 100 * *packed, 100 * width),
        {"vector_share", "vector_width", "scalar_float_share", "missed_loops"});
    const std::string why = fmt::format("core's part {:.2f}, of which full vectors would leave {:.2f}", parts_.core, useful);
    for (const std::string& pattern : subject_.patterns) act(Action::Kind::kPattern, pattern, 0, 0, kScalar, saved, kReachScalar, why);
    for (const std::string& compiler : subject_.compilers)
      act(Action::Kind::kCompiler, compiler, 0, 0, kScalar, saved, kReachCompiler, why);
    act(Action::Kind::kRewrite, "vectorise", 0, 0, kScalar, saved, kReachRewrite, why);
  }

  /// A function of the library for each element takes more than all else that the loop does, however that is written.
  void scalar_calls(const Metric& calls) {
    const double left = 1 - calls.value * (1 - 0.125);
    const double saved = cause(kScalar, std::min(parts_.core * (1 - left), core_room()),
                               "mathematics of the C library takes most of its heaviest loop: " + calls.about,
                               {"library_call_share", "call_share", "vector_share", "hot_share"});
    const std::string why = fmt::format("core's part {:.2f}, of which a vector form would leave {:.2f}", parts_.core, left);
    act(Action::Kind::kRewrite, "call its mathematics on whole vectors, not an element at a time", 0, 0, kScalar, saved, kReachScalar, why);
    for (const std::string& pattern : subject_.patterns) act(Action::Kind::kPattern, pattern, 0, 0, kScalar, saved, kReachPattern, why);
  }

  void balance() {
    const double share = metrics_.get_or("balance", 1), each = metrics_.get_or("blocks_per_thread", 1e9);
    if (share >= 0.95) return;
    // Threads that wait leave their part of the bandwidth to the others.
    const double saved = cause(
        kBalance, (1 - share) * (1 - 0.5 * parts_.memory),
        fmt::format("threads get {:.1f} blocks each: {:.0f} % of their time is waiting for the last", each, 100 * (1 - share)),
        {"balance", "blocks_per_thread", "thread_efficiency"});
    const std::string why = fmt::format("1 - balance {:.2f}", share);
    tune(Role::kGrain, -1, kBalance, saved, kReachBalance, why);
    tune(Role::kParts, +1, kBalance, saved, kReachBalance, why);
    for (const std::string& pattern : subject_.patterns)
      if (pattern.starts_with("split") || each < 1) act(Action::Kind::kPattern, pattern, 0, 0, kBalance, saved, kReachPattern, why);
    act(Action::Kind::kRewrite, "balance the grid", 0, 0, kBalance, saved, kReachRewrite, why);
  }

  void blocks() {
    const auto blocks = metrics_.get("blocks"), time = metrics_.get("time_ns"), each = metrics_.get("blocks_per_thread");
    if (!blocks || !time || !each || *each < 4) return;
    const double threads = std::max(1.0, subject_.limits.contains("THREADS") ? static_cast<double>(subject_.limits.at("THREADS")) : 1);
    const double share = *blocks / threads * kBlockNs / *time;
    if (share < 0.03) return;
    const double saved = cause(kBlocks, share, fmt::format("{:.0f} blocks of {:.0f} ns each", *blocks, *time * threads / *blocks),
                               {"blocks", "time_ns", "blocks_per_thread"});
    const std::string why = fmt::format("{:.0f} blocks a thread at {:.0f} ns to hand out", *blocks / threads, kBlockNs);
    tune(Role::kGrain, +1, kBlocks, saved, kReachBlocks, why);
    tune(Role::kParts, -1, kBlocks, saved, kReachBlocks, why);
  }

  void passes() {
    const double extra = metrics_.get_or("workspace_ratio", 0);
    if (extra < 0.1 || parts_.compute > parts_.memory) return;
    const double saved = cause(kPasses, extra / (1 + extra) * (1 - 0.5 * parts_.light),
                               fmt::format("its workspaces move {:.2f} times the least bytes again", extra),
                               {"workspace_ratio", "launches"});
    const std::string why = fmt::format("{:.2f} of all bytes are workspaces'", extra / (1 + extra));
    for (const std::string& pattern : subject_.patterns) act(Action::Kind::kPattern, pattern, 0, 0, kPasses, saved, kReachPattern, why);
    act(Action::Kind::kRewrite, "fuse passes", 0, 0, kPasses, saved, kReachRewrite, why);
  }

  /// Lines that the model of caches fetches more than once, workspaces apart, which have a cause of their own: from memory,
  /// or into the first level while the core waits.
  void redundant() {
    const double workspaces = metrics_.get_or("workspace_ratio", 0);
    const double ratio = metrics_.get_or("traffic_ratio", 1), first = metrics_.get_or("l1_traffic_ratio", 1);
    const double extra = parts_.compute > parts_.memory ? 0 : std::max(0.0, ratio - 1 - workspaces);
    const double again = std::max(0.0, 1 - (1 + workspaces) / std::max(first, 1.0));
    const double missing = kMissCycles * metrics_.get_or("l1_misses_per_instruction", 0);
    const double waiting = parts_.core_known ? parts_.core * again * missing / (missing + 1 / kInstructionsPerCycle) : 0;
    const double from_memory = parts_.memory * extra, from_caches = std::min(waiting, core_room());
    if (std::max(from_memory, from_caches) < 0.05) return;
    const bool memory = from_memory >= from_caches;
    const double saved = cause(kRedundant, std::max(from_memory, from_caches),
                               fmt::format("by the model of its caches it fetches {:.2f} times the least bytes {}", memory ? ratio : first,
                                           memory ? "from memory" : "into the first level"),
                               {"traffic_ratio", "l1_traffic_ratio", "l1_misses_per_instruction", "l1_miss_share", "memory_light"});
    const std::string why = memory ? fmt::format("memory's part {:.2f} of the time, times {:.2f} fetched again", parts_.memory, extra)
                                   : fmt::format("core's part {:.2f}, {:.2f} of its fetches again, {:.1f} cycles an instruction waiting for one",
                                                 parts_.core, again, missing);
    for (const int direction : {-1, +1}) tune(Role::kTile, direction, kRedundant, saved, kReachTile, why);
    for (const std::string& pattern : subject_.patterns) act(Action::Kind::kPattern, pattern, 0, 0, kRedundant, saved, kReachPattern, why);
    act(Action::Kind::kRewrite, "use a line while it is in the caches: another order of loops, tiles", 0, 0, kRedundant, saved, kReachRewrite, why);
  }

  void instructions() {
    // What the causes above do not explain.
    double explained = 0;
    for (const Cause& cause : causes_)
      if (cause.name == kDependencies || cause.name == kSpills || cause.name == kScalar || cause.name == kRedundant)
        explained = std::max(explained, cause.saved);
    const double room = std::max(0.0, core_room() - explained);
    const double saved = cause(
        kInstructions, 0.9 * room,
        fmt::format("with its data in the caches it still takes {:.2f} of its time; the machine needs {:.2f}", parts_.core, parts_.least()),
        {"hot_share", "memory_light", "compute_light", "division_share", "gather_share", "call_share", "instructions_per_cycle",
         "branch_miss_share"});
    const std::string why = fmt::format("{:.2f} of the time is the core's beyond the least, and not explained otherwise", room);
    for (const int direction : {-1, +1}) {
      tune(Role::kTile, direction, kInstructions, saved, kReachTile, why);
      tune(Role::kDepth, direction, kInstructions, saved, 0.5 * kReachTile, why);
      tune(Role::kUnroll, direction, kInstructions, saved, 0.4 * kReachTile, why);
    }
    for (const std::string& compiler : subject_.compilers)
      act(Action::Kind::kCompiler, compiler, 0, 0, kInstructions, saved, kReachCompiler, why);
    if (metrics_.get_or("division_share", 0) > 0.03)
      act(Action::Kind::kRewrite, "fewer divisions and square roots", 0, 0, kInstructions, saved, kReachRewrite, why);
    if (metrics_.get_or("gather_share", 0) > 0.02)
      act(Action::Kind::kRewrite, "contiguous loads instead of gathers", 0, 0, kInstructions, saved, kReachRewrite, why);
    if (metrics_.get_or("call_share", 0) > 0.01)
      act(Action::Kind::kRewrite, "inline what its loops call", 0, 0, kInstructions, saved, kReachRewrite, why);
  }

  /// What needs no evidence but distance: every other kernel of the library that takes no more launches, and what is left of tunables.
  void others() {
    const double room = parts_.room();
    const std::string why = fmt::format("{:.2f} of the time is beyond the least, and no metric says that this kernel can save it", room);
    const bool untuned = subject_.header.pattern.empty() || subject_.header.pattern == "plain" || subject_.header.pattern == "naive";
    for (const std::string& pattern : subject_.patterns)
      if (std::ranges::count(subject_.longer, pattern) == 0)
        act(Action::Kind::kPattern, pattern, 0, 0, kUnknown, room, untuned ? kReachPattern : 0.2 * kReachPattern, why);
    for (const Role role : {Role::kGrain, Role::kParts, Role::kOther, Role::kAhead, Role::kUnroll, Role::kStream})
      for (const int direction : {-1, +1}) tune(role, direction, kUnknown, room, 0.04, why);
  }

  [[nodiscard]] std::optional<int64_t> current(Role role) const {
    for (const kernel::Tunable& tunable : subject_.header.tunables)
      if (role_of(tunable.name, subject_.header.pattern) == role)
        if (const auto it = subject_.config.find(tunable.name); it != subject_.config.end()) return it->second;
    return std::nullopt;
  }

  Parts parts_{};
};

}  // namespace

Diagnosis diagnose(const Metrics& metrics, const Subject& subject) {
  const kernel::Language language = subject.header.language;
  if (kernel::row_of(language).threads != kernel::Threads::kNone) return diagnose_card(metrics, subject);
  return Reckoning(metrics, subject).conclude();
}

}  // namespace hone::diagnose
