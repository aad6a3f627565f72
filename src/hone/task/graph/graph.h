// The task's computation as a typed tensor program: SSA over named operations with symbolic shapes.
// Two levels share one representation. The *surface* graph is what the user wrote (softmax,
// layer_norm, conv2d, …), kept for opponents and explanations; lower() turns it into the *primitive*
// graph (the Prim set below only) that oracle, cost model and patterns work on. Graphs are plain
// values, immutable by convention once built; nodes are in topological order.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hone/base/result.h"
#include "hone/task/language/int_expr.h"
#include "hone/task/types.h"

namespace hone::task {

/// Primitive operations. In comments: operands; attributes; meaning. All are out of place.
/// Element-wise operands have one common rank with each dimension equal to the result's or the
/// literal 1 (broadcast), or are rank 0; lowering inserts the reshapes that make it so. Their types
/// are equal (conditions of kWhere are bool; comparisons give bool): lowering inserts the casts.
/// Attribute types: axis, groups and the like int64_t, lists of numbers std::vector<int64_t>; those
/// marked * may depend on symbols and are Dims (groups: IntExpr) until instantiate() makes numbers
/// of them.
enum class Prim : uint8_t {
  kInput,     ///< attributes name, and structure ("triu", "tril", "symmetric") where declared
  kConstant,  ///< rank 0; attribute value (double, int64 or bool by type), not rounded to the type
  kSymbol,    ///< rank 0, i64; attribute value: an IntExpr over shape symbols
  kIota,      ///< i64 of the result's shape; attribute axis; the index along it
  // element-wise: one, two or three operands
#define HONE_ELEMENTWISE(prim, ...) prim,
#include "hone/task/graph/elementwise.h"
#undef HONE_ELEMENTWISE
  // shape
  kBroadcast,  ///< to the result's shape; same rank
  kReshape,    ///< row-major, to the result's shape
  kTranspose,  ///< attribute perm: result dimension i is operand dimension perm[i]
  kSlice,      ///< attributes start*, step (one per axis; step >= 1); extent from the result's shape
  kConcat,     ///< any number of operands; attribute axis
  kPad,        ///< x; attributes low*, high* (>= 0), value (as of kConstant)
  kFlip,       ///< attribute axes
  // reductions: reduced dimensions stay, with extent 1; attribute axes, sorted
  kSum,
  kProd,
  kMax,
  kMin,
  kAny,
  kAll,
  kArgMax,
  kArgMin,  ///< one axis; i64 index of the first extreme element
  // scans along attribute axis; attributes reverse, exclusive
  kCumSum,
  kCumProd,
  kCumMax,
  kCumMin,
  kCumLogSumExp,  ///< log of the running sum of exp, without overflow or underflow on the way
  kLinearScan,    ///< a, b of one shape: h = a * (h before) + b, each h from the one before; the first h is b's
  kDot,           ///< two operands; attribute spec, an einsum such as "bik,bkj->bij" (no repeated letter in
                  ///< one operand; letters absent from the result are summed). The result's type may be
                  ///< wider than the operands': the type to accumulate in
  // Both convolutions' result type may be wider too. The result's shape says how many windows.
  kConv,  ///< x [N, C, s…], w [O, C/groups, k…]; stride, padding_low, padding_high, dilation, groups*
  kConvTranspose,  ///< x [N, C, s…], w [C, O/groups, k…]; stride, padding, output_padding, dilation, groups*
  kPoolMax,
  kPoolSum,        ///< windows over the trailing dimensions; kernel, stride, padding_low,
                   ///< padding_high, dilation. Padding counts as -inf and 0. The result's shape
                   ///< says how many windows; none reaches beyond padding_high
  kGather,         ///< x, integer indices in [0, extent); attribute axis: replaces that dimension by
                   ///< the indices' shape
  kTakeAlongAxis,  ///< x, indices of the same rank; attribute axis
  kSort,
  kArgSort,     ///< attributes axis, descending; stable
  kScatterAdd,  ///< x, integer indices in [0, extent), source of the indices' shape; attribute axis: each element of
                ///< source is added where its index says along the axis, in their order
  kScatterMax,
  kScatterMin,  ///< the same, of which the largest (smallest) stays; NaN if any is
};

[[nodiscard]] std::string_view name_of(Prim op);
[[nodiscard]] bool is_elementwise(Prim op);  ///< the rows of elementwise.h
[[nodiscard]] bool is_reduction(Prim op);    ///< kSum … kArgMin
[[nodiscard]] bool is_scan(Prim op);
[[nodiscard]] bool is_scatter(Prim op);      ///< kScatterAdd … kScatterMin

using Dims = std::vector<IntExpr>;

struct TensorType {
  DType dtype = DType::kF32;
  Dims dims;
  [[nodiscard]] std::string to_string() const;  ///< "f32[B, D]"; rank 0: "f32[]"
  /// Reads "f32[B, 2*D]", "f32[]" or "f32"; errors carry "column N" in the text as their context.
  [[nodiscard]] static Result<TensorType> parse(std::string_view text);
  friend bool operator==(const TensorType&, const TensorType&) = default;
};

using Attr = std::variant<int64_t, double, bool, std::string, std::vector<int64_t>, IntExpr, Dims>;
using Attrs = std::map<std::string, Attr, std::less<>>;

/// Line and column (from 1) in the task file or expression; 0 where there is none.
struct Where {
  int line = 0;
  int column = 0;
};

/// In a surface graph: op "input", "constant" and "symbol" as the primitives; every other op is a row
/// of the op table (op_table.h), its attributes are that row's parameters by name, defaults filled
/// in, axes counted from 0. The attribute `weak` (true) marks scalars made of numbers and symbols
/// only: they take the type of the tensor they meet, as Python numbers do.
struct Node {
  std::string op;             ///< surface name ("softmax") or, in a primitive graph, name_of(prim)
  Prim prim{};                ///< meaningful in a primitive graph only
  std::vector<int> operands;  ///< indices of earlier nodes
  Attrs attrs;
  TensorType type;
  std::string name;  ///< the user's name for it, if any
  Where where;

  template <class T>
  [[nodiscard]] const T& attr(std::string_view key) const {
    const auto it = attrs.find(key);
    HONE_CHECK(it != attrs.end() && std::holds_alternative<T>(it->second), std::string(key));
    return std::get<T>(it->second);
  }
};

struct Graph {
  std::vector<Node> nodes;
  std::vector<int> inputs;   ///< node of each task input, in declared order
  std::vector<int> outputs;  ///< node of each task output, in declared order
  std::vector<std::string> output_names;
  [[nodiscard]] const Node& node(int id) const { return nodes[static_cast<size_t>(id)]; }
  [[nodiscard]] std::string to_string() const;  ///< one line a node: "%3 = exp %2 : f32[B, D]"
};

/// A primitive graph with every shape concrete.
struct ConcreteGraph {
  Graph graph;                ///< dims are constants
  std::vector<Shape> shapes;  ///< of each node
  Bindings bindings;
};

/// The surface graph in primitives only, common subexpressions merged, dead nodes dropped.
[[nodiscard]] Graph lower(const Graph& surface);

/// Puts numbers for symbols. kSymbol stays, its value a constant. Fails (kInput) where a shape is
/// inconsistent or not positive.
[[nodiscard]] Result<ConcreteGraph> instantiate(const Graph& primitive, const Bindings& bindings);

}  // namespace hone::task
