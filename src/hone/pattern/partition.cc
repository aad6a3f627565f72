#include "hone/pattern/partition.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "hone/pattern/attention.h"
#include "hone/pattern/nest.h"
#include "hone/pattern/normal_form.h"

namespace hone::pattern {
namespace {

using task::Graph;
using task::Node;
using task::Prim;

using Nodes = std::set<int>;

std::string between_name(int id) { return fmt::format("between{}", id); }

/// What a partition is made from.
class Pieces {
 public:
  Pieces(const task::Task& task, bool reread) : task_(task), graph_(task.primitive) {
    const size_t n = graph_.nodes.size();
    free_.resize(n);
    work_.resize(n);
    for (size_t id = 0; id < n; ++id) {
      const Node& node = graph_.nodes[id];
      const bool leaf = node.prim == Prim::kConstant || node.prim == Prim::kSymbol || node.prim == Prim::kIota;
      free_[id] = leaf || (node.prim != Prim::kInput && !node.operands.empty() &&
                           std::all_of(node.operands.begin(), node.operands.end(), [&](int o) { return free_[static_cast<size_t>(o)]; }));
      const bool widens = node.prim == Prim::kCast && task::is_float(node.type.dtype) &&
                          task::size_of(graph_.node(node.operands[0]).type.dtype) < task::size_of(node.type.dtype);
      const bool view = is_view(node) || (reread && (widens || node.prim == Prim::kSlice));
      const bool output = std::find(graph_.outputs.begin(), graph_.outputs.end(), static_cast<int>(id)) != graph_.outputs.end();
      // A view belongs to whoever looks through it; what needs no tensor is computed wherever it is needed.
      work_[id] = output || (node.prim != Prim::kInput && !view && !free_[id]);
    }
  }

  /// A view becomes a tensor that somebody writes, or is looked through again.
  void write(int view, bool written) { work_[static_cast<size_t>(view)] = written; }
  [[nodiscard]] bool is_work(int id) const { return work_[static_cast<size_t>(id)]; }

  /// Views belong to whoever looks through them: those that a node reads which nobody covers as long as it has to are stored.
  void store_unread(const Covered& covered) {
    for (size_t id = 0; id < work_.size(); ++id) {
      if (!work_[id] || covered(as_task({static_cast<int>(id)}, {static_cast<int>(id)}))) continue;
      std::vector<int> stored;
      for (const int operand : graph_.nodes[id].operands)
        if (const auto o = static_cast<size_t>(operand); !work_[o] && !free_[o] && graph_.nodes[o].prim != Prim::kInput) work_[o] = true, stored.push_back(operand);
      if (!stored.empty() && !covered(as_task({static_cast<int>(id)}, {static_cast<int>(id)})))
        for (const int operand : stored) work_[static_cast<size_t>(operand)] = false;
    }
  }

  [[nodiscard]] std::vector<Nodes> singles() const {
    std::vector<Nodes> all;
    for (size_t id = 0; id < work_.size(); ++id)
      if (work_[id]) all.push_back({static_cast<int>(id)});
    return all;
  }

  /// Work nodes and inputs that `nodes` read and do not hold.
  [[nodiscard]] Nodes needs(const Nodes& nodes) const {
    Nodes found, seen;
    std::vector<int> work;
    for (const int id : nodes)
      for (const int operand : graph_.node(id).operands) work.push_back(operand);
    while (!work.empty()) {
      const int id = work.back();
      work.pop_back();
      if (nodes.contains(id) || !seen.insert(id).second) continue;
      if (work_[static_cast<size_t>(id)] || graph_.node(id).prim == Prim::kInput) {
        found.insert(id);
        continue;
      }
      for (const int operand : graph_.node(id).operands) work.push_back(operand);
    }
    return found;
  }

  /// Those of `nodes` that are outputs of the task or that `others` need.
  [[nodiscard]] std::vector<int> gives(const Nodes& nodes, const std::vector<Nodes>& others) const {
    std::vector<int> out;
    for (const int id : nodes) {
      bool given = std::find(graph_.outputs.begin(), graph_.outputs.end(), id) != graph_.outputs.end();
      for (const Nodes& other : others)
        given = given || (&other != &nodes && !other.contains(id) && needs(other).contains(id));
      if (given) out.push_back(id);
    }
    return out;
  }

  /// `nodes` as a task: reads what it needs, writes `outputs`.
  [[nodiscard]] task::Task as_task(const Nodes& nodes, const std::vector<int>& outputs) const {
    const Nodes from = needs(nodes);
    Nodes inside = nodes;   // with views and free nodes on the way
    std::vector<int> work(nodes.begin(), nodes.end());
    while (!work.empty()) {
      const int id = work.back();
      work.pop_back();
      if (from.contains(id)) continue;
      inside.insert(id);
      for (const int operand : graph_.node(id).operands)
        if (!inside.contains(operand)) work.push_back(operand);
    }
    task::Task part;
    part.name = task_.name;
    part.workloads = task_.workloads;
    part.track = task_.track;
    part.nan_policy = task_.nan_policy;
    Graph& out = part.primitive;
    std::map<int, int> place;
    for (const int id : from) {
      Node node = graph_.node(id);
      task::InputSpec spec;
      if (node.prim == Prim::kInput) {
        const auto at = std::find(graph_.inputs.begin(), graph_.inputs.end(), id);
        spec = task_.inputs[static_cast<size_t>(at - graph_.inputs.begin())];
      } else {
        spec.name = name_of(id);
        spec.type = node.type;
        node = node_of(Prim::kInput, {}, spec.type, {{"name", spec.name}});
      }
      place[id] = static_cast<int>(out.nodes.size());
      out.inputs.push_back(place[id]);
      out.nodes.push_back(std::move(node));
      part.inputs.push_back(std::move(spec));
    }
    for (const int id : inside) {
      Node node = graph_.node(id);
      for (int& operand : node.operands) operand = place.at(operand);
      place[id] = static_cast<int>(out.nodes.size());
      out.nodes.push_back(std::move(node));
    }
    for (const int id : outputs) {
      out.outputs.push_back(place.at(id));
      out.output_names.push_back(name_of(id));
      part.outputs.emplace_back(name_of(id), graph_.node(id).type);
    }
    give_outputs_places(out);
    return part;
  }

  /// The tensor's name: the task's for an output, else one of ours.
  [[nodiscard]] std::string name_of(int id) const {
    for (size_t i = 0; i < graph_.outputs.size(); ++i)
      if (graph_.outputs[i] == id) return graph_.output_names[i];
    return between_name(id);
  }
  [[nodiscard]] bool is_output(int id) const {
    return std::find(graph_.outputs.begin(), graph_.outputs.end(), id) != graph_.outputs.end();
  }

  /// Bytes of a node at the first workload; 0 where that cannot be said.
  [[nodiscard]] double bytes(int id) const {
    double all = static_cast<double>(task::size_of(graph_.node(id).type.dtype));
    for (const auto& dim : graph_.node(id).type.dims) all *= static_cast<double>(dim.eval(task_.workloads.front().bindings).value_or(0));
    return all;
  }
  [[nodiscard]] const task::TensorType& type(int id) const { return graph_.node(id).type; }

 private:
  const task::Task& task_;
  const Graph& graph_;
  std::vector<bool> free_, work_;
};

/// Whether group `from` reaches group `to` by way of a third.
bool detour(const std::vector<std::set<size_t>>& next, size_t from, size_t to) {
  std::set<size_t> seen;
  std::vector<size_t> work;
  for (const size_t n : next[from])
    if (n != to) work.push_back(n);
  while (!work.empty()) {
    const size_t at = work.back();
    work.pop_back();
    if (at == to) return true;
    if (!seen.insert(at).second) continue;
    work.insert(work.end(), next[at].begin(), next[at].end());
  }
  return false;
}

/// Edges between groups: next[g] need what g gives.
std::vector<std::set<size_t>> edges(const Pieces& pieces, const std::vector<Nodes>& groups) {
  std::vector<std::set<size_t>> next(groups.size());
  for (size_t to = 0; to < groups.size(); ++to)
    for (const int id : pieces.needs(groups[to]))
      for (size_t from = 0; from < groups.size(); ++from)
        if (groups[from].contains(id)) next[from].insert(to);
  return next;
}

/// The groups that hold nodes of `core` become one, where a pattern covers that.
void merge_core(const Pieces& pieces, const Nodes& core, const Covered& covered, std::vector<Nodes>& groups) {
  Nodes together;
  std::vector<Nodes> rest;
  for (const Nodes& group : groups) {
    const bool inside = std::any_of(group.begin(), group.end(), [&](int id) { return core.contains(id); });
    if (inside) together.insert(group.begin(), group.end());
    else rest.push_back(group);
  }
  if (together.empty() || !covered(pieces.as_task(together, pieces.gives(together, rest)))) return;
  rest.push_back(std::move(together));
  groups = std::move(rest);
}

/// A contraction with what is computed element by element of its factors, with the casts among that, or with those that widen alone:
/// i32(x) @ i32(w) is a product of bytes only where both casts are in it, and no pair of two pieces has both. Who makes the bytes, of i32(i8(round(x))),
/// is another piece.
std::vector<Nodes> factor_cores(const Graph& graph) {
  std::vector<Nodes> cores;
  for (size_t id = 0; id < graph.nodes.size(); ++id) {
    const Node& node = graph.nodes[id];
    if (node.prim != Prim::kDot && node.prim != Prim::kConv && node.prim != Prim::kConvTranspose) continue;
    enum class Of : uint8_t { kElements, kCasts, kWidening };
    for (const Of of : {Of::kElements, Of::kCasts, Of::kWidening}) {
      size_t factors = 0;
      Nodes core = {static_cast<int>(id)};
      for (const int operand : node.operands) {
        std::vector<int> work = {operand};
        bool computed = false;
        while (!work.empty()) {
          const Node& at = graph.node(work.back());
          const bool cast = at.prim == Prim::kCast, widens = cast && task::size_of(at.type.dtype) > task::size_of(graph.node(at.operands[0]).type.dtype);
          const bool inside = of == Of::kWidening ? widens : cast || (of == Of::kElements && task::is_elementwise(at.prim));
          if (inside) core.insert(work.back()), computed = true;
          work.pop_back();
          if (inside || is_view(at)) work.insert(work.end(), at.operands.begin(), at.operands.end());
        }
        factors += computed;
      }
      if (factors > 1 && (cores.empty() || cores.back() != core)) cores.push_back(std::move(core));
    }
  }
  return cores;
}

/// Where the only reader of `id`, and of that one, and so on, is a view, and elements are put into another order: the last of these. Else -1.
int reordered(const Graph& graph, int id) {
  bool turned = false;
  for (;;) {
    const int reader = only_reader(graph, id);
    if (reader < 0 || (graph.node(reader).prim != Prim::kTranspose && graph.node(reader).prim != Prim::kReshape)) return turned ? id : -1;
    turned |= graph.node(reader).prim == Prim::kTranspose;
    id = reader;
  }
}

/// Sorts and places of one thing, which one kernel has together, with what keeps the first of each.
std::vector<Nodes> sort_cores(const Graph& graph) {
  std::map<std::tuple<int, int64_t, bool>, Nodes> cores;
  for (size_t id = 0; id < graph.nodes.size(); ++id) {
    const Node& node = graph.nodes[id];
    if (node.prim != Prim::kSort && node.prim != Prim::kArgSort) continue;
    Nodes& core = cores[{node.operands[0], node.attr<int64_t>("axis"), node.attr<bool>("descending")}];
    core.insert(static_cast<int>(id));
    for (size_t reader = id + 1; reader < graph.nodes.size(); ++reader)
      if (graph.nodes[reader].prim == Prim::kSlice && graph.nodes[reader].operands[0] == static_cast<int>(id)) core.insert(static_cast<int>(reader));
  }
  std::vector<Nodes> all;
  for (auto& [what, core] : cores) all.push_back(std::move(core));
  return all;
}

}  // namespace

Partition partition(const task::Task& task, const Covered& covered, bool reread) {
  Pieces pieces(task, reread);
  std::vector<Nodes> cores = attention_cores(task.primitive);
  // An attention whose heads are brought together writes them so, if it can: who reads them next finds rows.
  for (Nodes& core : cores) {
    const int last = reordered(task.primitive, *core.rbegin());
    if (last < 0 || pieces.is_work(last)) continue;
    pieces.write(last, true);
    Nodes with = core;
    with.insert(last);
    if (covered(pieces.as_task(with, {last}))) core = std::move(with);
    else pieces.write(last, false);
  }
  pieces.store_unread(covered);
  std::vector<Nodes> groups = pieces.singles();
  for (const Nodes& core : cores) merge_core(pieces, core, covered, groups);
  for (const Nodes& core : sort_cores(task.primitive)) merge_core(pieces, core, covered, groups);
  for (const Nodes& core : factor_cores(task.primitive)) merge_core(pieces, core, covered, groups);
  std::set<std::pair<Nodes, Nodes>> refused;
  for (bool again = true; again;) {
    again = false;
    const auto next = edges(pieces, groups);
    struct Pair {
      double bytes;
      size_t from, to;
    };
    std::vector<Pair> pairs;
    for (size_t from = 0; from < groups.size(); ++from)
      for (const size_t to : next[from]) {
        double bytes = 0;
        for (const int id : pieces.needs(groups[to]))
          if (groups[from].contains(id)) bytes += pieces.bytes(id);
        pairs.push_back({bytes, from, to});
      }
    std::stable_sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) { return a.bytes > b.bytes; });
    for (const Pair& pair : pairs) {
      if (refused.contains({groups[pair.from], groups[pair.to]}) || detour(next, pair.from, pair.to)) continue;
      Nodes both = groups[pair.from];
      both.insert(groups[pair.to].begin(), groups[pair.to].end());
      std::vector<Nodes> rest;
      for (size_t g = 0; g < groups.size(); ++g)
        if (g != pair.from && g != pair.to) rest.push_back(groups[g]);
      if (!covered(pieces.as_task(both, pieces.gives(both, rest)))) {
        refused.insert({groups[pair.from], groups[pair.to]});
        continue;
      }
      rest.push_back(std::move(both));
      groups = std::move(rest);
      again = true;
      break;
    }
  }
  // In an order in which everything is there when it is needed.
  Partition result;
  auto next = edges(pieces, groups);
  std::vector<size_t> waiting(groups.size(), 0);
  for (const auto& set : next)
    for (const size_t to : set) ++waiting[to];
  std::vector<bool> done(groups.size(), false);
  for (size_t count = 0; count < groups.size(); ++count) {
    size_t at = 0;
    while (done[at] || waiting[at] > 0) ++at;
    done[at] = true;
    for (const size_t to : next[at]) --waiting[to];
    const std::vector<int> outputs = pieces.gives(groups[at], groups);
    for (const int id : outputs)
      if (!pieces.is_output(id)) result.between.emplace_back(pieces.name_of(id), pieces.type(id));
    result.parts.push_back({pieces.as_task(groups[at], outputs)});
  }
  return result;
}

}  // namespace hone::pattern
