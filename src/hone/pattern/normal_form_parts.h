// What the steps of normal_form() share: products' letters, and new nodes. Pure.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hone/pattern/normal_form.h"

namespace hone::pattern {

struct Letters {
  std::string left, right, result;
};
[[nodiscard]] Letters letters_of(const task::Node& dot);
[[nodiscard]] inline bool has(const std::string& letters, char c) { return letters.find(c) != std::string::npos; }

/// The value of a constant, seen through broadcasts; nothing for anything else.
[[nodiscard]] std::optional<double> constant_value(const task::Graph& graph, int id);

/// Appends a node.
int append(task::Graph& graph, task::Node node);

/// Picking from what is computed element by element, as computing with what is picked: one element instead of the whole row. Appends
/// that to the graph and gives its node; -1 where what is below `pick` does not allow it.
[[nodiscard]] int picked_first(task::Graph& graph, const task::Node& pick);

/// A slice of what a transpose, or a reshape that takes dimensions apart, makes of something, as that of a slice: whoever slices what is
/// in memory (queries in a packed tensor) reads it there. Appends it; -1 where it is none.
[[nodiscard]] int sliced_before_views(task::Graph& graph, const task::Node& slice);

/// A flip of what is computed element by element, or by scans, as a computation with flipped inputs; scans run the other way. Appends
/// that to the graph and gives its node; -1 where something else lies between.
[[nodiscard]] int flipped_first(task::Graph& graph, const task::Node& flip);

/// The same of any node along dimension `axis` of it: what it is, turned round.
[[nodiscard]] int turned_round(task::Graph& graph, int id, size_t axis);
/// Dimensions that flips turn round among what `id` is made of.
[[nodiscard]] size_t flips_below(const task::Graph& graph, int id);

/// Where a node of the graph that is rewritten has its place in the new one.
using Placed = std::function<int(int id)>;
/// The node with its operands in the new graph.
[[nodiscard]] task::Node moved(task::Node node, const Placed& placed);
/// The task with the nodes that `make` appends to `out` in place of each; it gives the one that stands for `original`.
[[nodiscard]] task::Task remade(const task::Task& task, const std::function<int(task::Graph& out, const task::Node& original, const Placed& placed)>& make);

/// Slices of element-wise work on concatenations and padding, of each of which they take part of one piece, as that work on slices of the
/// pieces; where nobody else uses the work.
[[nodiscard]] task::Task with_pieces(const task::Task& task);

/// Drops what no output needs; inputs stay.
void drop_dead(task::Graph& graph);

/// A slice of what is computed as a computation with slices: of element-wise work down to a product, of which it is a product with
/// a slice of one factor. -1 where it is none.
[[nodiscard]] int sliced_first(task::Graph& graph, const task::Node& slice);

}  // namespace hone::pattern
