// Triangles: which part of the last two axes of a node can differ from a known filling (0 or -inf),
// or is looked at by anyone. Found from declared structure and from masks made of positions, such as
// tril(x) and causal attention. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "hone/task/graph/graph.h"

namespace hone::task {

/// Positions (row i, column j) with j - i >= offset (upper) or j - i <= offset (lower).
struct Triangle {
  bool upper = false;
  int64_t offset = 0;
  [[nodiscard]] Triangle transposed() const { return {!upper, -offset}; }
  [[nodiscard]] bool holds(int64_t i, int64_t j) const { return upper ? j - i >= offset : j - i <= offset; }
  /// Columns of row i among `columns`: [first, end).
  [[nodiscard]] int64_t first(int64_t i) const;
  [[nodiscard]] int64_t end(int64_t i, int64_t columns) const;
  friend bool operator==(const Triangle&, const Triangle&) = default;
};

/// Positions of a rows x columns matrix inside.
[[nodiscard]] double triangle_count(const Triangle& t, int64_t rows, int64_t columns);

/// For each node the triangle outside which it need not be computed, if there is one.
[[nodiscard]] std::vector<std::optional<Triangle>> find_triangles(const ConcreteGraph& graph);

/// Multiplications of a kDot node, of those triangles of its operands and its result that are known.
[[nodiscard]] double dot_products(const ConcreteGraph& graph, int id,
                                  const std::vector<std::optional<Triangle>>& triangles);

}  // namespace hone::task
