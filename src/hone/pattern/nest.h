// The loop nest behind an element-wise and reducing computation: one set of axes for the whole graph,
// found by unifying dimensions across operations and splitting them where a reshape splits them. Every
// tensor then is a subset of the axes, a reduction removes axes, and a kernel is loops over the axes.
// Pure; a graph that has no such nest is an Error (kUnavailable) that names the operation in the way.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hone/base/result.h"
#include "hone/task/task.h"

namespace hone::pattern {

using Strides = std::vector<task::IntExpr>;
/// Elements between neighbours along each dimension of a dense row-major tensor.
[[nodiscard]] Strides dense(const task::Dims& dims);
/// An extent that is 1 whatever the symbols are: no axis.
[[nodiscard]] inline bool is_one(const task::IntExpr& extent) { return extent.is_constant() && extent.constant() == 1; }

struct Axis {
  task::IntExpr extent;
  bool reduced = false;          ///< some reduction runs over it
};

/// Where a node is read in place from an input although it is a slice, a flip or a permutation of it, or picked from it
/// by an index: element (i0, i1, …) lies at base + i0 * strides[0] + i1 * strides[1] + … + index * index_stride.
struct Access {
  int input = -1;                     ///< graph node
  task::IntExpr base = 0;
  std::vector<task::IntExpr> strides; ///< of each dimension
  std::vector<std::vector<int>> axes; ///< of each dimension, as of_node
  int index = -1;                     ///< graph node that holds the index at each element; -1: none
  task::IntExpr index_stride = 0;
};

/// Where an output lies in a larger tensor: element (i0, i1, …) at base + i0 * strides[0] + i1 * strides[1] + …
struct Placement {
  task::IntExpr base = 0;
  std::vector<task::IntExpr> strides;
};

struct Nest {
  const task::Graph* graph = nullptr;   ///< primitive
  std::vector<Axis> axes;
  /// Axes of each node in its memory order, outermost first; dimensions of extent 1 have none.
  std::vector<std::vector<int>> of_node;
  /// Nodes that are read from an input in their own way.
  std::map<int, Access> access;
  /// Outputs that are written in a way of their own; `input` says nothing.
  std::map<int, Access> placed;
  /// Axes of the loops, outermost first: the order of the largest tensors in memory.
  std::vector<int> order;
  /// Axes that are not merged with the axis before them.
  std::vector<int> fenced;
  /// NestOptions::apart: of each node's dimensions, the axes that it is.
  std::vector<std::vector<std::vector<int>>> of_dims;
  /// Of a concatenation the axes that say together which operand an element comes from, outermost first.
  std::map<int, std::vector<int>> pieces;
  /// Reshapes that split a symbolic extent hold only where these divide: "C % 8 == 0".
  std::vector<task::IntExpr> conditions;

  [[nodiscard]] bool has(int node, int axis) const;
  /// The one axis that dimension `dim` of a node is; nothing where it has extent 1 or is split or merged.
  [[nodiscard]] std::optional<int> axis_of_dim(int node, int64_t dim) const;
  /// Axes that reduction node `node` removes.
  [[nodiscard]] std::vector<int> removed_by(int node) const;
  /// Elements between neighbours along `axis` in that node's memory: dense, or as `access` or `placed` says; 0 without
  /// the axis.
  [[nodiscard]] task::IntExpr stride(int node, int axis) const;
};

/// The same elements seen otherwise: a broadcast, reshape or transpose.
[[nodiscard]] bool is_view(const task::Node& node);
/// A slice, a flip, or elements picked by an index: read in place where that is an input (Nest::access).
[[nodiscard]] bool is_access(const task::Node& node);

/// The node that alone reads `id`; -1 where several do, none, or whoever reads the output that it is.
[[nodiscard]] int only_reader(const task::Graph& graph, int id);
/// Of a reshape that takes dimensions apart: where the run of `fine` dimensions ends that each of `coarse` becomes. Nothing for any other.
[[nodiscard]] std::optional<std::vector<size_t>> ends_of_runs(const task::Dims& coarse, const task::Dims& fine);

struct NestOptions {
  bool columns = true;           ///< of a Program: may go by columns
  bool scans = false;            ///< scans are taken as element-wise; whoever asks walks their axis in order
  bool apart = false;            ///< axes stay as reshapes take them apart, and concatenations of equal pieces are taken (Nest::pieces)
  bool by_outputs = false;       ///< loops in the order in which outputs lie in memory, whatever inputs do
  bool slices = false;           ///< slices and flips of inputs, and elements picked from them, are taken, as Nest::access
  std::vector<Placement> placed; ///< of each output; empty: they are dense
  std::vector<size_t> fences;    ///< dimensions of the first input before whose beginnings nothing is merged
};

/// Analyses `task.primitive`. Axes that are always neighbours and share their role are merged.
[[nodiscard]] Result<Nest> find_nest(const task::Task& task, const NestOptions& options = {});

}  // namespace hone::pattern
