#include "hone/pattern/sorting.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

namespace hone::pattern {
namespace {

using task::Dims;
using task::Graph;
using task::IntExpr;
using task::Node;
using task::Prim;

bool sorts(const Node& node) { return node.prim == Prim::kSort || node.prim == Prim::kArgSort; }

/// The sort below an output, seen through casts of places and through what keeps a row's beginning; -1: something else.
int sort_under(const Graph& graph, int output, size_t axis) {
  int id = output;
  for (;;) {
    const Node& node = graph.node(id);
    if (sorts(node)) return id;
    if (node.operands.empty()) return -1;
    const Node& below = graph.node(node.operands[0]);
    const bool as_it_is = node.prim == Prim::kReshape && node.type.dims == below.type.dims;
    const bool of_places = node.prim == Prim::kCast && task::is_int(node.type.dtype) && below.type.dtype == task::DType::kI64;
    if (!as_it_is && !of_places) {
      if (node.prim != Prim::kSlice) return -1;
      const Dims &dims = node.type.dims, &start = node.attr<Dims>("start");
      const auto& step = node.attr<std::vector<int64_t>>("step");
      for (size_t d = 0; d < dims.size(); ++d)
        if (!(start[d] == IntExpr(0)) || step[d] != 1 || (d != axis && !(dims[d] == below.type.dims[d]))) return -1;
    }
    id = node.operands[0];
  }
}

}  // namespace

bool has_sort(const Graph& graph) { return std::any_of(graph.nodes.begin(), graph.nodes.end(), sorts); }

Result<Sorting> find_sorting(const Graph& graph) {
  std::optional<Sorting> found;
  for (const Node& node : graph.nodes) {
    if (!sorts(node)) continue;
    Sorting here{node.operands[0], static_cast<size_t>(node.attr<int64_t>("axis")), node.attr<bool>("descending")};
    if (found && (found->keys != here.keys || found->axis != here.axis || found->descending != here.descending))
      return fail(ErrorCode::kUnavailable, "sorts of several things");
    found = here;
  }
  if (!found) return fail(ErrorCode::kUnavailable, "no sort");
  for (const int output : graph.outputs) {
    const int sort = sort_under(graph, output, found->axis);
    if (sort < 0) return fail(ErrorCode::kUnavailable, fmt::format("{} of what is sorted", task::name_of(graph.node(output).prim)));
    // A cast of keys that are whole numbers is work, not the sort of places.
    if (graph.node(sort).prim == Prim::kSort && graph.node(output).type.dtype != graph.node(sort).type.dtype)
      return fail(ErrorCode::kUnavailable, "cast of what is sorted");
  }
  const Dims& dims = graph.node(found->keys).type.dims;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (d != found->axis) found->rows = found->rows * dims[d];
    if (d > found->axis) found->beside = found->beside * dims[d];
  }
  found->length = dims[found->axis];
  return *found;
}

bool is_places(const Graph& graph, const Sorting& sorting, int output) { return graph.node(sort_under(graph, output, sorting.axis)).prim == Prim::kArgSort; }

int64_t longest_row(const task::Task& task, const Sorting& sorting) {
  int64_t longest = 1;
  for (const task::Workload& workload : task.workloads) longest = std::max(longest, sorting.length.eval(workload.bindings).value_or(1));
  return longest;
}

}  // namespace hone::pattern
