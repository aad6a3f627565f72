// One node over one box: the values and scales of the result from those of the operands. Families of
// operations have a file each (step_*.cc). Pure; thread-safe apart from the pool, which is the
// caller's own.
#pragma once
#include <span>
#include <vector>

#include "hone/evaluate/oracle/summation.h"
#include "hone/evaluate/oracle/tensor.h"

namespace hone::evaluate {

/// What a rounding to 16 bits that a program goes on with counts. The gate allows two roundoffs of a scale at least (floor_of in
/// verify/bounds.cc), so halves that are added up are what such roundings can do at most.
inline constexpr double kGoingOn = 0.5;

/// What is known of a node before any value is.
struct NodeFacts {
  bool exact = false;   ///< no rounding lies behind it: inputs, and what only copies or picks them
  bool open = false;    ///< some values may hang on integers that are nobody's to say (integer_range.h): their scale is infinite
  bool narrow = false;  ///< computed in fp32 when the arithmetic is not exact
  bool whole = false;   ///< whole numbers (or no numbers) in every program, however it rounds
  /// Unit roundoff over kUnit of its type, or of the track's where that is coarser; 0 for integers and
  /// bools.
  double unit = 0;
  double own = 0;       ///< what its own roundings count: of element-wise operations several units, of all others one
  double operands = 0;  ///< units that its operands lose before they are multiplied, beside their own
  bool rounded = false;  ///< it or a value that it comes from is rounded to 16 bits as `least` says
  /// Where a computed value of 16 bits is rounded and a program goes on with it, and of results behind such: the type's smallest
  /// normal number. Its own rounding, of max(|y|, least), is added to what came in, as kGoingOn of one where a program goes on.
  /// 0 elsewhere: of a result that one rounding makes, the gate's floor holds it.
  double least = 0;

  double largest = 0;   ///< of integers and bools: no value is larger in size

  [[nodiscard]] bool has_scale() const { return !exact || open; }
};
/// Without `narrow`: as if types of 16 and 8 bits that are computed were fp32 (NarrowRoundings::Way::kLeftOut).
[[nodiscard]] std::vector<NodeFacts> facts_of(const task::ConcreteGraph& graph,
                                              task::Track track = task::Track::kStrict, bool narrow = true);

struct Step {
  const task::ConcreteGraph& graph;
  std::span<const NodeFacts> facts;
  std::span<const TensorView> inputs;
  int id;
  const Box& box;                     ///< of the result
  std::span<const Tensor> operands;   ///< each holds at least operand_box(); empty ones hold nothing
  Arithmetic arithmetic;
  bool want_scale;
  Pool& pool;
  const Summation* summation = nullptr;  ///< null: the anchor's ways
  NarrowRoundings narrow = {};

  [[nodiscard]] const task::Node& node() const { return graph.graph.node(id); }
  [[nodiscard]] const task::Shape& shape() const { return graph.shapes[static_cast<size_t>(id)]; }
  [[nodiscard]] const task::Shape& operand_shape(size_t k) const {
    return graph.shapes[static_cast<size_t>(node().operands[k])];
  }
  [[nodiscard]] const NodeFacts& fact() const { return facts[static_cast<size_t>(id)]; }
  [[nodiscard]] const NodeFacts& operand_fact(size_t k) const {
    return facts[static_cast<size_t>(node().operands[k])];
  }
  /// The result carries scales.
  [[nodiscard]] bool scaled() const { return want_scale && fact().has_scale(); }
  /// Every operation rounds to fp32.
  [[nodiscard]] bool rounds() const { return arithmetic != Arithmetic::kExact && fact().narrow; }
  /// The arithmetic is a reduced track's, which keeps fp32's inputs and sums in its own type.
  [[nodiscard]] bool reduces() const {
    return arithmetic == Arithmetic::kTf32 || arithmetic == Arithmetic::kBf16 || arithmetic == Arithmetic::kF16;
  }
  /// The result's memory.
  [[nodiscard]] Fresh fresh() const { return make_dense(box, scaled(), pool); }
};

/// The operation rounds nothing: its results are copies, picks or truth values of its operands.
[[nodiscard]] bool keeps_exact(task::Prim op);

/// The node is x less its own largest or least element (less_extreme_scale() of kernels/scale_rules.inc).
[[nodiscard]] bool is_less_its_extreme(const task::Graph& graph, int id);

/// On reduced tracks: rounds inputs, or results of sums, of `step` to the track's type.
void round_to_track(const Step& step, int64_t count, double* values);

/// Runs any primitive.
[[nodiscard]] Tensor run_step(const Step& step);

// The families.
[[nodiscard]] Tensor leaf_step(const Step& step);        ///< input, constant, symbol, iota
[[nodiscard]] Tensor elementwise_step(const Step& step);
[[nodiscard]] Tensor shape_step(const Step& step);       ///< broadcast … flip
[[nodiscard]] Tensor reduce_step(const Step& step);
[[nodiscard]] Tensor scan_step(const Step& step);
[[nodiscard]] Tensor dot_step(const Step& step);
[[nodiscard]] Tensor conv_step(const Step& step);        ///< both directions
[[nodiscard]] Tensor pool_step(const Step& step);
[[nodiscard]] Tensor gather_step(const Step& step);      ///< gather, take along axis
[[nodiscard]] Tensor scatter_step(const Step& step);
[[nodiscard]] Tensor sort_step(const Step& step);        ///< sort, arg-sort

/// The operand is read from the input's own memory, element by element: it needs no box.
[[nodiscard]] bool reads_input_directly(const task::Graph& graph, int id, size_t operand);

/// Reductions in parts, for operands too large to hold: reduce_region() reduces any region of the
/// operand along the node's axes, combine_partials() the results of regions that differ along those
/// axes only. Not for kArgMax and kArgMin, whose parts would need their values too.
[[nodiscard]] Tensor reduce_region(const Step& step, const Tensor& region);
[[nodiscard]] Tensor combine_partials(const Step& step, const std::vector<Tensor>& parts);

}  // namespace hone::evaluate
