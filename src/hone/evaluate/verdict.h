// What the evaluator says of a kernel: verdict, accuracy, times, comparisons. Plain values with a
// stable JSON form (docs/json.md), which their fields() say (verdict.cc, base/fields.h).
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "hone/base/json.h"
#include "hone/evaluate/compare/compare.h"
#include "hone/evaluate/verify/gate.h"

namespace hone::evaluate {

enum class VerdictKind : uint8_t {
  kAccepted,
  kDoesNotApply,     ///< its `requires` exclude every workload
  kDoesNotCompile,
  kLaunchFails,      ///< the plan does not bind, the build does not load, or it crashes
  kWrong,
  kLessAccurate,
  kOutOfBounds,      ///< touched memory it was not given
  kDoesNotFinish,
  kCheating,
  kNotRepeatable,    ///< two calls on equal inputs differ, and the task is `deterministic`
  kUnknown,          ///< only in records: a verdict that this version does not know; `reason` begins with its name
};
[[nodiscard]] std::string_view name_of(VerdictKind kind);  ///< "accepted", "does not compile", …

/// The output, family and shape on which the candidate came closest to its bound (or went beyond).
struct Accuracy {
  std::string output, family, shape;
  double candidate = 0;   ///< scaled maximum error
  double anchor = 0;
  double bound = 0;
  double candidate_rms = 0, bound_rms = 0;  ///< the same of the root mean square; 0 in old records
  int draws = 0;          ///< further ones that were taken as it was near the bound
  bool open = false;      ///< on which side of the bound it lies stayed open: accepted all the same
  template <class F>
  void fields(F& f);
};

/// What of a wrong answer anybody may be told: no extents, places, values or seeds.
struct Clue {
  std::string output;   ///< the one that is wrong
  std::string inputs;   ///< how they were drawn: a family's name, or more words
  std::string workload; ///< at whose shape it was, which is nobody's secret; empty: at a hidden one
  std::string looks;    ///< the kind of error (error_kind.h); empty: not looked at
  template <class F>
  void fields(F& f);
};

/// Of a call that was right when its blocks ran as they are timed.
inline constexpr const char* kHangsOnOrder = "the same call was right with its blocks in the usual order";

struct Verdict {
  VerdictKind kind = VerdictKind::kAccepted;
  std::string reason;                 ///< one line; empty when accepted
  std::string detail;                 ///< compiler log and the like, bounded
  std::optional<Accuracy> accuracy;
  std::optional<Clue> clue = std::nullopt;  ///< of answers that are wrong; none in old records
  [[nodiscard]] bool accepted() const { return kind == VerdictKind::kAccepted; }
  template <class F>
  void fields(F& f);
};

/// True when `a` came nearer to its bound than `b`, which may have no accuracy at all.
[[nodiscard]] bool nearer(const Verdict& a, const Verdict& b);

/// Where the time of one evaluation went (nanoseconds).
struct Spent {
  int64_t build = 0;      ///< of the candidate
  int64_t verify = 0;
  int64_t run = 0;
  int64_t opponents = 0;  ///< waited for while PyTorch is imported and compiles; 0 in old records
  int64_t sanitize = 0;   ///< sanitized builds and what ran under sanitizers; counted as build and verify in old records
  Spent& operator+=(const Spent& other) {
    build += other.build, verify += other.verify, run += other.run, opponents += other.opponents, sanitize += other.sanitize;
    return *this;
  }
  [[nodiscard]] int64_t all() const { return build + verify + run + opponents + sanitize; }
  template <class F>
  void fields(F& f);
};

/// Quick look at a kernel: verified on pooled inputs and hidden shapes, a few paired repetitions.
struct Screening {
  Verdict verdict;
  std::string build_hash;
  std::string toolchain;
  /// Per workload: time(yardstick) / time(candidate), median of the repetitions; empty without verdict.
  std::vector<double> ratio;
  /// Least and greatest of the repetitions' ratios, per workload; empty in old records.
  std::vector<double> ratio_low, ratio_high;
  /// Least of the repetitions' times, the candidate's and the yardstick's (0: none), per workload: what others who use the machine
  /// disturb least. Empty in old records.
  std::vector<double> least_ns, yardstick_least_ns;
  std::vector<double> median_ns;      ///< raw, for people; never compared across sessions
  /// Where it came nearest to its bound at the workloads' own shapes (`verdict` has hidden shapes first); absent in old records.
  std::optional<Accuracy> at_size;
  double score = 0;                   ///< weighted geometric mean of `ratio`
  int repetitions = 0;
  Spent spent;
  template <class F>
  void fields(F& f);
};

/// One opponent on one workload in a promotion.
struct OpponentResult {
  std::string opponent;               ///< "naive", "pytorch eager", …
  Comparison comparison = Comparison::kInconclusive;
  Ratio ratio;                        ///< time(opponent) / time(candidate)
  double opponent_ns = 0, candidate_ns = 0;  ///< medians
  double dispatch_ns = 0;             ///< of opponent_ns, what an empty call takes; 0: nothing of the kind, or an old record
  int pairs = 0, processes = 0;
  /// Why sampling ended: "decided", "equivalent", "precise", "cap" or "time"; "clock": decided, but counted in cycles the
  /// samples say the opposite. Empty in old records.
  std::string stopped;

  /// `ratio` with dispatch_ns taken off the opponent's time, of which kLeastWork are left at least.
  [[nodiscard]] Ratio without_dispatch() const;
  template <class F>
  void fields(F& f);
};

/// Less of an opponent's time than this is not told apart from the noise of the two measurements.
inline constexpr double kLeastWork = 0.05;

struct WorkloadResult {
  std::string workload;
  double bytes = 0, flops = 0;        ///< minimal
  double memory_ns = 0;               ///< memory side of the speed of light: the stream twin's median, same session
  double compute_ns = 0;              ///< compute side: the least multiply-adds at the CPU's kept peak; 0: none
  double bound_ns = 0;                ///< speed of light: the longer of the two
  std::string bound_by;               ///< "memory" or "compute"
  double candidate_ns = 0;            ///< median, cold
  double hot_ns = 0;                  ///< median of calls that find their tensors in the caches; 0: not measured
  double sol_fraction = 0;            ///< bound_ns / candidate_ns, paired where memory binds
  std::string bound_note;             ///< why the fraction is above 1, if it is after measuring the peaks anew
  std::vector<OpponentResult> opponents;
  std::vector<double> samples_ns;     ///< raw, candidate
  std::vector<double> samples_mhz;    ///< of the card's multiprocessors in these; empty on a CPU and in old records
  double sampling_seconds = 0;        ///< that the rounds with its opponents took
  /// Of the candidate's timed calls, how many were judged for accuracy; guards and poison are looked at in all. 0 in old records.
  int timed_calls = 0, judged_calls = 0;
  template <class F>
  void fields(F& f);
};

/// The full trial that alone makes a champion: fresh inputs, fresh processes, paired with opponents.
struct Promotion {
  Verdict verdict;
  std::vector<WorkloadResult> workloads;
  bool bitwise_deterministic = true;
  /// The shapes at which it was verified, where its requirements admit no others that were tried: it is not generic. Else empty.
  std::vector<std::string> only_at;
  int sanitized_shapes = 0;           ///< on which it ran under the sanitizers without a finding
  std::string sanitizers_absent;      ///< what was not looked for, and why; empty when all was
  std::vector<std::string> absent;    ///< opponents that could not take part, with the reason
  std::vector<uint64_t> seeds;        ///< of the inputs, for replay
  Spent spent;
  template <class F>
  void fields(F& f);
};

[[nodiscard]] nlohmann::json to_json(const Verdict& verdict);
[[nodiscard]] nlohmann::json to_json(const Screening& screening);
[[nodiscard]] nlohmann::json to_json(const Promotion& promotion);
/// What is missing or damaged keeps its value and is noted (base/fields.h); a verdict that cannot be read is kUnknown.
void read_json(const nlohmann::json& value, Verdict& verdict, base::Notes& notes);
void read_json(const nlohmann::json& value, Screening& screening, base::Notes& notes);
void read_json(const nlohmann::json& value, Promotion& promotion, base::Notes& notes);
/// Of which nothing is known yet: what a record without them says.
[[nodiscard]] Screening unknown_screening();
[[nodiscard]] Promotion unknown_promotion();

/// Weighted geometric mean of positive values; 0 when empty.
[[nodiscard]] double weighted_geometric_mean(const std::vector<double>& values,
                                             const std::vector<double>& weights);

}  // namespace hone::evaluate
