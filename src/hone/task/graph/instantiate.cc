// Numbers for symbols: evaluates every dimension and attribute, and checks each node's rule on them.
#include <fmt/format.h>

#include "hone/task/graph/check.h"
#include "hone/task/graph/graph.h"

namespace hone::task {
namespace {

constexpr int64_t kMaxElements = int64_t{1} << 48;

std::string at(Where where) { return where.line == 0 ? "" : fmt::format("{}:{}", where.line, where.column); }

tl::unexpected<Error> wrong_at(const Node& node, std::string message, std::string hint = {}) {
  return fail(ErrorCode::kInput, std::move(message), std::move(hint), at(node.where));
}

Result<Shape> numbers(const Node& node, const Dims& dims, const Bindings& bindings) {
  Shape shape;
  for (const IntExpr& dim : dims) {
    const auto value = dim.eval(bindings);
    if (!value) return wrong_at(node, value.error().message);
    shape.push_back(*value);
  }
  return shape;
}

Result<Shape> positive_shape(const Node& node, const Bindings& bindings) {
  HONE_TRY(Shape shape, numbers(node, node.type.dims, bindings));
  int64_t count = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] < 1)
      return wrong_at(node, fmt::format("dimension {} of {} is {}: every extent must be at least 1", i,
                                     node.type.to_string(), shape[i]));
    if (__builtin_mul_overflow(count, shape[i], &count) || count > kMaxElements)
      return wrong_at(node, fmt::format("{} has more than 2^48 elements", node.type.to_string()));
  }
  return shape;
}

/// Attributes that depend on symbols become numbers; the value of a symbol stays an expression.
Status settle_attributes(Node& node, const Bindings& bindings) {
  for (auto& [key, attr] : node.attrs) {
    if (const auto* dims = std::get_if<Dims>(&attr)) {
      HONE_TRY(Shape shape, numbers(node, *dims, bindings));
      attr = std::move(shape);
    } else if (const auto* e = std::get_if<IntExpr>(&attr)) {
      const auto value = e->eval(bindings);
      if (!value) return wrong_at(node, value.error().message);
      if (node.prim == Prim::kSymbol)
        attr = IntExpr(*value);
      else
        attr = *value;
    }
  }
  return {};
}

}  // namespace

Result<ConcreteGraph> instantiate(const Graph& primitive, const Bindings& bindings) {
  ConcreteGraph concrete{primitive, {}, bindings};
  for (const Node& symbolic : primitive.nodes) {
    HONE_TRY(Shape shape, positive_shape(symbolic, bindings));
    Node& node = concrete.graph.nodes[concrete.shapes.size()];
    HONE_TRY_VOID(settle_attributes(node, bindings));
    concrete.shapes.push_back(std::move(shape));
    const std::string broken = broken_rule(primitive, symbolic, node, concrete.shapes);
    if (!broken.empty()) return wrong_at(node, broken);
    node.type.dims.assign(concrete.shapes.back().begin(), concrete.shapes.back().end());
  }
  return concrete;
}

}  // namespace hone::task
