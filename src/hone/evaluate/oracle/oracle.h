// The trusted answer: fp64 values of any box of any output, with the magnitude that errors are scaled
// by, pulled back through the primitive graph region by region so that no intermediate is ever held
// whole. The same evaluator at lower precision is the anchor. Immutable after construction;
// evaluate() may be called from several threads at once.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "hone/base/result.h"
#include "hone/task/task.h"

namespace hone::evaluate {

/// A dense row-major tensor in memory that somebody else owns.
struct TensorView {
  task::DType dtype = task::DType::kF32;
  task::Shape shape;
  const void* data = nullptr;
};

/// A rectangular region of a tensor.
struct Box {
  task::Shape start, extent;
  [[nodiscard]] int64_t count() const { return task::element_count(extent); }
};
[[nodiscard]] Box whole(const task::Shape& shape);

/// Values over one box, row-major. Integers and bools are held exactly where |v| < 2^53.
struct Answer {
  std::vector<double> value;
  /// First-order error magnitude, in units of the output type's roundoff: what perturbations of one
  /// unit in the operations' results would move the value by (rules: docs/accuracy.md). For a
  /// sum: the sum of absolute values. Never below |value| nor the smallest normal of the output's
  /// type; infinite where the value hangs on nothing but rounding. Of a NaN or an infinity: 0 where every honest
  /// program has one there, else more (certainty.h). Empty when not asked for.
  /// For integer and bool outputs: by how much the value may differ because it hangs on the rounding
  /// of a comparison; 0, which means compared exactly, nearly everywhere.
  std::vector<double> scale;
};

/// In which arithmetic the graph is evaluated.
enum class Arithmetic : uint8_t {
  kExact,    ///< fp64 throughout: the oracle
  kF32,      ///< every operation in fp32 (fp64 where the node's type is f64), sums pairwise,
             ///< contractions and convolutions in running sums; results rounded to the output's type
             ///< at the end only
  kTf32, kBf16, kF16,  ///< as kF32, with inputs, operands of contractions and convolutions, and the
                       ///< results of sums and products rounded to the type
  kAsPytorch,          ///< kTf32 for convolutions, kF32 elsewhere
};
[[nodiscard]] Arithmetic arithmetic_of(task::Track track);

/// What becomes of the roundings to 16 and 8 bits that a program's types ask for on the way.
struct NarrowRoundings {
  enum class Way : uint8_t {
    kCounted,   ///< values are not rounded, scales hold what the roundings may do at most
    kLeftOut,   ///< neither: scales are those of the program in fp32
    kMade,      ///< values are rounded: for `sample` 0 as the types say, for others moved at random by no more, equal values alike
  };
  Way way = Way::kCounted;
  uint32_t sample = 0;
};

class ReductionHelper;

class Oracle {
 public:
  /// `graph` must outlive the oracle. `inputs` in declared order; the views' data must stay valid
  /// and unchanged as long as the oracle lives: what every box needs is computed once and kept.
  /// Scales count the roundings of `track`. `threads` share in computing what every box needs. `helper`, which must
  /// outlive the oracle, does the reductions that it covers; what only those read need not be in the views.
  Oracle(const task::ConcreteGraph& graph, std::vector<TensorView> inputs,
         task::Track track = task::Track::kStrict, int threads = 1, ReductionHelper* helper = nullptr);
  ~Oracle();
  Oracle(Oracle&&) noexcept;

  /// Values (and scales) of output number `output` over `box`. Work is split into tiles that fit the
  /// second-level cache; row-wise programs cost little more than one pass over the rows asked for.
  /// `threads` share a reduction too large to hold; the answer does not depend on how many there are.
  [[nodiscard]] Answer evaluate(int output, const Box& box, Arithmetic arithmetic,
                                bool want_scale, int threads = 1) const;
  [[nodiscard]] task::Track track() const;
  /// The same inputs under other roundings; no scales where they are made. Only where has_ways(): a helper knows of one way.
  [[nodiscard]] Oracle with(NarrowRoundings narrow) const;
  [[nodiscard]] bool has_ways() const;

  /// The same of any node of the graph.
  [[nodiscard]] Answer evaluate_node(int node, const Box& box, Arithmetic arithmetic,
                                     bool want_scale, int threads = 1) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// For arg-operations: the outputs whose values are indices chosen by kArgMax/kArgMin/kArgSort, with
/// the node whose values are compared at the returned index. -1: not an index output.
[[nodiscard]] int judged_by_value(const task::ConcreteGraph& graph, int output);

}  // namespace hone::evaluate
