// Comparing two kernels from paired, interleaved times. Owns: the ratio with its interval, the
// call FASTER / SLOWER / INCONCLUSIVE, and when to stop sampling. A pure function of the samples
// in their order and of the options: no clock, no device. One thread at a time. Never fails;
// samples that could not be used are the caller's to drop (see usable()).
// Method, assumptions and measured error rates: docs/comparisons.md.
#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "hone/evaluate/compare/statistics.h"

namespace hone::evaluate {

enum class Comparison : uint8_t { kFaster, kSlower, kInconclusive };
[[nodiscard]] std::string_view name_of(Comparison comparison);  ///< "FASTER", "SLOWER", "INCONCLUSIVE"

/// A call that two views of the same samples must share (nanoseconds and clock cycles, say).
[[nodiscard]] constexpr Comparison agreed(Comparison a, Comparison b) {
  return a == b ? a : Comparison::kInconclusive;
}

/// Two times taken next to each other, in random order. `process` numbers the restart of the
/// processes that ran them: pairs of one process share its luck (addresses, page colours, clocks).
struct PairedSample {
  double candidate_ns = 0;
  double opponent_ns = 0;
  int process = 0;
};

/// Both times finite and positive.
[[nodiscard]] bool usable(const PairedSample& sample);

/// time(opponent) / time(candidate): above 1 the candidate is faster.
struct Ratio {
  double median = 1;
  double low = 0;
  double high = std::numeric_limits<double>::infinity();
  /// (high - low) / 2 relative to the median; infinite while nothing is known.
  [[nodiscard]] double relative_half_width() const { return 0.5 * (high - low) / median; }
  template <class F>
  void fields(F& f) {
    f("median", median);
    f("low", low);
    f.unbounded("high", high);
  }
};

struct CompareOptions {
  double alpha = 0.01;         ///< chance that a comparison of equals is ever called
  double confidence = 0.95;    ///< of the reported interval
  double margin = 0;           ///< ratios in [1/(1+margin), 1+margin] count as equal
  double half_width = 0.0025;  ///< precise enough: relative half-width of the reported interval
  int min_pairs = 10;          ///< never stop before, and no call
  int max_pairs = 200;         ///< always stop here
  /// Fewest processes for a call. 1 treats all pairs as independent: good for a quick race inside
  /// one process, but the answer then holds for that process only.
  int min_processes = 5;
  /// When to restart; see Comparer::wants_new_process(). Few: restarts are what a call needs most.
  int pairs_per_process = 2;
  int replicates = 500;        ///< of the bootstrap
  uint64_t seed = 1;           ///< of the bootstrap
};

enum class StopReason : uint8_t {
  kSampling,    ///< not done
  kDecided,     ///< FASTER or SLOWER
  kEquivalent,  ///< always_valid() lies inside the margin
  kPrecise,     ///< narrow enough, and no sign of a difference
  kCap,         ///< max_pairs
};
[[nodiscard]] std::string_view name_of(StopReason reason);

/// The sampler's loop: restart both processes when wants_new_process(), take a pair in random
/// order, add() it, until done().
class Comparer {
 public:
  explicit Comparer(const CompareOptions& options = {});

  /// Takes one usable() pair.
  void add(const PairedSample& sample);

  /// The latest process has its share of pairs.
  [[nodiscard]] bool wants_new_process() const;
  [[nodiscard]] StopReason stop_reason() const;
  [[nodiscard]] bool done() const { return stop_reason() != StopReason::kSampling; }

  /// FASTER or SLOWER only if both always_valid() and ratio() lie beyond the margin.
  [[nodiscard]] Comparison decision() const;

  /// Median of the pair ratios and a bootstrap interval over processes for it (min_processes 1: an
  /// interval over pairs), as if the number of samples had been fixed beforehand. For people and
  /// tables.
  [[nodiscard]] Ratio ratio() const;
  /// An interval that may be looked at after every pair: the hull of the sign sequence over pairs
  /// and of what the t and the sign sequence over processes leave between them. For deciding.
  [[nodiscard]] Ratio always_valid() const;
  /// The hull of both: it holds 1 (with a margin: reaches into it) exactly where decision() is INCONCLUSIVE. What is shown beside
  /// a decision.
  [[nodiscard]] Ratio deciding() const;
  /// The side of 1 (and the margin) that ratio() lies on as a whole: where a call may still come.
  [[nodiscard]] Comparison leaning() const;

  [[nodiscard]] int pairs() const { return static_cast<int>(sorted_.size()); }
  [[nodiscard]] int processes() const { return static_cast<int>(processes_.size()); }
  [[nodiscard]] const CompareOptions& options() const { return options_; }

 private:
  struct Process {
    int id;
    std::vector<double> sorted;  ///< log ratios
  };
  [[nodiscard]] bool is_full(size_t slot) const;
  [[nodiscard]] size_t full_processes() const;
  [[nodiscard]] std::vector<double> process_medians() const;
  [[nodiscard]] Interval over_processes() const;
  [[nodiscard]] Interval bootstrap_over_processes() const;
  [[nodiscard]] Comparison side_of(const Ratio& interval) const;
  [[nodiscard]] bool has_enough() const;
  [[nodiscard]] bool could_be_precise() const;

  CompareOptions options_;
  std::vector<double> sorted_;       ///< all log ratios, ascending
  std::vector<uint32_t> slots_;      ///< process of each, as an index into processes_
  std::vector<Process> processes_;
  size_t latest_ = 0;                ///< slot of the last sample
  mutable std::optional<Ratio> ratio_;  ///< computed when asked for
};

}  // namespace hone::evaluate
