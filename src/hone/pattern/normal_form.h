// Graphs as the patterns know them best: the same computation with fewer, larger operations. Pure.
#pragma once
#include <optional>

#include "hone/task/task.h"

namespace hone::pattern {

/// Products without rows or columns become multiply and sum; a convolution that looks at one element at a time
/// becomes a product of each image, and zeros around what it looks at its padding; picking from an element-wise result becomes element-wise work on what is
/// picked; a slice of such work on what is joined or padded, work on slices of its pieces; a flip of element-wise work and scans becomes the same of what is flipped (a scan between two flips runs backwards); a scan of all but the last element behind its neutral element becomes an exclusive one; a choice of two quotients by the same divisor becomes one quotient.
/// `picked`: products of a factor that an index picks, several times the same, stay (find_picked): what picks the same are their rows.
[[nodiscard]] task::Task normal_form(const task::Task& task, bool picked = false);

/// Only the last of these, for patterns that take products as they are written.
[[nodiscard]] task::Task with_fewer_divisions(const task::Task& task);

/// A task with one product, of which nothing is used but two slices of its columns, as one with two products of slices of a factor;
/// nothing where the task is none such.
[[nodiscard]] std::optional<task::Task> in_halves(const task::Task& task);

/// A constant's or a padding's value.
[[nodiscard]] double number_of(const task::Attr& value);

/// An operation of our own making.
[[nodiscard]] task::Node node_of(task::Prim prim, std::vector<int> operands, task::TensorType type, task::Attrs attrs = {});

/// What is read in place has the strides of where it is read (Nest::access). As an output it is a tensor of its own: a
/// view of what is read. Part of the normal form, and needed again where a graph's inner nodes become outputs.
void give_outputs_places(task::Graph& graph);

}  // namespace hone::pattern
