// What the reference says of an op beyond its row: the element types it takes and gives, found by
// trying its example on each, and its use as text. Pure.
#pragma once
#include <string>

#include "hone/task/graph/graph.h"
#include "hone/task/reference/op_example.h"

namespace hone::task {

/// The example as a graph: its inputs are the example's, its outputs the call's results. `change`
/// replaces the type of the inputs that carry the op's data (the example's f32; where it has none its
/// i64, else its bool). Fails where the op does not take that type.
[[nodiscard]] Result<Graph> example_graph(const Op& op, std::optional<DType> change = std::nullopt);

/// "floats; integers, bool -> f32": the types taken, and the result's where it is another. "any": all,
/// and the type stays. "-": the op takes no tensor. T in a list of results is the type taken.
[[nodiscard]] std::string types_text(const Op& op);

/// As task files write it: "-1", "1e-05", "none".
[[nodiscard]] std::string default_text(const Param& param);

/// Everything about one op, for a terminal.
[[nodiscard]] std::string op_text(const Op& op);
/// Of each op of a task's own graph that has arguments which may be left out its signature and meaning, a line each, in the order of their first
/// use: for whoever sees the task and not the reference.
[[nodiscard]] std::string ops_used_text(const Graph& surface);
/// All ops by family, one line each, for a terminal.
[[nodiscard]] std::string op_table_text();
/// The same as Markdown tables under headings of level three.
[[nodiscard]] std::string op_table_markdown();

}  // namespace hone::task
