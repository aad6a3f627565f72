// The accuracy gate: whether an output is right, and no less accurate than what it replaces. Errors
// are taken against the oracle rounded to the output's type and scaled element by element; the bound
// is slack times the anchor's error with a floor (the rule and its reasons are in
// docs/accuracy.md). Pure computation over memory; functions are thread-safe.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hone/base/result.h"
#include "hone/evaluate/oracle/reduction_helper.h"
#include "hone/task/task.h"

namespace hone::evaluate {

/// Scaled errors of one output under one input draw. Unit: multiples of the element's scale
/// (dimensionless; 6e-8 is about one fp32 rounding).
struct OutputError {
  double max = 0;
  double rms = 0;
  int64_t count = 0;         ///< elements compared
  int64_t worst_index = -1;  ///< flat index of the worst element in the output
  double expected = 0, found = 0;  ///< there
  int64_t non_finite = 0;    ///< NaN or Inf where the oracle is finite (poison included), or the other way round
  int64_t mismatches = 0;    ///< integer, bool and judged-by-value outputs: elements that differ

  /// Adds the elements of another part of the same output.
  void merge(const OutputError& other);
};

/// What a candidate may have, from several anchor draws (bounds.h).
struct Bound {
  double max = 0, rms = 0;
};

struct GateOptions {
  double slack = 4;
  int64_t full_limit = 1 << 22;   ///< outputs up to this many elements are compared whole, larger
                                  ///< ones, and ones that cost the oracle seconds, on a secret
                                  ///< sample of boxes. INT64_MAX: whole, whatever it costs
  int64_t sample_elements = 1 << 16;
  /// A sample also holds corners, ends of axes, and elements on both sides of where tiles and vectors may end: so many at most.
  int64_t edges = 0;
  uint64_t sample_seed = 0;       ///< drawn after the launch by the caller
  int threads = 2;
};

/// Which boxes of an output are compared: the whole, tiled, or a random sample in which every
/// position is equally likely; cheap for the oracle (whole rows where reductions force them). Reductions that
/// a helper covers force nothing. Elements at edges are boxes of their own.
[[nodiscard]] std::vector<Box> plan_boxes(const task::ConcreteGraph& graph, int output,
                                          const GateOptions& options, const Coverage& coverage = {});

/// What answers to the whole output cost the oracle, roughly: 2^30 are about a second of one core.
[[nodiscard]] double work_of_whole(const task::ConcreteGraph& graph, int output);

/// Oracle answers for given boxes, computed once and reused against several candidates.
struct Reference {
  std::vector<Box> boxes;
  std::vector<Answer> answers;
  std::vector<Answer> keys;       ///< outputs judged by value: what was compared (key_map()), by box
  OutputError anchor;             ///< the anchor's own error over the same boxes and inputs
};
[[nodiscard]] Reference make_reference(const task::ConcreteGraph& graph, const Oracle& oracle,
                                       task::Track track, int output, std::vector<Box> boxes,
                                       int threads);

/// Error of `output_data` (dense, row-major, the output's dtype and shape) over the reference's boxes.
[[nodiscard]] OutputError compare_output(const task::ConcreteGraph& graph, int output,
                                         const Reference& reference, const void* output_data,
                                         int threads);

/// Which elements by themselves are off by more than `bound` allows, or of another kind: what compare_output() sums up. In the tensor's
/// order; what no box covers is not.
[[nodiscard]] std::vector<bool> wrong_elements(const task::ConcreteGraph& graph, int output, const Reference& reference, const void* output_data, double bound);

/// What an output is filled with before a launch: one word, again and again.
struct PoisonPattern {
  uint64_t bits = 0;      ///< one element of poison, in its low bytes
  uint64_t exponent = 0;  ///< of floats: all these bits set is not finite; 0 for the others
};
/// A pattern that nobody can foresee: of floats a NaN of either sign with a payload that no processor makes, of integers any
/// word, of bools anything but 0 and 1. `secret`: 64 random bits.
[[nodiscard]] PoisonPattern poison_pattern(task::DType dtype, uint64_t secret);
/// Elements of the whole buffer that still hold the poison or, of floats, are not finite; of bools, that are neither 0 nor 1:
/// read at memory speed. Narrow integers may be right answers and poison at once.
[[nodiscard]] int64_t count_poison(task::DType dtype, PoisonPattern pattern, const void* data, int64_t count, int threads);
/// Elements that hold the poison itself.
[[nodiscard]] int64_t count_unwritten(task::DType dtype, PoisonPattern pattern, const void* data, int64_t count, int threads);
/// Where a float output is not finite: at most so many places, each as likely as another.
[[nodiscard]] std::vector<int64_t> places_not_finite(task::DType dtype, const void* data, int64_t count, size_t most, uint64_t seed);
void fill_poison(task::DType dtype, PoisonPattern pattern, void* data, int64_t count, int threads);

/// Outputs of fewer elements are pooled over draws.
inline constexpr int64_t kFewElements = 16;

/// Bound from the anchor's errors over draws for an output of this graph: `slack` times the averages of
/// maximum and rms (of few elements: maximum and rms over all draws' elements together), or the floor.
[[nodiscard]] Bound bound_of(const task::ConcreteGraph& graph, task::Track track, int output,
                             const std::vector<OutputError>& anchor_draws, double slack);

/// Empty when the error is within the bound; else why not, for a person: names output, error, bound,
/// the worst element with expected and found values.
[[nodiscard]] std::optional<std::string> judge(const OutputError& error, const Bound& bound,
                                               const std::string& output_name);

/// An answer to one output that takes no computing.
struct Degenerate {
  enum class Kind : uint8_t { kZeros, kOnes, kMean, kInput, kSubsampled };
  int output;
  Kind kind;
  int input = -1;  ///< kInput: the one that is the answer, unchanged

  /// "y: zeros pass"
  [[nodiscard]] std::string describe(const task::Task& task) const;
};

/// The task is tested before any candidate is: the degenerate answers that the gate would let through on all drawn families; none
/// where the task is sound. kInput where it has no workload or makes no sense at one.
[[nodiscard]] Result<std::vector<Degenerate>> self_test(const task::Task& task, uint64_t seed, int threads = 2);

}  // namespace hone::evaluate
