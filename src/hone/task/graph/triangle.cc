#include "hone/task/graph/triangle.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "hone/task/graph/fold.h"
#include "hone/task/graph/prim_info.h"

namespace hone::task {
namespace {

/// What a node is outside its triangle.
enum class Filling : uint8_t { kZero, kMinusInf };
struct Known {
  Triangle triangle;
  Filling filling = Filling::kZero;
};

/// Row or column index of the last two axes, plus a constant.
struct Position {
  bool row = false;
  int64_t offset = 0;
};

class Finder {
 public:
  explicit Finder(const ConcreteGraph& graph) : graph_(graph), known_(graph.shapes.size()) {}

  std::vector<std::optional<Triangle>> run() {
    for (int id = 0; id < size(); ++id) known_[static_cast<size_t>(id)] = forward(id);
    std::vector<std::optional<Triangle>> looked_at = backward();
    for (size_t id = 0; id < known_.size(); ++id)
      if (known_[id]) looked_at[id] = known_[id]->triangle;
    return looked_at;
  }

 private:
  [[nodiscard]] int size() const { return static_cast<int>(graph_.shapes.size()); }
  [[nodiscard]] const Node& node(int id) const { return graph_.graph.node(id); }
  [[nodiscard]] const Shape& shape(int id) const { return graph_.shapes[static_cast<size_t>(id)]; }
  [[nodiscard]] const std::optional<Known>& known(int id) const { return known_[static_cast<size_t>(id)]; }

  [[nodiscard]] bool same_matrix(int a, int b) const {
    const Shape& x = shape(a);
    const Shape& y = shape(b);
    return x.size() >= 2 && y.size() >= 2 && std::equal(x.end() - 2, x.end(), y.end() - 2);
  }

  [[nodiscard]] std::optional<double> constant(int id) const {
    const Node& n = node(id);
    if (n.prim == Prim::kCast || n.prim == Prim::kReshape || n.prim == Prim::kBroadcast)
      return constant(n.operands[0]);
    if (n.prim != Prim::kConstant) return std::nullopt;
    return constant_value(n.attrs.find("value")->second);
  }

  [[nodiscard]] std::optional<Position> position(int id) const {
    const Node& n = node(id);
    if (n.prim == Prim::kIota) {
      const auto rank = static_cast<int64_t>(shape(id).size());
      const int64_t axis = n.attr<int64_t>("axis");
      if (rank == 1) return Position{false, 0};
      if (axis < rank - 2) return std::nullopt;
      return Position{axis == rank - 2, 0};
    }
    if (n.prim == Prim::kReshape || n.prim == Prim::kBroadcast) {
      const auto inner = position(n.operands[0]);
      const Shape& from = shape(n.operands[0]);
      const Shape& to = shape(id);
      if (!inner || from.empty() || to.size() < 2) return std::nullopt;
      if (from.size() == 1) {  // a vector of indices stood up or laid down
        if (to.back() == from[0]) return Position{false, inner->offset};
        if (to.back() == 1 && to[to.size() - 2] == from[0]) return Position{true, inner->offset};
        return std::nullopt;
      }
      if (!same_matrix(id, n.operands[0]) && n.prim == Prim::kReshape) return std::nullopt;
      return inner;
    }
    if (n.prim != Prim::kAdd && n.prim != Prim::kSub) return std::nullopt;
    const auto left = position(n.operands[0]);
    const auto right = constant(n.operands[1]);
    if (left && right)
      return Position{left->row,
                      left->offset + static_cast<int64_t>(n.prim == Prim::kAdd ? *right : -*right)};
    const auto other = position(n.operands[1]);
    const auto first = constant(n.operands[0]);
    if (other && first && n.prim == Prim::kAdd)
      return Position{other->row, other->offset + static_cast<int64_t>(*first)};
    return std::nullopt;
  }

  /// Where a condition made of positions holds.
  [[nodiscard]] std::optional<Triangle> mask(int id) const {
    const Node& n = node(id);
    if (n.prim == Prim::kReshape || n.prim == Prim::kBroadcast)
      return same_matrix(id, n.operands[0]) ? mask(n.operands[0]) : std::nullopt;
    if (n.prim == Prim::kNot) {
      const auto inner = mask(n.operands[0]);
      return inner ? std::optional(complement(*inner)) : std::nullopt;
    }
    const bool less = n.prim == Prim::kLt || n.prim == Prim::kLe;
    if (!less && n.prim != Prim::kGt && n.prim != Prim::kGe) return std::nullopt;
    auto a = position(n.operands[0]);
    auto b = position(n.operands[1]);
    if (!a || !b || a->row == b->row) return std::nullopt;
    if (!less) std::swap(a, b);  // now a <= b, or a < b
    const int64_t strict = n.prim == Prim::kLt || n.prim == Prim::kGt ? 1 : 0;
    // row + a <= col + b: j - i >= a - b. col + a <= row + b: j - i <= b - a.
    if (a->row) return Triangle{true, a->offset - b->offset + strict};
    return Triangle{false, b->offset - a->offset - strict};
  }

  static Triangle complement(const Triangle& t) { return {!t.upper, t.upper ? t.offset - 1 : t.offset + 1}; }

  [[nodiscard]] std::optional<Known> forward(int id) const {
    const Node& n = node(id);
    if (shape(id).size() < 2) return std::nullopt;
    switch (n.prim) {
      case Prim::kInput: {
        const auto it = n.attrs.find("structure");
        if (it == n.attrs.end()) return std::nullopt;
        const std::string& structure = std::get<std::string>(it->second);
        if (structure == "symmetric") return std::nullopt;
        return Known{{structure == "triu", 0}, Filling::kZero};
      }
      case Prim::kWhere:
        return forward_where(id);
      case Prim::kExp: {
        const auto& x = known(n.operands[0]);
        return x && x->filling == Filling::kMinusInf ? std::optional(Known{x->triangle, Filling::kZero})
                                                     : std::nullopt;
      }
      case Prim::kMul:
      case Prim::kDiv:
      case Prim::kAdd:
      case Prim::kSub:
        return forward_binary(id);
      case Prim::kTranspose: {
        const auto& perm = n.attr<std::vector<int64_t>>("perm");
        const auto rank = static_cast<int64_t>(perm.size());
        const auto& x = known(n.operands[0]);
        if (!x) return std::nullopt;
        if (perm[perm.size() - 1] == rank - 1 && perm[perm.size() - 2] == rank - 2) return x;
        if (perm[perm.size() - 1] == rank - 2 && perm[perm.size() - 2] == rank - 1)
          return Known{x->triangle.transposed(), x->filling};
        return std::nullopt;
      }
      case Prim::kReshape:
      case Prim::kBroadcast:
        return same_matrix(id, n.operands[0]) ? known(n.operands[0]) : std::nullopt;
      default:
        break;
    }
    if (!info_of(n.prim).is(PrimInfo::kKeepsZero)) return std::nullopt;
    const auto& x = known(n.operands[0]);
    return x && (x->filling == Filling::kZero || n.prim == Prim::kCast) ? x : std::nullopt;
  }

  [[nodiscard]] std::optional<Known> forward_where(int id) const {
    const Node& n = node(id);
    if (!same_matrix(id, n.operands[0])) return std::nullopt;
    const auto t = mask(n.operands[0]);
    if (!t) return std::nullopt;
    for (const size_t branch : {2, 1}) {
      const auto value = constant(n.operands[branch]);
      if (!value || (*value != 0 && !(std::isinf(*value) && *value < 0))) continue;
      return Known{branch == 2 ? *t : complement(*t), *value == 0 ? Filling::kZero : Filling::kMinusInf};
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<Known> forward_binary(int id) const {
    const Node& n = node(id);
    const auto side = [&](size_t i) {
      return same_matrix(id, n.operands[i]) ? known(n.operands[i]) : std::optional<Known>();
    };
    const auto a = side(0);
    const auto b = side(1);
    if (n.prim == Prim::kMul) {
      if (a && a->filling == Filling::kZero) return a;
      if (b && b->filling == Filling::kZero) return b;
      return std::nullopt;
    }
    if (n.prim == Prim::kDiv) return a && a->filling == Filling::kZero ? a : std::nullopt;
    if (a && b)
      return a->triangle == b->triangle && a->filling == b->filling && a->filling == Filling::kZero
                 ? a
                 : std::nullopt;
    if (a && a->filling == Filling::kMinusInf) return a;  // less or plus something finite
    if (b && b->filling == Filling::kMinusInf && n.prim == Prim::kAdd) return b;
    return std::nullopt;
  }

  /// Values that only a mask looks at: the scores of causal attention before masking.
  [[nodiscard]] std::vector<std::optional<Triangle>> backward() const {
    std::vector<std::optional<Triangle>> seen(known_.size());
    std::vector<bool> everywhere(known_.size());
    for (const int id : graph_.graph.outputs) everywhere[static_cast<size_t>(id)] = true;
    for (int id = size(); id-- > 0;) {
      const Node& n = node(id);
      for (size_t i = 0; i < n.operands.size(); ++i) {
        const auto operand = static_cast<size_t>(n.operands[i]);
        std::optional<Triangle> looks;
        if (is_elementwise(n.prim) && same_matrix(id, n.operands[i])) {
          if (known(id))
            looks = known(id)->triangle;
          else if (!everywhere[static_cast<size_t>(id)])
            looks = seen[static_cast<size_t>(id)];
        }
        if (!looks || (seen[operand] && !(*seen[operand] == *looks)))
          everywhere[operand] = true;
        else
          seen[operand] = looks;
      }
    }
    for (size_t id = 0; id < seen.size(); ++id)
      if (everywhere[id]) seen[id].reset();
    return seen;
  }

  const ConcreteGraph& graph_;
  std::vector<std::optional<Known>> known_;
};

/// Triangle of two named dimensions: row letter, column letter.
struct Pair {
  char row;
  char column;
  Triangle triangle;
};

double count_of(const Pair& p, const std::map<char, int64_t>& extents) {
  return triangle_count(p.triangle, extents.at(p.row), extents.at(p.column));
}

/// How many values of the other dimension fit `value` of `letter`.
double partners(const Pair& p, char letter, int64_t value, const std::map<char, int64_t>& extents) {
  const Triangle t = letter == p.row ? p.triangle : p.triangle.transposed();
  const int64_t others = extents.at(letter == p.row ? p.column : p.row);
  return static_cast<double>(std::max<int64_t>(0, t.end(value, others) - t.first(value)));
}

/// Triples that fit three pairs over three letters; sampled where there are many.
double count_three(const std::vector<Pair>& pairs, const std::map<char, int64_t>& extents) {
  const char x = pairs[0].row;
  const char y = pairs[0].column;
  const int64_t rows = extents.at(x);
  const int64_t stride = std::max<int64_t>(1, rows / 512);
  double total = 0;
  int64_t sampled = 0;
  const auto interval = [&](const Pair& p, char letter, int64_t value, int64_t& first, int64_t& end) {
    const Triangle t = letter == p.row ? p.triangle : p.triangle.transposed();
    const int64_t others = extents.at(letter == p.row ? p.column : p.row);
    first = std::max(first, t.first(value));
    end = std::min(end, t.end(value, others));
  };
  for (int64_t i = stride / 2; i < rows; i += stride, ++sampled)
    for (int64_t j = pairs[0].triangle.first(i); j < pairs[0].triangle.end(i, extents.at(y)); ++j) {
      int64_t first = 0;
      int64_t end = INT64_MAX;
      for (size_t p = 1; p < 3; ++p) {
        const bool has_x = pairs[p].row == x || pairs[p].column == x;
        interval(pairs[p], has_x ? x : y, has_x ? i : j, first, end);
      }
      total += static_cast<double>(std::max<int64_t>(0, end - first));
    }
  return total * static_cast<double>(rows) / static_cast<double>(sampled);
}

}  // namespace

int64_t Triangle::first(int64_t i) const { return upper ? std::max<int64_t>(0, i + offset) : 0; }

int64_t Triangle::end(int64_t i, int64_t columns) const {
  return upper ? columns : std::clamp<int64_t>(i + offset + 1, 0, columns);
}

double triangle_count(const Triangle& t, int64_t rows, int64_t columns) {
  // Row sums grow or shrink linearly between two bends, so a sum over many rows is sampled exactly
  // enough: every row up to 2^20, then evenly.
  const int64_t stride = std::max<int64_t>(1, rows >> 20);
  double total = 0;
  int64_t sampled = 0;
  for (int64_t i = stride / 2; i < rows; i += stride, ++sampled)
    total += static_cast<double>(std::max<int64_t>(0, t.end(i, columns) - t.first(i)));
  return total * static_cast<double>(rows) / static_cast<double>(sampled);
}

std::vector<std::optional<Triangle>> find_triangles(const ConcreteGraph& graph) {
  return Finder(graph).run();
}

double dot_products(const ConcreteGraph& graph, int id,
                    const std::vector<std::optional<Triangle>>& triangles) {
  const Node& node = graph.graph.node(id);
  const std::string& spec = node.attr<std::string>("spec");
  const size_t comma = spec.find(',');
  const size_t arrow = spec.find("->");
  const std::string letters[3] = {spec.substr(0, comma), spec.substr(comma + 1, arrow - comma - 1),
                                  spec.substr(arrow + 2)};
  std::map<char, int64_t> extents;
  std::vector<Pair> pairs;
  for (size_t part = 0; part < 3; ++part) {
    const int tensor = part < 2 ? node.operands[part] : id;
    const Shape& shape = graph.shapes[static_cast<size_t>(tensor)];
    for (size_t i = 0; i < shape.size(); ++i) extents[letters[part][i]] = shape[i];
    const auto& t = triangles[static_cast<size_t>(tensor)];
    const size_t n = shape.size();
    if (t && n >= 2) pairs.push_back({letters[part][n - 2], letters[part][n - 1], *t});
  }
  double rest = 1;
  for (const auto& [letter, extent] : extents)
    if (std::none_of(pairs.begin(), pairs.end(),
                     [c = letter](const Pair& p) { return p.row == c || p.column == c; }))
      rest *= static_cast<double>(extent);
  if (pairs.empty()) return rest;
  if (pairs.size() == 1) return rest * count_of(pairs[0], extents);
  if (pairs.size() == 3) {
    std::map<char, int> uses;
    for (const Pair& p : pairs) {
      ++uses[p.row];
      ++uses[p.column];
    }
    if (uses.size() == 3) return rest * count_three(pairs, extents);
    pairs.pop_back();
  }
  const auto has = [&](char c) { return pairs[1].row == c || pairs[1].column == c; };
  if (has(pairs[0].row) && has(pairs[0].column))
    return rest * std::min(count_of(pairs[0], extents), count_of(pairs[1], extents));
  // Two pairs that share one letter, or none.
  for (const char letter : {pairs[0].row, pairs[0].column}) {
    if (!has(letter)) continue;
    double total = 0;
    for (int64_t i = 0; i < extents.at(letter); ++i)
      total += partners(pairs[0], letter, i, extents) * partners(pairs[1], letter, i, extents);
    return rest * total;
  }
  return rest * count_of(pairs[0], extents) * count_of(pairs[1], extents);
}

}  // namespace hone::task
