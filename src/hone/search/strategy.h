// Strategies decide which kernel to look at next. A strategy is a deterministic function of its seed
// and of what it has been told, in order: replaying the same outcomes gives the same proposals, which
// is how a run is resumed. One thread.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/result.h"
#include "hone/diagnose/rules.h"
#include "hone/kernel/kernel.h"
#include "hone/search/recollection.h"
#include "hone/search/tune/tunables.h"

namespace hone::search {

/// A kernel that someone proposes: built-in pattern, user, later a model.
struct Seed {
  kernel::Kernel kernel;      ///< default configuration
  std::string pattern;
  std::string action;
  bool chosen = false;        ///< that configuration was measured by somebody and is a good one, as patterns' are
};

/// Proposal::cause where no rule but earlier measurements predict.
inline constexpr std::string_view kLearnt = "learnt";

struct Proposal {
  kernel::Kernel kernel;
  std::string action;         ///< "start", "pattern rows: keep in scratch", "ROWS 4 -> 16"
  std::string reason;
  std::optional<double> expected;  ///< score that is believed to come of it, where somebody has a belief
  double predicted = 0;       ///< by the diagnosis of its parent: time of the parent / time; 0: nobody predicted anything
  std::string cause;          ///< that the diagnosis would repair by it
};

/// What earlier runs have to offer. A hint where to begin: all of it is evaluated like anything else.
struct Memory {
  struct First {
    Seed seed;                ///< with the configuration that did well
    std::string reason;
  };
  std::vector<First> first;   ///< looked at right after the first seed, in this order
  struct Known {
    std::string source;       ///< text of the seed that it speaks of
    std::vector<Recollection> recollections;  ///< what its tuner starts from
    /// Share of the best that this source reached elsewhere, and with which configuration: that is where it is opened. Sources
    /// that stayed behind are opened late.
    std::optional<double> share;
    std::optional<kernel::Config> best;
  };
  std::vector<Known> known;
};

/// How a kernel goes about its work, in coarse steps: what evolution keeps apart (docs/search.md).
struct Behaviour {
  std::string make;           ///< the pattern it came from; empty: nobody's
  int launches = 0;
  int traffic = 0;            ///< bytes that its plan moves over the least the task can do with, as a power of two
  int balance = 0;            ///< 0: far from every bound; 1: near what memory allows; 2: near what arithmetic allows
  int vectors = 0;            ///< 1: its source computes on vectors; 0: element by element
  friend auto operator<=>(const Behaviour&, const Behaviour&) = default;
};

/// What became of a proposal.
struct Outcome {
  bool accepted = false;
  double score = 0;           ///< speedup over the first accepted kernel; higher is better
  double seconds = 0;         ///< that it took to find out; 0: nobody knows
  Behaviour behaviour;
  /// Not evaluated: it became the same machine code as this kernel (its hash), which was.
  std::string twin;
};

/// Proposals looked at and left aside before any build.
struct Skipped {
  int constraint = 0;         ///< the tunables' own constraints exclude it
  int duplicate = 0;          ///< a source given twice
  /// The model of what was measured so far ranks it behind. One that is proposed after all counts back:
  /// the number may be negative.
  int predicted_slower = 0;
  [[nodiscard]] int total() const { return constraint + duplicate + predicted_slower; }
  [[nodiscard]] bool any() const { return constraint != 0 || duplicate != 0 || predicted_slower != 0; }
};

class Strategy {
 public:
  virtual ~Strategy() = default;
  /// Up to `most` kernels to evaluate, best first; empty when there is nothing left to try.
  [[nodiscard]] virtual std::vector<Proposal> next(int most) = 0;
  /// Proposals given out are answered in any order, and next() may be called before. What is never answered was never looked at.
  virtual void observe(const Proposal& proposal, const Outcome& outcome) = 0;
  /// A source that came up while the search was on: its tunables are searched like any other's. False for a text that is there
  /// already. `at_once`: it is what next() gives next, whatever else waits; then false for a text that has been given already.
  [[nodiscard]] virtual bool add(Seed seed, bool at_once = false) = 0;
  /// Before the first next(): what to begin with, and what the tuners start from.
  virtual void remember(const Memory& memory) = 0;
  /// Settings of tunables that a source which came up while the search was on is still to get before it may be given up.
  [[nodiscard]] virtual int owed() { return 0; }
  /// A kernel whose diagnosis would help to choose what comes next, by its hash; empty: none, or it was given already.
  [[nodiscard]] virtual std::string wants_diagnosis() const { return {}; }
  /// The actions worth trying on a kernel that was observed, best first; those that set a tunable come before what the
  /// tuner suggests. None: there is no diagnosis.
  virtual void advise([[maybe_unused]] const std::string& kernel, [[maybe_unused]] std::vector<diagnose::Action> actions) {}
  /// What settings of its tunables are expected to do to a kernel that was observed. False where it makes nothing of that, and wants
  /// actions instead.
  virtual bool expect([[maybe_unused]] const std::string& kernel, [[maybe_unused]] std::vector<tune::Effect> effects) { return false; }
  /// Left aside since the last call.
  [[nodiscard]] virtual Skipped take_skipped() = 0;
};

enum class StrategyKind : uint8_t {
  kBeam,    ///< several parents of different make, extended side by side
  kGreedy,  ///< always extend the best
  kTune,    ///< the first seed only: its tunables
  kEvolution,  ///< islands of kernels that differ in what they do (evolution.h)
};
[[nodiscard]] std::string_view name_of(StrategyKind kind);
[[nodiscard]] std::optional<StrategyKind> strategy_from(std::string_view name);

struct StrategyOptions {
  /// Beam and greedy: whether to open another of the built-in patterns' sources, to open a model's, or to ask the tuners is
  /// chosen by what each gains a second. Else every source is opened as it comes, before any is refined.
  bool bandit = false;
  /// Whether scores tell kernels apart. Where there is no clock they do not: every source is looked at once, and no setting of its
  /// tunables could be any better.
  bool timed = true;
};

/// `seeds` in order of promise. `limits` for the tunables' constraints.
[[nodiscard]] std::unique_ptr<Strategy> make_strategy(StrategyKind kind, std::vector<Seed> seeds, const kernel::Limits& limits, uint64_t seed,
                                                      const StrategyOptions& options = {});

}  // namespace hone::search
