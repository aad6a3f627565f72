#include "hone/pattern/plain_plan.h"

#include "hone/evaluate/oracle/step.h"
#include "hone/task/graph/prim_info.h"

#include <algorithm>
#include <numeric>
#include <set>

#include <fmt/format.h>

namespace hone::pattern::plain {
namespace {

using task::Dims;
using task::Graph;
using task::IntExpr;
using task::Node;
using task::Prim;

/// Elements of expressions that are computed where they are read: more operations than this, counted with
/// repetition, are stored on the way, so that a kernel's text stays in proportion to the graph.
constexpr int kLongestExpression = 120;
/// From this weight on a value is stored rather than computed twice.
constexpr int kExpensive = 8;

bool needs_own_loops(Prim op) {
  return (op >= Prim::kSum && op <= Prim::kPoolSum) || op == Prim::kSort || op == Prim::kArgSort ||
         op == Prim::kConcat || task::is_scatter(op);
}

/// Reads each element of its operands many times.
bool reads_often(Prim op) {
  return op >= Prim::kDot && op <= Prim::kPoolSum;
}

bool is_leaf(Prim op) { return op <= Prim::kIota; }

/// Roughly the additions that an element takes.
int weight_of(Prim op) {
  switch (task::info_of(op).kind) {
    case task::PrimInfo::kTranscendental: case task::PrimInfo::kRemainder: return 10;
    case task::PrimInfo::kRoot: case task::PrimInfo::kDivision: return 4;
    case task::PrimInfo::kNoElements: return 0;
    default: return 1;
  }
}

/// Sums of a whole tensor become sums over its inner dimensions, and then a sum of these: the threads
/// share the first.
Graph split_whole_sums(const Graph& graph) {
  Graph result;
  result.output_names = graph.output_names;
  std::vector<int> renamed;
  for (const Node& node : graph.nodes) {
    Node copy = node;
    for (int& operand : copy.operands) operand = renamed[static_cast<size_t>(operand)];
    // Not products: each factor's rounding is the result's.
    if (task::is_reduction(node.prim) && node.prim < Prim::kArgMax && node.prim != Prim::kProd &&
        (!task::is_float(node.type.dtype) || task::size_of(node.type.dtype) >= 4)) {
      const Dims& dims = graph.node(node.operands[0]).type.dims;
      const auto& axes = node.attr<std::vector<int64_t>>("axes");
      std::vector<int64_t> inner;
      bool whole = true;
      for (size_t d = 0; d < dims.size(); ++d) {
        if (is_one(dims[d])) continue;
        const auto axis = static_cast<int64_t>(d);
        if (std::find(axes.begin(), axes.end(), axis) == axes.end()) whole = false;
        inner.push_back(axis);
      }
      if (whole && inner.size() > 1) {
        const int64_t outer = inner.front();
        inner.erase(inner.begin());
        Node first = copy;
        first.name.clear();
        first.type.dims = dims;
        for (const int64_t axis : inner) first.type.dims[static_cast<size_t>(axis)] = 1;
        first.attrs.insert_or_assign("axes", inner);
        copy.operands = {static_cast<int>(result.nodes.size())};
        copy.attrs.insert_or_assign("axes", std::vector<int64_t>{outer});
        result.nodes.push_back(std::move(first));
      }
    }
    renamed.push_back(static_cast<int>(result.nodes.size()));
    result.nodes.push_back(std::move(copy));
  }
  for (const int id : graph.inputs) result.inputs.push_back(renamed[static_cast<size_t>(id)]);
  for (const int id : graph.outputs) result.outputs.push_back(renamed[static_cast<size_t>(id)]);
  return result;
}

template <class T>
auto& at(std::vector<T>& values, int id) {
  return values[static_cast<size_t>(id)];
}

class Planner {
 public:
  explicit Planner(const task::Task& task)
      : task_(task), graph_(split_whole_sums(task.primitive)), count_(graph_.nodes.size()),
        consumers_(count_), stored_(count_), weight_(count_), memory_(count_) {
    for (size_t id = 0; id < count_; ++id)
      for (const int operand : graph_.nodes[id].operands) at(consumers_, operand).push_back(static_cast<int>(id));
  }

  Plan run() {
    store_what_must_be();
    store_what_pays();
    name_inputs();
    std::vector<Store> copies = name_outputs();
    Plan plan;
    for (size_t id = 0; id < count_; ++id) {
      const Node& node = graph_.nodes[id];
      if (stored_[id] && memory_[id].empty()) {
        memory_[id] = fresh_name(static_cast<int>(id));
        kernel::Workspace workspace;
        workspace.name = memory_[id];
        workspace.type = node.type;
        // What is computed is rounded to 16 bits at the end only: in between it may be beyond their range.
        if (task::is_float(node.type.dtype) && task::size_of(node.type.dtype) == 2) workspace.type.dtype = task::DType::kF32;
        if (workspace.type.dims.empty()) workspace.type.dims = {1};
        plan.workspaces.push_back(std::move(workspace));
      }
      if (stored_[id]) plan.stores.push_back({static_cast<int>(id), memory_[id]});
      if (node.prim == Prim::kReshape && memory_[id].empty()) memory_[id] = at(memory_, node.operands[0]);
    }
    plan.stores.insert(plan.stores.end(), copies.begin(), copies.end());
    for (const auto& facts : evaluate::facts_of({graph_, {}, {}})) plan.exact.push_back(facts.exact);
    plan.graph = std::move(graph_);
    plan.memory = std::move(memory_);
    return plan;
  }

 private:
  [[nodiscard]] int base(int id) const {
    while (graph_.node(id).prim == Prim::kReshape) id = graph_.node(id).operands[0];
    return id;
  }

  void store_what_must_be() {
    for (const int output : graph_.outputs) {
      const int id = base(output);
      if (graph_.node(id).prim != Prim::kInput) at(stored_, id) = true;
    }
    std::vector<int> length(count_);
    for (size_t id = 0; id < count_; ++id) {
      const Node& node = graph_.nodes[id];
      if (needs_own_loops(node.prim)) stored_[id] = true;
      weight_[id] = weight_of(node.prim);
      length[id] = 1;
      for (const int operand : node.operands) {
        if (is_leaf(graph_.node(operand).prim)) continue;
        // Own loops divide this graph into pieces; within one the weights add up.
        if (!at(stored_, operand)) length[id] += at(length, operand), weight_[id] += at(weight_, operand);
      }
      if (length[id] > kLongestExpression) stored_[id] = true;
    }
  }

  /// Consumers first, since whether a value is computed twice depends on where its consumers are computed.
  void store_what_pays() {
    std::vector<std::set<int>> places(count_);
    for (size_t k = count_; k-- > 0;) {
      const int id = static_cast<int>(k);
      const Node& node = graph_.nodes[k];
      if (stored_[k] || is_leaf(node.prim)) continue;
      bool pays = false;
      for (const int consumer : consumers_[k]) {
        const Node& reader = graph_.node(consumer);
        if (reads_often(reader.prim) && !is_cheap(id)) pays = true;
        if (reader.prim == Prim::kReshape && divides(reader)) pays = true;
        if (weight_[k] >= kExpensive && repeats(id, reader)) pays = true;
        if (at(stored_, consumer)) places[k].insert(consumer);
        else places[k].insert(at(places, consumer).begin(), at(places, consumer).end());
      }
      if (places[k].size() > 1 && weight_[k] >= kExpensive) pays = true;
      if (pays) stored_[k] = true;
    }
  }

  /// Costs next to nothing wherever it is read: another look at memory.
  [[nodiscard]] bool is_cheap(int id) const {
    const Node& node = graph_.node(id);
    switch (node.prim) {
      case Prim::kInput: case Prim::kConstant: case Prim::kSymbol: case Prim::kIota: return true;
      case Prim::kReshape:
        if (divides(node)) return stored_[static_cast<size_t>(node.operands[0])] || graph_.node(node.operands[0]).prim == Prim::kInput;
        [[fallthrough]];
      case Prim::kBroadcast: case Prim::kTranspose: case Prim::kSlice: case Prim::kFlip: case Prim::kPad:
      case Prim::kCast:
        return stored_[static_cast<size_t>(node.operands[0])] || is_cheap(node.operands[0]);
      default: return false;
    }
  }

  /// A reshape whose elements lie elsewhere by more than additions and multiplications.
  [[nodiscard]] bool divides(const Node& reshape) const {
    const auto runs = match_reshape(graph_.node(reshape.operands[0]).type.dims, reshape.type.dims);
    return std::any_of(runs.begin(), runs.end(), [](const Run& run) { return run.from.size() > 1 && run.to.size() > 0 && run.from.size() + run.to.size() > 2; });
  }

  /// The reader spreads the value along a dimension outside one that the value has.
  [[nodiscard]] bool repeats(int id, const Node& reader) const {
    if (!task::is_elementwise(reader.prim) && reader.prim != Prim::kBroadcast) return false;
    const Dims& dims = graph_.node(id).type.dims;
    bool spread = false;
    for (size_t d = 0; d < dims.size(); ++d) {
      if (is_one(dims[d]) && !is_one(reader.type.dims[d])) spread = true;
      if (!is_one(dims[d]) && spread) return true;
    }
    return false;
  }

  void name_inputs() {
    for (size_t i = 0; i < graph_.inputs.size(); ++i) at(memory_, graph_.inputs[i]) = task_.inputs[i].name;
    for (const auto& input : task_.inputs) names_.insert(input.name);
    for (const auto& [name, type] : task_.outputs) names_.insert(name);
    for (const std::string& symbol : task_.symbols()) names_.insert(symbol);
    names_.insert("shared");  // means something else among a plan's arguments
  }

  /// An output is the memory of what it is a reshape of; where that has a memory already, a copy.
  std::vector<Store> name_outputs() {
    std::vector<Store> copies;
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      const int id = base(graph_.outputs[i]);
      if (at(memory_, id).empty()) at(memory_, id) = task_.outputs[i].first;
      else copies.push_back({graph_.outputs[i], task_.outputs[i].first});
    }
    return copies;
  }

  std::string fresh_name(int id) {
    const Node& node = graph_.node(id);
    std::string name = node.name.empty() ? fmt::format("{}_{}", task::name_of(node.prim), id) : node.name;
    for (char& c : name)
      if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
    while (!names_.insert(name).second) name += "_";
    return name;
  }

  const task::Task& task_;
  Graph graph_;
  size_t count_;
  std::vector<std::vector<int>> consumers_;
  std::vector<uint8_t> stored_;
  std::vector<int> weight_;
  std::vector<std::string> memory_;
  std::set<std::string> names_;
};

}  // namespace

std::vector<Run> match_reshape(const Dims& from, const Dims& to) {
  std::vector<size_t> a, b;
  for (size_t d = 0; d < from.size(); ++d)
    if (!is_one(from[d])) a.push_back(d);
  for (size_t d = 0; d < to.size(); ++d)
    if (!is_one(to[d])) b.push_back(d);
  std::vector<Run> runs;
  size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    // The shortest runs with equal products; where there are none, all that is left.
    size_t best_i = a.size(), best_j = b.size();
    IntExpr p = 1;
    for (size_t m = i; m < a.size() && best_i + best_j == a.size() + b.size(); ++m) {
      p = p * from[a[m]];
      IntExpr q = 1;
      for (size_t n = j; n < b.size(); ++n) {
        q = q * to[b[n]];
        if (!(p == q)) continue;
        best_i = m + 1, best_j = n + 1;
        break;
      }
    }
    const auto part = [](const std::vector<size_t>& all, size_t begin, size_t end) {
      return std::vector<size_t>(all.begin() + static_cast<std::ptrdiff_t>(begin), all.begin() + static_cast<std::ptrdiff_t>(end));
    };
    // Dimensions behind the last match have product 1, whatever their symbols say.
    runs.push_back({part(a, i, best_i), part(b, j, best_j)});
    i = best_i, j = best_j;
  }
  return runs;
}

Plan make_plan(const task::Task& task) { return Planner(task).run(); }

}  // namespace hone::pattern::plain
