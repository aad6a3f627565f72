// Timing one batch of calls on a stage: poison, a cold cache, the run, the checks, the discarding of
// samples whose threads had to wait for a CPU. One thread at a time.
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "hone/evaluate/measure/pace.h"
#include "hone/evaluate/stage.h"
#include "hone/evaluate/verdict.h"
#include "hone/target/device/session.h"

namespace hone::evaluate {

/// Adds the time of a scope to a total (nanoseconds).
class Stopwatch {
 public:
  explicit Stopwatch(int64_t& total);
  ~Stopwatch();
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  int64_t& total_;
  int64_t start_;
};

/// Who is timed: a process, what an empty batch costs it, and how long its batches should be. The pace
/// outlives the process: restarts need no new probe.
struct Player {
  std::unique_ptr<target::Session> session;
  int64_t empty_ns = 0;
  Pace pace;
  double most_mhz = 0;    ///< highest frequency that a card had in its batches
};

/// A batch's time less hand-off. A batch hardly longer than an empty one says no more than that the
/// kernel is quick: then half of it counts as the kernel's, which pulls ratios towards 1 and never away
/// from it. At least 1.
[[nodiscard]] double net_ns(int64_t wall_ns, int64_t empty_ns);

/// What a batch that did not end well says of the kernel.
[[nodiscard]] Verdict verdict_of(const target::BatchOutcome& outcome);

/// For a batch of `calls` where the least time of one is `bound_ns`.
[[nodiscard]] std::chrono::nanoseconds deadline_for(double bound_ns, size_t calls);

struct Timed {
  double ns = 0;      ///< a call
  double mhz = 0;     ///< frequency of the card's multiprocessors from just before the run to just after it; 0: no card
  int calls = 0;
  int judged = 0;     ///< of all attempts' calls, how many were judged for accuracy
  int left = 0;       ///< and how many were not
  int64_t judging_ns = 0;  ///< what judging took
  bool probe = false; ///< too short a batch for a sample: only the pace is known now
  Verdict verdict;    ///< of guards, poison and, where asked for, the accuracy of some calls
};

struct BatchOptions {
  /// Judge one of the calls, chosen afterwards, on everything that the gate compares; where some of the slots are in
  /// `known`, one of these: their answers are kept.
  bool whole = false;
  std::vector<int> known;
  /// Of so many calls, chosen afterwards, some elements each: as many as `judging` leaves time for, one at least. Where it
  /// is not 0, outputs hold plausible answers in place of poison in half of the calls.
  int judged = 0;
  std::chrono::nanoseconds judging = std::chrono::milliseconds(250);
  double bound_ns = 0;
  /// Fresh inputs for these slots, for another attempt: what a process has seen it sees no more. None: the same again.
  std::function<void(std::span<const int>)> renew;
};

/// Guards and poison of all these calls, and the accuracy of those that the options ask for, which `timed` counts.
[[nodiscard]] Verdict judge_calls(Stage& stage, std::span<const int> slots, const BatchOptions& options, Timed& timed);

/// Times the first player.pace.calls() of `slots` (at least that many) and tells the pace.
[[nodiscard]] Timed time_batch(Stage& stage, Player& player, std::span<const int> slots, const BatchOptions& options,
                               Spent& spent);

}  // namespace hone::evaluate
