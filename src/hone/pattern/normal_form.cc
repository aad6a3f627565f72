#include "hone/pattern/normal_form_parts.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "hone/pattern/convolution.h"
#include "hone/pattern/nest.h"

namespace hone::pattern {
namespace {

using task::Dims;
using task::Graph;
using task::IntExpr;
using task::Node;
using task::Prim;

/// A product without rows or without columns; an axis of one element is none.
bool is_thin(const Node& node) {
  if (node.prim != Prim::kDot) return false;
  const Letters spec = letters_of(node);
  const auto only_in = [&](const std::string& mine, const std::string& other) {
    for (size_t i = 0; i < spec.result.size(); ++i)
      if (has(mine, spec.result[i]) && !has(other, spec.result[i]) && !is_one(node.type.dims[i])) return true;
    return false;
  };
  return !only_in(spec.left, spec.right) || !only_in(spec.right, spec.left);
}

/// Whether an index picks a factor of a product summed in f32, of fewer groups than it has picks at some workload: some are shared.
bool shares_groups(const task::Task& task, const Graph& graph, const Node& dot) {
  return dot.type.dtype == task::DType::kF32 && std::any_of(dot.operands.begin(), dot.operands.end(), [&](int id) {
    while (is_view(graph.node(id)) || graph.node(id).prim == Prim::kCast) id = graph.node(id).operands[0];
    const Node& gather = graph.node(id);
    if (gather.prim != Prim::kGather) return false;
    IntExpr picks = 1;
    for (const IntExpr& extent : graph.node(gather.operands[1]).type.dims) picks = picks * extent;
    const IntExpr groups = graph.node(gather.operands[0]).type.dims[static_cast<size_t>(gather.attr<int64_t>("axis"))];
    return std::any_of(task.workloads.begin(), task.workloads.end(), [&](const task::Workload& w) {
      return picks.eval(w.bindings).value_or(0) > groups.eval(w.bindings).value_or(0);
    });
  });
}

/// Appends nodes to a graph.
class Builder {
 public:
  explicit Builder(Graph& graph) : graph_(graph) {}

  int add(Prim prim, std::vector<int> operands, task::TensorType type, task::Attrs attrs = {}) {
    return append(graph_, node_of(prim, std::move(operands), std::move(type), std::move(attrs)));
  }

  /// One factor with the axes `letters`: its own where it has them, 1 elsewhere.
  int spread(int factor, const std::string& own, const std::string& letters, task::DType dtype) {
    task::TensorType type = graph_.node(factor).type;
    if (type.dtype != dtype) {
      type.dtype = dtype;
      factor = add(Prim::kCast, {factor}, type);
    }
    std::string order;
    std::vector<int64_t> perm;
    for (const char c : letters)
      if (has(own, c)) order += c, perm.push_back(static_cast<int64_t>(own.find(c)));
    if (order != own) {
      Dims dims;
      for (const int64_t d : perm) dims.push_back(type.dims[static_cast<size_t>(d)]);
      type.dims = dims;
      factor = add(Prim::kTranspose, {factor}, type, {{"perm", perm}});
    }
    Dims dims;
    for (const char c : letters) dims.push_back(has(own, c) ? type.dims[order.find(c)] : IntExpr(1));
    return add(Prim::kReshape, {factor}, {dtype, std::move(dims)});
  }

 private:
  Graph& graph_;
};

int as_sum(Graph& out, const Node& dot) {
  const Letters spec = letters_of(dot);
  std::string letters = spec.result;
  for (const char c : spec.left)
    if (!has(letters, c)) letters += c;
  Builder build(out);
  const int left = dot.operands[0], right = dot.operands[1];
  Dims dims, kept = dot.type.dims;
  std::vector<int64_t> axes;
  for (size_t i = 0; i < letters.size(); ++i) {
    const char c = letters[i];
    dims.push_back(has(spec.left, c) ? out.node(left).type.dims[spec.left.find(c)] : out.node(right).type.dims[spec.right.find(c)]);
    if (i < spec.result.size()) continue;
    axes.push_back(static_cast<int64_t>(i));
    kept.emplace_back(1);
  }
  const int a = build.spread(left, spec.left, letters, dot.type.dtype);
  const int b = build.spread(right, spec.right, letters, dot.type.dtype);
  const int product = build.add(Prim::kMul, {a, b}, {dot.type.dtype, dims});
  const int sum = build.add(Prim::kSum, {product}, {dot.type.dtype, kept}, {{"axes", axes}});
  return build.add(Prim::kReshape, {sum}, dot.type);
}

/// Whether a convolution looks at one element at a time: a product over the channels, image by image.
bool is_pointwise(const Graph& graph, const Node& node) {
  if (node.prim != Prim::kConv || !(node.attr<IntExpr>("groups") == IntExpr(1))) return false;
  const Dims& weights = graph.node(node.operands[1]).type.dims;
  const auto all = [&](const char* name, int64_t value) {
    const auto& list = node.attr<std::vector<int64_t>>(name);
    return std::all_of(list.begin(), list.end(), [&](int64_t n) { return n == value; });
  };
  return std::all_of(weights.begin() + 2, weights.end(), is_one) && all("stride", 1) && all("padding_low", 0) && all("padding_high", 0);
}

int as_product(Graph& out, const Node& conv) {
  Builder build(out);
  const int image = conv.operands[0];
  task::TensorType weights = out.node(conv.operands[1]).type;
  weights.dims.resize(2, IntExpr(1));
  const std::string space = std::string("xyz").substr(0, conv.type.dims.size() - 2);
  const int matrix = build.add(Prim::kReshape, {conv.operands[1]}, weights);
  return build.add(Prim::kDot, {matrix, image}, conv.type, {{"spec", fmt::format("oc,nc{0}->no{0}", space)}, {"convolves", true}});
}

/// The exclusive scan that concat(neutral, scan(x without its last element)) is, of the graph's own nodes.
std::optional<Node> exclusive_scan(const Graph& graph, const Node& node) {
  if (node.prim != Prim::kConcat || node.operands.size() != 2) return std::nullopt;
  const Node& scan = graph.node(node.operands[1]);
  if (scan.prim != Prim::kCumSum && scan.prim != Prim::kCumProd) return std::nullopt;
  const auto axis = static_cast<size_t>(node.attr<int64_t>("axis"));
  const auto& first = graph.node(node.operands[0]).type.dims[axis];
  if (scan.attr<int64_t>("axis") != node.attr<int64_t>("axis") || scan.attr<bool>("reverse") || scan.attr<bool>("exclusive") ||
      !(first == IntExpr(1)) || constant_value(graph, node.operands[0]) != (scan.prim == Prim::kCumSum ? 0.0 : 1.0))
    return std::nullopt;
  const Node& slice = graph.node(scan.operands[0]);
  if (slice.prim != Prim::kSlice) return std::nullopt;
  const auto& x = graph.node(slice.operands[0]);
  const auto& step = slice.attr<std::vector<int64_t>>("step");
  const auto& start = slice.attr<Dims>("start");
  if (!(x.type.dims == node.type.dims) || std::any_of(step.begin(), step.end(), [](int64_t n) { return n != 1; }) ||
      std::any_of(start.begin(), start.end(), [](const IntExpr& n) { return !(n == IntExpr(0)); }))
    return std::nullopt;
  Node whole = scan;
  whole.type = node.type;
  whole.attrs["exclusive"] = true;
  whole.operands = slice.operands;
  return whole;
}

/// One division of what is chosen for the choice of two quotients with the same divisor, as sigmoid() has them; -1 where it is none.
int divided_once(Graph& out, const Node& choice) {
  if (choice.prim != Prim::kWhere) return -1;
  const Node a = out.node(choice.operands[1]), b = out.node(choice.operands[2]);
  if (a.prim != Prim::kDiv || b.prim != Prim::kDiv || a.operands[1] != b.operands[1] || !(a.type.dims == choice.type.dims) || !(b.type.dims == choice.type.dims)) return -1;
  Builder build(out);
  const int chosen = build.add(Prim::kWhere, {choice.operands[0], a.operands[0], b.operands[0]}, choice.type);
  return build.add(Prim::kDiv, {chosen, a.operands[1]}, choice.type);
}

}  // namespace

void drop_dead(Graph& graph) {
  std::vector<bool> needed(graph.nodes.size(), false);
  std::vector<int> work(graph.outputs.begin(), graph.outputs.end());
  work.insert(work.end(), graph.inputs.begin(), graph.inputs.end());
  while (!work.empty()) {
    const int id = work.back();
    work.pop_back();
    if (needed[static_cast<size_t>(id)]) continue;
    needed[static_cast<size_t>(id)] = true;
    for (const int operand : graph.node(id).operands) work.push_back(operand);
  }
  std::vector<int> place(graph.nodes.size(), -1);
  std::vector<Node> kept;
  for (size_t id = 0; id < graph.nodes.size(); ++id) {
    if (!needed[id]) continue;
    Node node = std::move(graph.nodes[id]);
    for (int& operand : node.operands) operand = place[static_cast<size_t>(operand)];
    place[id] = static_cast<int>(kept.size());
    kept.push_back(std::move(node));
  }
  graph.nodes = std::move(kept);
  for (int& id : graph.inputs) id = place[static_cast<size_t>(id)];
  for (int& id : graph.outputs) id = place[static_cast<size_t>(id)];
}

double number_of(const task::Attr& value) {
  if (std::holds_alternative<double>(value)) return std::get<double>(value);
  if (std::holds_alternative<int64_t>(value)) return static_cast<double>(std::get<int64_t>(value));
  return std::holds_alternative<bool>(value) && std::get<bool>(value) ? 1 : 0;
}

std::optional<double> constant_value(const Graph& graph, int id) {
  const Node& node = graph.node(id);
  if (node.prim == Prim::kBroadcast || node.prim == Prim::kReshape) return constant_value(graph, node.operands[0]);
  if (node.prim != Prim::kConstant) return std::nullopt;
  return number_of(node.attrs.find("value")->second);
}

Letters letters_of(const Node& dot) {
  const std::string& text = dot.attr<std::string>("spec");
  const size_t comma = text.find(','), arrow = text.find("->");
  return {text.substr(0, comma), text.substr(comma + 1, arrow - comma - 1), text.substr(arrow + 2)};
}

int append(Graph& graph, Node node) {
  graph.nodes.push_back(std::move(node));
  return static_cast<int>(graph.nodes.size()) - 1;
}

Node node_of(Prim prim, std::vector<int> operands, task::TensorType type, task::Attrs attrs) {
  Node node;
  node.op = task::name_of(prim);
  node.prim = prim;
  node.operands = std::move(operands);
  node.type = std::move(type);
  node.attrs = std::move(attrs);
  return node;
}

void give_outputs_places(Graph& graph) {
  for (int& id : graph.outputs) {
    if (!is_access(graph.node(id))) continue;
    task::TensorType type = graph.node(id).type;
    id = Builder(graph).add(Prim::kReshape, {id}, std::move(type));
  }
}

task::Task remade(const task::Task& task, const std::function<int(Graph& out, const Node& original, const Placed& placed)>& make) {
  task::Task rewritten = task;
  Graph& out = rewritten.primitive;
  out.nodes.clear();
  std::vector<int> place;
  const Placed placed = [&](int id) { return place[static_cast<size_t>(id)]; };
  for (const Node& original : task.primitive.nodes) place.push_back(make(out, original, placed));
  for (int& id : out.inputs) id = placed(id);
  for (int& id : out.outputs) id = placed(id);
  return rewritten;
}

Node moved(Node node, const Placed& placed) {
  for (int& operand : node.operands) operand = placed(operand);
  return node;
}

namespace {

/// What is computed from positions and numbers alone, as masks are, for each that uses it anew: in `arange(S) <= arange(S)[:, None]` the same
/// positions run along two dimensions, and one node can lie along one. Nothing is read, so nothing is read twice. Trees of more than
/// kLargeTree nodes stay one.
void give_users_their_positions(task::Task& task) {
  constexpr int64_t kLargeTree = 256;
  const Graph& graph = task.primitive;
  std::vector<int64_t> tree(graph.nodes.size(), 0);   // nodes of the tree of what is computed from positions; 0: of anything else
  std::vector<int> users(graph.nodes.size(), 0);
  bool shared = false;
  for (size_t id = 0; id < graph.nodes.size(); ++id) {
    const Node& node = graph.nodes[id];
    bool positions = node.prim == Prim::kIota, all = true;
    int64_t size = 1;
    for (const int operand : node.operands) {
      const Prim prim = graph.node(operand).prim;
      const int64_t of = prim == Prim::kConstant || prim == Prim::kSymbol ? 1 : tree[static_cast<size_t>(operand)];
      all = all && of > 0;
      positions = positions || tree[static_cast<size_t>(operand)] > 0;
      size += of;
      shared = shared || (tree[static_cast<size_t>(operand)] > 0 && users[static_cast<size_t>(operand)]++ > 0);
    }
    const bool places = node.prim == Prim::kIota || task::is_elementwise(node.prim) || is_view(node) || node.prim == Prim::kBroadcast;
    if (positions && all && places && size <= kLargeTree) tree[id] = size;
  }
  if (!shared) return;
  const auto anew = [&](auto&& self, Graph& out, int id) -> int {
    Node copy = graph.node(id);
    for (int& operand : copy.operands) operand = self(self, out, operand);
    return append(out, std::move(copy));
  };
  task = remade(task, [&](Graph& out, const Node& original, const Placed& placed) {
    Node node = moved(original, placed);
    for (size_t k = 0; k < node.operands.size(); ++k)
      if (tree[static_cast<size_t>(original.operands[k])] > 0) node.operands[k] = anew(anew, out, original.operands[k]);
    return append(out, std::move(node));
  });
  drop_dead(task.primitive);
}

}  // namespace

task::Task with_fewer_divisions(const task::Task& task) {
  task::Task rewritten = remade(task, [](Graph& out, const Node& original, const Placed& placed) {
    Node node = moved(original, placed);
    const int divided = divided_once(out, node);
    return divided >= 0 ? divided : append(out, std::move(node));
  });
  drop_dead(rewritten.primitive);
  give_users_their_positions(rewritten);
  return rewritten;
}

std::optional<task::Task> in_halves(const task::Task& task) {
  const auto products = [](const Graph& graph) { return std::ranges::count_if(graph.nodes, [](const Node& node) { return node.prim == Prim::kDot; }); };
  if (products(task.primitive) != 1) return std::nullopt;
  task::Task rewritten = remade(task, [](Graph& out, const Node& original, const Placed& placed) {
    Node node = moved(original, placed);
    const int sliced = sliced_first(out, node);
    return sliced >= 0 ? sliced : append(out, std::move(node));
  });
  drop_dead(rewritten.primitive);
  if (products(rewritten.primitive) != 2) return std::nullopt;
  return rewritten;
}

task::Task normal_form(const task::Task& given, bool picked) {
  const task::Task task = with_pieces(given);
  const Graph& graph = task.primitive;
  task::Task rewritten = remade(task, [&](Graph& out, const Node& original, const Placed& placed) {
    if (auto scan = exclusive_scan(graph, original)) return append(out, moved(std::move(*scan), placed));
    Node node = moved(original, placed);
    if (const int first = flipped_first(out, node); first >= 0) return first;
    take_in_padding(out, node);
    if (const int first = picked_first(out, node); first >= 0) return first;
    if (const int before = sliced_before_views(out, node); before >= 0) return before;
    if (const int divided = divided_once(out, node); divided >= 0) return divided;
    return is_thin(node) && !(picked && shares_groups(task, out, node)) ? as_sum(out, node) : is_pointwise(out, node) ? as_product(out, node) : append(out, std::move(node));
  });
  give_outputs_places(rewritten.primitive);
  drop_dead(rewritten.primitive);
  give_users_their_positions(rewritten);
  return rewritten;
}

}  // namespace hone::pattern
