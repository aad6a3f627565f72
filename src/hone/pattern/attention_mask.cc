#include "hone/pattern/attention_mask.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "hone/pattern/nest.h"
#include "hone/task/graph/fold.h"

namespace hone::pattern {
namespace {

using task::Graph;
using task::IntExpr;
using task::Node;
using task::Prim;

/// A whole number made of indices: constant + the sum of coefficients times the index along an axis, counted from the last one.
struct Affine {
  IntExpr constant = 0;
  std::map<size_t, int64_t> along;
};

/// Dimensions that are more than 1, counted from the last one.
std::vector<size_t> wide_dims(const Node& node) {
  std::vector<size_t> all;
  for (size_t k = 0; k < node.type.dims.size(); ++k)
    if (!is_one(node.type.dims[node.type.dims.size() - 1 - k])) all.push_back(k);
  return all;
}

std::optional<Affine> affine(const Graph& graph, int id) {
  const Node& node = graph.node(id);
  const auto of = [&](size_t k) { return affine(graph, node.operands[k]); };
  switch (node.prim) {
    case Prim::kBroadcast: return of(0);
    case Prim::kCast: return task::is_int(node.type.dtype) ? of(0) : std::nullopt;
    case Prim::kIota: {
      const size_t rank = node.type.dims.size();
      return Affine{0, {{rank - 1 - static_cast<size_t>(node.attr<int64_t>("axis")), 1}}};
    }
    case Prim::kConstant: {
      const double value = task::constant_value(node.attrs.find("value")->second);
      if (!task::is_int(node.type.dtype) || std::abs(value) > 0x1p53) return std::nullopt;
      return Affine{IntExpr(static_cast<int64_t>(value)), {}};
    }
    case Prim::kSymbol: return Affine{node.attr<IntExpr>("value"), {}};
    case Prim::kReshape: {
      const auto x = of(0);
      const auto before = wide_dims(graph.node(node.operands[0])), after = wide_dims(node);
      if (!x || before.size() != after.size()) return std::nullopt;  // only dimensions of 1 come and go
      Affine y{x->constant, {}};
      for (const auto& [axis, factor] : x->along) {
        const auto at = std::find(before.begin(), before.end(), axis);
        if (at != before.end()) y.along[after[static_cast<size_t>(at - before.begin())]] = factor;
      }
      return y;
    }
    case Prim::kAdd: case Prim::kSub: {
      auto x = of(0);
      const auto y = of(1);
      if (!x || !y) return std::nullopt;
      const int64_t sign = node.prim == Prim::kAdd ? 1 : -1;
      x->constant = sign > 0 ? x->constant + y->constant : x->constant - y->constant;
      for (const auto& [axis, factor] : y->along) x->along[axis] += sign * factor;
      return x;
    }
    default: return std::nullopt;
  }
}

}  // namespace

std::optional<VisibleKeys> visible_keys(const Graph& graph, int condition) {
  const Node& test = graph.node(condition);
  if (test.prim == Prim::kReshape && wide_dims(test) != wide_dims(graph.node(test.operands[0]))) return std::nullopt;
  if (test.prim == Prim::kBroadcast || test.prim == Prim::kReshape) return visible_keys(graph, test.operands[0]);
  if (test.prim == Prim::kAnd) {
    const auto x = visible_keys(graph, test.operands[0]), y = visible_keys(graph, test.operands[1]);
    if (!x || !y) {  // what is known of one side holds of both together
      auto known = x ? x : y;
      if (known) known->exact = false;
      return known;
    }
    const auto both = [](const std::optional<IntExpr>& a, const std::optional<IntExpr>& b, auto tighter) { return a && b ? tighter(*a, *b) : a ? a : b; };
    return VisibleKeys{both(x->from, y->from, [](const IntExpr& a, const IntExpr& b) { return std::optional(IntExpr::max(a, b)); }),
                       both(x->to, y->to, [](const IntExpr& a, const IntExpr& b) { return std::optional(IntExpr::min(a, b)); }), x->exact && y->exact};
  }
  const bool less = test.prim == Prim::kLe || test.prim == Prim::kLt, strict = test.prim == Prim::kLt || test.prim == Prim::kGt;
  if (!less && test.prim != Prim::kGe && test.prim != Prim::kGt) return std::nullopt;
  const auto left = affine(graph, test.operands[less ? 1 : 0]), right = affine(graph, test.operands[less ? 0 : 1]);
  if (!left || !right) return std::nullopt;
  // Now left - right >= 0, or 1: queries are the axis before the last one.
  const auto factor = [&](size_t axis) {
    const auto x = left->along.find(axis), y = right->along.find(axis);
    return (x == left->along.end() ? 0 : x->second) - (y == right->along.end() ? 0 : y->second);
  };
  for (const auto* side : {&left->along, &right->along})
    for (const auto& [axis, of] : *side)
      if (axis > 1 && factor(axis) != 0) return std::nullopt;
  const IntExpr rest = left->constant - right->constant - (strict ? 1 : 0);
  if (factor(1) == 1 && factor(0) == -1) return VisibleKeys{std::nullopt, rest, true};
  if (factor(1) == -1 && factor(0) == 1) return VisibleKeys{IntExpr(0) - rest, std::nullopt, true};
  return std::nullopt;
}

bool hides_by_infinity(const Graph& graph, int scores) {
  const Node& choice = graph.node(scores);
  if (choice.prim != Prim::kWhere) return false;
  int other = choice.operands[2];
  while (graph.node(other).prim == Prim::kBroadcast || graph.node(other).prim == Prim::kReshape || graph.node(other).prim == Prim::kCast) other = graph.node(other).operands[0];
  const Node& hidden = graph.node(other);
  return hidden.prim == Prim::kConstant && task::constant_value(hidden.attrs.find("value")->second) == -__builtin_inf();
}

}  // namespace hone::pattern
