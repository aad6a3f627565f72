// Expansion of surface ops into primitives. Owns: the primitive graph while it grows, with common
// subexpressions merged and constants folded as nodes are added. Ref is a handle on a node with
// arithmetic, so that an expansion reads like the formula it implements. One thread; our own mistakes
// (a rule of graph.h broken) stop the program.
#pragma once
#include <map>
#include <span>
#include <string>
#include <vector>

#include "hone/task/graph/graph.h"
#include "hone/task/graph/op_table.h"

namespace hone::task {

class Lower;

/// A node of the graph being built.
class Ref {
 public:
  Ref() = default;
  Ref(Lower* lower, int id) : lower_(lower), id_(id) {}
  [[nodiscard]] int id() const { return id_; }
  [[nodiscard]] Lower& lower() const { return *lower_; }
  [[nodiscard]] const TensorType& type() const;
  [[nodiscard]] DType dtype() const { return type().dtype; }
  [[nodiscard]] const Dims& dims() const { return type().dims; }
  [[nodiscard]] int rank() const { return static_cast<int>(dims().size()); }
  [[nodiscard]] int64_t last() const { return rank() - 1; }

 private:
  Lower* lower_ = nullptr;
  int id_ = -1;
};

/// What an expansion gets: the surface node and its operands, already in primitives.
struct LowerCall {
  Lower& lower;
  const Op& op;
  const Node& node;
  std::vector<Ref> in;
  std::vector<Operand> operands;

  template <class T>
  [[nodiscard]] const T& attr(std::string_view key) const {
    return node.attr<T>(key);
  }
  [[nodiscard]] bool has(std::string_view key) const { return node.attrs.contains(key); }
  /// An optional tensor, if it was given.
  [[nodiscard]] std::optional<Ref> find(std::string_view param) const;
  /// Operand i in the type to compute in: f32 for f16 and bf16, else the result's own.
  [[nodiscard]] Ref wide(size_t i = 0) const;
  /// The result in its declared type and shape (a reshape drops dimensions of extent 1).
  [[nodiscard]] Ref done(Ref x) const;
};

class Lower {
 public:
  /// A literal of type `dtype`, rank 0.
  Ref constant(double value, DType dtype);
  Ref integer(int64_t value, DType dtype = DType::kI64);
  /// An expression over shape symbols as a number of type `dtype`.
  Ref symbol(const IntExpr& value, DType dtype);
  /// Adds a node; merges it with an equal one, folds it where its operands are constants.
  Ref add(Prim prim, std::span<const Ref> operands, Attrs attrs, TensorType type);

  [[nodiscard]] const Node& node(int id) const { return graph_.nodes[static_cast<size_t>(id)]; }
  void set_where(Where where) { where_ = where; }
  /// The user's name of a node; the first one stays.
  void set_name(Ref x, const std::string& name) {
    std::string& current = graph_.nodes[static_cast<size_t>(x.id())].name;
    if (current.empty()) current = name;
  }
  /// The graph without dead nodes; the outputs are those given.
  Graph finish(const Graph& surface, std::span<const Ref> inputs, std::span<const Ref> outputs);

 private:
  Ref fold(Prim prim, std::span<const Ref> operands, const TensorType& type, bool& folded);

  Graph graph_;
  std::map<std::string, int> known_;
  Where where_;
};

/// f32 for f16 and bf16 (composite ops compute in it), else the same.
[[nodiscard]] DType compute_dtype(DType dtype);

// Element-wise. Binary forms bring ranks together with reshapes; both types must be equal.
Ref unary(Prim prim, Ref x);
Ref binary(Prim prim, Ref a, Ref b);
Ref where(Ref condition, Ref a, Ref b);
/// `rounds` is kept as an attribute: the user asked for this cast, so its rounding is meant.
Ref cast(Ref x, DType dtype, bool rounds = false);
/// A number of x's type.
Ref like(Ref x, double value);
Ref operator+(Ref a, Ref b);
Ref operator-(Ref a, Ref b);
Ref operator*(Ref a, Ref b);
Ref operator/(Ref a, Ref b);
Ref operator-(Ref x);
Ref operator+(Ref a, double b);
Ref operator+(double a, Ref b);
Ref operator-(Ref a, double b);
Ref operator-(double a, Ref b);
Ref operator*(Ref a, double b);
Ref operator*(double a, Ref b);
Ref operator/(Ref a, double b);
Ref operator/(double a, Ref b);
Ref exp(Ref x);
Ref log(Ref x);
Ref log1p(Ref x);
Ref expm1(Ref x);
Ref sqrt(Ref x);
Ref rsqrt(Ref x);
Ref abs(Ref x);
Ref tanh(Ref x);
Ref erf(Ref x);
Ref maximum(Ref a, Ref b);
Ref minimum(Ref a, Ref b);
Ref square(Ref x);
Ref lt(Ref a, Ref b);
Ref ge(Ref a, Ref b);
Ref gt(Ref a, Ref b);
Ref eq(Ref a, Ref b);
Ref ne(Ref a, Ref b);

// Shape.
Ref reshape(Ref x, Dims dims);
Ref broadcast_to(Ref x, const Dims& dims);
Ref transpose(Ref x, std::vector<int64_t> perm);

/// `extent` elements from `start`, every `step`-th; one entry an axis.
Ref slice(Ref x, Dims start, Dims extent, std::vector<int64_t> step);
/// The same along one axis, step 1.
Ref slice_axis(Ref x, int64_t axis, const IntExpr& start, const IntExpr& extent);
Ref concat(const std::vector<Ref>& parts, int64_t axis);
Ref flip(Ref x, std::vector<int64_t> axes);
Ref pad(Ref x, Dims low, Dims high, double value);
/// The index along `axis`, i64, in a tensor of shape `dims`.
Ref iota(Lower& lower, const Dims& dims, int64_t axis);
/// Integer indices replace the axis by their shape.
Ref gather(Ref x, Ref indices, int64_t axis);
Ref take_along_axis(Ref x, Ref indices, int64_t axis);
Ref scatter(Prim prim, Ref x, Ref indices, Ref source, int64_t axis);
Ref sort(Prim prim, Ref x, int64_t axis, bool descending);
Ref scan(Prim prim, Ref x, int64_t axis, bool reverse = false, bool exclusive = false);
/// Of a and b of one shape.
Ref linear_scan(Ref a, Ref b, int64_t axis, bool reverse);
/// x [..., C at axis 1, ...] times or plus one number a channel: its dimensions for broadcasting.
Ref per_channel(Ref weight, Ref x);

/// An einsum of two tensors, such as "bik,bkj->bij", accumulated in `dtype`. Letters that only one
/// operand has and the result lacks are summed first; transposes of the operands become letters.
Ref dot(std::string spec, Ref a, Ref b, DType dtype);

// Reductions keep the reduced dimensions with extent 1.
Ref reduce(Prim prim, Ref x, std::vector<int64_t> axes);
Ref sum(Ref x, const std::vector<int64_t>& axes);
Ref mean(Ref x, const std::vector<int64_t>& axes);
Ref amax(Ref x, const std::vector<int64_t>& axes);
/// Number of elements along `axes`, as a number of x's type.
Ref count(Ref x, std::span<const int64_t> axes);
/// Two-pass: mean((x - mean(x))^2), the divisor less `correction`.
Ref variance(Ref x, const std::vector<int64_t>& axes, double correction = 0);
/// sum(|x|^p)^(1/p); p may be 0 (how many are not 0) and infinite (the largest, the smallest).
Ref p_norm(Ref x, double p, const std::vector<int64_t>& axes);

}  // namespace hone::task
