#include "hone/pattern/operand.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace hone::pattern {
namespace {

using task::Graph;
using task::IntExpr;
using task::Node;
using task::Prim;

/// What node `root` is made of, as a task of its own. What hangs on no input is there once for each use: a list of shifts may be used
/// along one axis here and along another one there.
class OperandTask {
 public:
  OperandTask(const task::Task& from, int root) : from_(from), graph_(from.primitive) {
    task_.name = from.name;
    task_.workloads = from.workloads;
    task_.primitive.outputs.push_back(copied(root));
    task_.primitive.output_names.emplace_back("factor");
    task_.outputs.emplace_back("factor", graph_.node(root).type);
  }
  [[nodiscard]] task::Task take() { return std::move(task_); }

 private:
  int copied(int id) {
    if (const auto known = place_.find(id); known != place_.end()) return known->second;
    Node node = graph_.node(id);
    for (int& operand : node.operands) operand = copied(operand);
    Graph& out = task_.primitive;
    const int at = static_cast<int>(out.nodes.size());
    if (node.prim == Prim::kInput) {
      const auto input = std::find(graph_.inputs.begin(), graph_.inputs.end(), id);
      task_.inputs.push_back(from_.inputs[static_cast<size_t>(input - graph_.inputs.begin())]);
      out.inputs.push_back(at);
    }
    if (hangs_on_input(id)) place_[id] = at;
    out.nodes.push_back(std::move(node));
    return at;
  }
  bool hangs_on_input(int id) const {
    const Node& node = graph_.node(id);
    return node.prim == Prim::kInput || std::any_of(node.operands.begin(), node.operands.end(), [&](int operand) { return hangs_on_input(operand); });
  }

  const task::Task& from_;
  const Graph& graph_;
  task::Task task_;
  std::map<int, int> place_;
};

double bytes_at(const task::Task& task, const task::TensorType& type) {
  double all = static_cast<double>(task::size_of(type.dtype));
  for (const IntExpr& extent : type.dims) all *= static_cast<double>(extent.eval(task.workloads.front().bindings).value_or(0));
  return all;
}

}  // namespace

bool Operand::is_leaf(int id) const { return task.primitive.node(id).prim == Prim::kInput || nest.access.contains(id); }

std::vector<int> Operand::leaves() const {
  std::set<int> seen;
  std::vector<int> work{root()}, all;
  while (!work.empty()) {
    const int id = work.back();
    work.pop_back();
    if (!seen.insert(id).second) continue;
    if (is_leaf(id)) all.push_back(id);
    else
      for (const int operand : task.primitive.node(id).operands) work.push_back(operand);
  }
  std::sort(all.begin(), all.end());
  return all;
}

double Operand::bytes_read() const {
  double all = 0;
  for (const int id : leaves()) all += bytes_at(task, task.primitive.node(id).type);
  return all;
}

double Operand::bytes() const { return bytes_at(task, task.primitive.node(root()).type); }

Result<std::unique_ptr<Operand>> operand_of(const task::Task& task, int root, const std::string& letters, const Contraction& all, bool right) {
  auto found = std::make_unique<Operand>();
  found->task = OperandTask(task, root).take();
  NestOptions options;
  options.apart = true;
  options.slices = true;
  HONE_TRY(found->nest, find_nest(found->task, options));
  const Graph& graph = found->task.primitive;
  for (size_t id = 0; id < graph.nodes.size(); ++id) {
    const Node& node = graph.nodes[id];
    if (task::is_reduction(node.prim) || task::is_scan(node.prim)) return fail(ErrorCode::kUnavailable, "a reduction makes a factor");
    const auto access = found->nest.access.find(static_cast<int>(id));
    if (access != found->nest.access.end() && access->second.index >= 0) return fail(ErrorCode::kUnavailable, "a factor is picked by an index");
  }
  const Factor& factor = right ? all.b : all.a;
  const auto& dims = found->nest.of_dims[static_cast<size_t>(found->root())];
  const auto walk = [&](const AxisGroup& group, std::vector<Place>& places) {
    for (const char letter : group.letters) {
      const size_t at = letters.find(letter);
      if (at == std::string::npos && factor.letters.find(letter) != std::string::npos) continue;   // walked with its first piece
      if (at == std::string::npos || dims[at].empty()) {
        places.push_back({-1, all.extents.at(letter)});
        continue;
      }
      for (const int axis : dims[at]) places.push_back({axis, found->nest.axes[static_cast<size_t>(axis)].extent});
    }
  };
  walk(all.batch, found->batch);
  walk(right ? all.column : all.row, found->line);
  walk(all.depth, found->depth);
  return found;
}

Result<std::unique_ptr<Operand>> find_operand(const task::Task& task, const Contraction& all) {
  if (all.computed < 0) return fail(ErrorCode::kUnavailable, "no factor is computed");
  return operand_of(task, all.computed, all.computed_letters, all, all.a.input >= 0);
}

namespace {

/// A multiplication of what is a number of one byte, and by what; -1 twice for anything else.
std::pair<int, int> bytes_and_scale(const Graph& graph, const Node& node) {
  if (node.prim != Prim::kMul || node.type.dtype != task::DType::kF32) return {-1, -1};
  for (const size_t k : {0, 1}) {
    int id = node.operands[k];
    const auto widens = [](const Node& n) { return n.prim == Prim::kCast && task::is_float(n.type.dtype) && task::size_of(n.type.dtype) > 1; };
    while (is_view(graph.node(id)) || widens(graph.node(id))) id = graph.node(id).operands[0];
    const Node& from = graph.node(id);
    if (from.prim == Prim::kInput && task::size_of(from.type.dtype) == 1 && graph.node(node.operands[k]).type.dims == node.type.dims)
      return {node.operands[k], node.operands[1 - k]};
  }
  return {-1, -1};
}

/// The multiplication that an operand of a product is a view of.
int below_views(const Graph& graph, int id) {
  while (is_view(graph.node(id))) id = graph.node(id).operands[0];
  return id;
}

}  // namespace

std::optional<int> scale_of(const Graph& graph, int operand) {
  const int scale = bytes_and_scale(graph, graph.node(below_views(graph, operand))).second;
  return scale < 0 ? std::nullopt : std::optional(scale);
}

std::optional<IntExpr> steady_depth(const Operand& operand, int node) {
  std::set<int> axes, seen;
  std::vector<int> work{node};
  while (!work.empty()) {
    const int id = work.back();
    work.pop_back();
    if (!seen.insert(id).second) continue;
    const Node& of = operand.task.primitive.node(id);
    if (!is_view(of) || operand.is_leaf(id)) axes.insert(operand.nest.of_node[static_cast<size_t>(id)].begin(), operand.nest.of_node[static_cast<size_t>(id)].end());
    if (!operand.is_leaf(id)) work.insert(work.end(), of.operands.begin(), of.operands.end());
  }
  IntExpr steady = 1;
  for (size_t k = operand.depth.size(); k-- > 0;) {
    if (axes.contains(operand.depth[k].axis)) return steady;
    steady = steady * operand.depth[k].extent;
  }
  return std::nullopt;
}

Result<Scaled> find_scaled(const task::Task& task) {
  const Graph& graph = task.primitive;
  const auto is_dot = [](const Node& node) { return node.prim == Prim::kDot; };
  const auto dot = std::find_if(graph.nodes.begin(), graph.nodes.end(), is_dot);
  if (dot == graph.nodes.end() || std::count_if(graph.nodes.begin(), graph.nodes.end(), is_dot) != 1) return fail(ErrorCode::kUnavailable, "not one product");
  Scaled found{task, dot->operands[0], dot->operands[1]};
  bool scales = false;
  for (const size_t side : {0, 1}) {
    // Down the views, each of them used once, to the multiplication, in whose place its numbers stand.
    int above = static_cast<int>(dot - graph.nodes.begin()), id = dot->operands[side];
    size_t at = side;
    const auto used_once = [&](int node) {
      int uses = static_cast<int>(std::count(graph.outputs.begin(), graph.outputs.end(), node));
      for (const Node& user : graph.nodes) uses += static_cast<int>(std::count(user.operands.begin(), user.operands.end(), node));
      return uses == 1;
    };
    while (is_view(graph.node(id)) && used_once(id)) above = id, at = 0, id = graph.node(id).operands[0];
    const auto [bytes, scale] = bytes_and_scale(graph, graph.node(id));
    if (scale < 0) continue;
    if (!used_once(id)) return fail(ErrorCode::kUnavailable, "a scaled factor that is used twice");
    found.bare.primitive.nodes[static_cast<size_t>(above)].operands[at] = bytes;
    scales = true;
  }
  if (!scales) return fail(ErrorCode::kUnavailable, "no factor of one byte with scales");
  return found;
}

}  // namespace hone::pattern
