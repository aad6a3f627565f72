#include "hone/pattern/attention.h"

#include <algorithm>

#include "hone/pattern/nest.h"
#include "hone/task/graph/fold.h"

namespace hone::pattern {
namespace {

using task::Graph;
using task::Node;
using task::Prim;

tl::unexpected<Error> no_attention(const char* why) { return fail(ErrorCode::kUnavailable, why); }

/// The nodes of one attention.
struct Core {
  int product = -1;     ///< queries by keys
  int scores = -1;      ///< what the softmax is over
  int weights = -1;     ///< the second product's operand
  int values = -1;      ///< the second product
  bool rounds = false;
};

bool same_value(const Graph& graph, int a, int b) { return a == b || (graph.node(a).prim == Prim::kBroadcast && same_value(graph, graph.node(a).operands[0], b)); }

/// x / sum(x) with x = exp(scores - max(scores)), all over the last axis: the scores; -1 for anything else.
int scores_of(const Graph& graph, int weights) {
  const Node& ratio = graph.node(weights);
  if (ratio.prim != Prim::kDiv) return -1;
  const auto unwrapped = [&](int id) {
    while (graph.node(id).prim == Prim::kBroadcast) id = graph.node(id).operands[0];
    return id;
  };
  const Node& sum = graph.node(unwrapped(ratio.operands[1]));
  const int power = ratio.operands[0];
  const Node& exponential = graph.node(power);
  if (sum.prim != Prim::kSum || exponential.prim != Prim::kExp || sum.operands[0] != power) return -1;
  const Node& distance = graph.node(exponential.operands[0]);
  if (distance.prim != Prim::kSub) return -1;
  const Node& most = graph.node(unwrapped(distance.operands[1]));
  if (most.prim != Prim::kMax || !same_value(graph, most.operands[0], distance.operands[0])) return -1;
  const auto last = static_cast<int64_t>(exponential.type.dims.size()) - 1;
  const std::vector<int64_t> axes{last};
  if (sum.attr<std::vector<int64_t>>("axes") != axes || most.attr<std::vector<int64_t>>("axes") != axes) return -1;
  return distance.operands[0];
}

/// The one product that `id` is made of, element by element; -1 where there is none, or more than that.
int product_under(const Graph& graph, int id, size_t rank) {
  std::set<int> seen, products;
  std::vector<int> work{id};
  while (!work.empty()) {
    const int at = work.back();
    work.pop_back();
    if (!seen.insert(at).second) continue;
    const Node& node = graph.node(at);
    if (node.prim == Prim::kDot) {
      if (node.type.dims.size() != rank) return -1;
      products.insert(at);
      continue;
    }
    const bool plain = task::is_elementwise(node.prim) || node.prim == Prim::kInput || node.prim == Prim::kConstant || node.prim == Prim::kSymbol ||
                       node.prim == Prim::kIota || is_view(node) || node.prim == Prim::kSlice;
    if (!plain) return -1;
    for (const int operand : node.operands) work.push_back(operand);
  }
  return products.size() == 1 ? *products.begin() : -1;
}

/// Whether the product's axes are the scores': what is between them is element by element, and nothing is seen otherwise.
bool keeps_axes(const Graph& graph, int id, int product) {
  const Node& node = graph.node(id);
  if (id == product) return true;
  if (id < product || node.type.dims != graph.node(product).type.dims) return false;
  return std::any_of(node.operands.begin(), node.operands.end(), [&](int operand) { return keeps_axes(graph, operand, product); });
}

std::optional<Core> core_at(const Graph& graph, int values) {
  const Node& second = graph.node(values);
  if (second.prim != Prim::kDot) return std::nullopt;
  Core core;
  core.values = values;
  core.weights = second.operands[0];
  int id = core.weights;
  while (graph.node(id).prim == Prim::kCast) {
    core.rounds |= task::size_of(graph.node(id).type.dtype) == 2;
    id = graph.node(id).operands[0];
  }
  core.scores = scores_of(graph, id);
  if (core.scores < 0) return std::nullopt;
  core.product = product_under(graph, core.scores, graph.node(core.scores).type.dims.size());
  return core.product < 0 ? std::nullopt : std::optional(core);
}

/// What `outputs` need of the graph, as a task; node `cut` (-1: none) is an input of that name.
task::Task sub_task(const task::Task& task, const std::vector<std::pair<int, std::string>>& outputs, int cut, const char* cut_name) {
  const Graph& graph = task.primitive;
  std::vector<bool> needed(graph.nodes.size(), false);
  for (const auto& [id, name] : outputs) needed[static_cast<size_t>(id)] = true;
  for (size_t id = graph.nodes.size(); id-- > 0;)
    if (needed[id] && static_cast<int>(id) != cut)
      for (const int operand : graph.nodes[id].operands) needed[static_cast<size_t>(operand)] = true;
  task::Task part;
  part.name = task.name;
  part.workloads = task.workloads;
  part.track = task.track;
  Graph& out = part.primitive;
  std::vector<int> place(graph.nodes.size(), -1);
  for (size_t id = 0; id < graph.nodes.size(); ++id) {
    if (!needed[id]) continue;
    Node node = graph.nodes[id];
    if (static_cast<int>(id) == cut) {
      Node input;
      input.op = task::name_of(Prim::kInput);
      input.prim = Prim::kInput;
      input.type = node.type;
      input.attrs["name"] = std::string(cut_name);
      node = std::move(input);
      part.inputs.push_back({cut_name, node.type});
    } else if (node.prim == Prim::kInput) {
      const auto at = std::find(graph.inputs.begin(), graph.inputs.end(), static_cast<int>(id));
      part.inputs.push_back(task.inputs[static_cast<size_t>(at - graph.inputs.begin())]);
    }
    for (int& operand : node.operands) operand = place[static_cast<size_t>(operand)];
    place[id] = static_cast<int>(out.nodes.size());
    if (node.prim == Prim::kInput) out.inputs.push_back(place[id]);
    out.nodes.push_back(std::move(node));
  }
  for (const auto& [id, name] : outputs) {
    out.outputs.push_back(place[static_cast<size_t>(id)]);
    out.output_names.push_back(name);
    part.outputs.emplace_back(name, graph.node(id).type);
  }
  return part;
}

/// What a mask made of indices hides, and the scores without it.
void find_visible_keys(const task::Task& task, const Core& core, Attention& found) {
  const Graph& graph = task.primitive;
  int id = core.scores;
  while (graph.node(id).prim == Prim::kCast) id = graph.node(id).operands[0];
  const std::string spec = graph.node(core.product).attr<std::string>("spec");
  if (!hides_by_infinity(graph, id) || !keeps_axes(graph, id, core.product) || spec[spec.size() - 2] != found.scores->row.letters.back()) return;
  found.visible = visible_keys(graph, graph.node(id).operands[0]);
  if (!found.visible || !found.visible->exact) return;
  // What is picked instead of the choice; casts of the choice are casts of that.
  const int picked = graph.node(id).operands[1];
  task::Task without = task;
  for (int at = id + 1; at <= core.scores; ++at) std::replace(without.primitive.nodes[static_cast<size_t>(at)].operands.begin(),
                                                              without.primitive.nodes[static_cast<size_t>(at)].operands.end(), id, picked);
  found.plain_task = sub_task(without, {{id == core.scores ? picked : core.scores, "scores"}}, -1, "");
  if (auto plain = find_contraction(found.plain_task)) found.plain = std::move(*plain);
}

}  // namespace

std::vector<std::set<int>> attention_cores(const Graph& graph) {
  std::vector<std::set<int>> all;
  for (size_t id = 0; id < graph.nodes.size(); ++id) {
    const auto core = core_at(graph, static_cast<int>(id));
    if (!core) continue;
    // Whatever lies on a way from one product to the other.
    std::set<int> reached{core->product}, found;
    for (int at = core->product + 1; at <= core->values; ++at)
      for (const int operand : graph.node(at).operands)
        if (reached.contains(operand)) reached.insert(at);
    std::vector<int> work{core->values};
    while (!work.empty()) {
      const int at = work.back();
      work.pop_back();
      if (!reached.contains(at) || !found.insert(at).second) continue;
      for (const int operand : graph.node(at).operands) work.push_back(operand);
    }
    // The rounding to 16 bits behind the product's sums.
    if (const int reader = only_reader(graph, core->values); reader >= 0 && graph.node(reader).prim == Prim::kCast) found.insert(reader);
    all.push_back(std::move(found));
  }
  return all;
}

Result<Attention> find_attention(const task::Task& task) {
  const Graph& graph = task.primitive;
  std::optional<Core> core;
  int products = 0;
  for (size_t id = 0; id < graph.nodes.size(); ++id) {
    products += graph.nodes[id].prim == Prim::kDot;
    if (const auto here = core_at(graph, static_cast<int>(id))) core = here;
  }
  if (!core || products != 2) return no_attention("no attention, or more than that");
  Attention found;
  found.rounds_weights = core->rounds;
  found.scores_task = sub_task(task, {{core->scores, "scores"}}, -1, "");
  std::vector<std::pair<int, std::string>> outputs;
  for (size_t i = 0; i < graph.outputs.size(); ++i) outputs.emplace_back(graph.outputs[i], graph.output_names[i]);
  found.values_task = sub_task(task, outputs, core->weights, "weights");
  for (const Node& node : found.values_task.primitive.nodes)
    if (task::is_reduction(node.prim)) return no_attention("the weights are used beside their product");
  HONE_TRY(found.scores, find_contraction(found.scores_task));
  HONE_TRY(found.values, find_contraction(found.values_task));
  const Contraction& scores = *found.scores;
  const Contraction& values = *found.values;
  const Node& left = found.values_task.primitive.node(values.a.input);
  if (left.attr<std::string>("name") != "weights") return no_attention("the weights are the right factor");
  const size_t batch = scores.batch.letters.size(), rows = scores.row.letters.size();
  if (scores.column.letters.size() != 1 || values.depth.letters.size() != 1 || values.batch.letters.size() != batch || values.row.letters.size() != rows ||
      values.a.letters != values.batch.letters + values.row.letters + values.depth.letters)
    return no_attention("the products' axes are not each other's");
  find_visible_keys(task, *core, found);
  return found;
}

}  // namespace hone::pattern
