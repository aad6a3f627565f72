// A factor of a product that is computed from inputs element by element, as weights kept in few bits are: unpacked, shifted by a
// zero, scaled by what a group has in common. However it is written, an element of it is a function of where it stands. Pure.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hone/base/result.h"
#include "hone/pattern/contraction.h"

namespace hone::pattern {

/// A step of a walk along a group of axes: `axis` of the nest, or -1 where the factor does not move along it.
struct Place {
  int axis = -1;
  task::IntExpr extent;
};

struct Operand {
  task::Task task;                 ///< reads some of the whole task's inputs, by their names; its output is the factor
  Nest nest;                       ///< of it, with axes apart
  std::vector<Place> batch, line, depth;  ///< outermost first; together they are all axes

  [[nodiscard]] int root() const { return task.primitive.outputs.front(); }
  [[nodiscard]] task::DType dtype() const { return task.primitive.node(root()).type.dtype; }
  /// Nodes that are read from memory: inputs, and slices of them.
  [[nodiscard]] std::vector<int> leaves() const;
  [[nodiscard]] bool is_leaf(int id) const;
  /// Bytes that it is made from at the first workload.
  [[nodiscard]] double bytes_read() const;
  /// And its own, as it is multiplied.
  [[nodiscard]] double bytes() const;
};

/// A product of factors of one byte, both or one of them with scales that are the same for segments of the depth: the same task without
/// the scales, which are to be applied to sums of such segments.
struct Scaled {
  task::Task bare;                    ///< find_computed() takes it; factors are numbers of one byte
  int left = -1, right = -1;          ///< the whole task's nodes that the product's operands are
};
/// kUnavailable where there is no such product.
[[nodiscard]] Result<Scaled> find_scaled(const task::Task& task);

/// The node of an operand's graph that is the scale of its numbers; nothing where they have none.
[[nodiscard]] std::optional<int> scale_of(const task::Graph& graph, int operand);
/// Neighbours in depth for which `node` is one value; nothing where it is one along the whole depth.
[[nodiscard]] std::optional<task::IntExpr> steady_depth(const Operand& operand, int node);

/// Node `root` of the whole task, with dimensions `letters`, as one of the contraction's factors: the right or the left one.
[[nodiscard]] Result<std::unique_ptr<Operand>> operand_of(const task::Task& task, int root, const std::string& letters, const Contraction& contraction, bool right);

/// The computed factor of a contraction (Contraction::computed). kUnavailable where an operation is not one of single elements.
[[nodiscard]] Result<std::unique_ptr<Operand>> find_operand(const task::Task& task, const Contraction& contraction);

}  // namespace hone::pattern
