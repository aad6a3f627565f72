#include "hone/program/recurrent.h"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

namespace hone::program {
namespace {

using List = Argument::List;
using task::Shape;

constexpr int64_t kMostSteps = 1 << 14;  ///< of all layers and directions: what is written out has to be read, cut and composed

struct Kind {
  std::string_view op;
  int gates, states;
};

constexpr Kind kKinds[] = {{"aten.lstm.input", 4, 2}, {"aten.gru.input", 3, 1}, {"aten.rnn_tanh.input", 1, 1}, {"aten.rnn_relu.input", 1, 1}};

const Kind* kind_of(const Node& node) {
  const auto* found = std::find_if(std::begin(kKinds), std::end(kKinds), [&](const Kind& kind) { return node.op == kind.op; });
  return found == std::end(kKinds) ? nullptr : found;
}

/// A call's sizes and what it reads.
struct Call {
  Kind kind{};
  int64_t layers = 0, directions = 0, steps = 0, batch = 0, given = 0, width = 0;
  bool biases = false, batch_first = false;
  int input = -1;
  std::vector<int> states;   ///< one, or of an LSTM two: [layers * directions, batch, width]
  std::vector<int> weights;  ///< of each layer and direction: of the input, of the state, and the biases of both
  task::DType dtype{};
};

std::optional<int64_t> whole_number(const Node& node, std::string_view name) {
  const Argument* value = node.find(name);
  return value == nullptr ? std::nullopt : value->integer();
}

/// The nodes that an argument names: one or a list of them.
std::vector<int> named(const Node& node, std::string_view argument) {
  std::vector<int> all;
  if (const Argument* value = node.find(argument)) collect(*value, all);
  return all;
}

/// What the call is; the reason where it is not written out.
Result<Call> read_call(const Program& program, const Node& node, const Kind& kind) {
  const auto refuse = [&](std::string_view why) { return fail(ErrorCode::kUnavailable, fmt::format("{}: {}", node.op, why)); };
  const auto layers = whole_number(node, "num_layers"), both = whole_number(node, "bidirectional"), biases = whole_number(node, "has_biases"),
             batch_first = whole_number(node, "batch_first");
  const std::vector<int> inputs = named(node, "input");
  if (!layers || !both || !biases || !batch_first || inputs.size() != 1 || *layers < 1 || *layers > kMostSteps) return refuse("called as nobody calls it");
  Call call{kind, *layers, *both != 0 ? 2 : 1, 0, 0, 0, 0, *biases != 0, *batch_first != 0, inputs.front(), named(node, "hx"), named(node, "params"), {}};
  const auto type = [&](int id) -> const ValueType& { return program.nodes[static_cast<size_t>(id)].type(); };
  const Shape& input = type(call.input).shape;
  const int64_t cells = call.layers * call.directions;
  const auto each = static_cast<size_t>(cells) * (call.biases ? 4U : 2U);
  if (kind.states == 2 && call.weights.size() == static_cast<size_t>(cells) * (call.biases ? 5U : 3U)) return refuse("with projections (proj_size) it is not written out");
  if (call.weights.size() != each || call.states.size() != static_cast<size_t>(kind.states) || input.size() != 3) return refuse("called as nobody calls it");
  call.steps = input[call.batch_first ? 1 : 0];
  call.batch = input[call.batch_first ? 0 : 1];
  call.given = input[2];
  const Shape& state = type(call.states.front()).shape;
  if (state.size() != 3 || !type(call.input).dtype || !task::is_float(*type(call.input).dtype)) return refuse("called as nobody calls it");
  call.width = state[2];
  call.dtype = *type(call.input).dtype;
  if (call.steps < 1 || call.batch < 1 || call.given < 1 || call.width < 1) return refuse("it gives no elements");
  if (call.steps > kMostSteps / cells) return refuse(fmt::format("more than {} steps are not written out", kMostSteps));
  const auto is = [&](int id, const Shape& shape) { return type(id) == ValueType{call.dtype, shape} && !program.nodes[static_cast<size_t>(id)].several; };
  bool right = is(call.input, input);
  for (const int id : call.states) right = right && is(id, {cells, call.batch, call.width});
  const int64_t rows = kind.gates * call.width;
  for (size_t i = 0; i < call.weights.size(); ++i) {
    const size_t of = i % (call.biases ? 4 : 2);
    const bool first = static_cast<int64_t>(i / (call.biases ? 4 : 2)) < call.directions;
    right = right && is(call.weights[i], of >= 2 ? Shape{rows} : Shape{rows, of == 1 ? call.width : first ? call.given : call.directions * call.width});
  }
  Shape all = input;
  all[2] = call.directions * call.width;
  right = right && node.types.size() == static_cast<size_t>(kind.states) + 1 && node.types.front() == ValueType{call.dtype, all};
  for (size_t i = 1; right && i < node.types.size(); ++i) right = node.types[i] == type(call.states.front());
  if (!right) return refuse("called as nobody calls it");
  return call;
}

/// One call's nodes, behind those of a graph.
class Loop {
 public:
  Loop(Program& to, const Node& node, Call call) : to_(to), node_(node), call_(std::move(call)) {}

  /// For each result of the operator its node.
  std::vector<int> write() {
    const int input = call_.batch_first ? transposed(call_.input, ".input") : call_.input;
    whole_ = static_cast<int>(to_.wholes.size());
    to_.wholes.push_back({as_whole(input), {}});
    std::vector<std::vector<int>> states;   // of each kind: of every layer and direction
    for (size_t i = 0; i < call_.states.size(); ++i) states.push_back(apart(call_.states[i], call_.layers * call_.directions));
    std::vector<std::vector<int>> last(call_.states.size());
    int layer_input = input;
    for (int64_t layer = 0; layer < call_.layers; ++layer) {
      std::vector<int> directions;
      for (int64_t direction = 0; direction < call_.directions; ++direction) {
        const auto cell = static_cast<size_t>(layer * call_.directions + direction);
        std::vector<int> now;
        for (const auto& kind : states) now.push_back(kind[cell]);
        directions.push_back(over_time(layer_input, cell, now, direction == 1));
        for (size_t i = 0; i < now.size(); ++i) last[i].push_back(now[i]);
      }
      layer_input = directions.front();
      if (directions.size() > 1)
        layer_input = add("aten.cat.default", {{"tensors", refs(directions)}, {"dim", Argument{int64_t{2}}}}, {call_.steps, call_.batch, 2 * call_.width});
    }
    std::vector<int> results{layer_input};
    for (const auto& of_kind : last) results.push_back(stacked(of_kind));
    to_.wholes.back().results = results;
    whole_ = -1;
    if (call_.batch_first) results.front() = transposed(results.front(), ".output");
    return results;
  }

 private:
  using Arguments = std::vector<std::pair<std::string, Argument>>;

  /// PyTorch's call, time first: its results are then those of the nodes.
  Node as_whole(int input) const {
    Node node = node_;
    *node.find("input") = Argument{Ref{input}};
    *node.find("batch_first") = Argument{false};
    node.types.front().shape = {call_.steps, call_.batch, call_.directions * call_.width};
    return node;
  }

  int add(std::string_view op, Arguments arguments, Shape shape, const std::string& name = {}) {
    Node node;
    node.name = node_.name + (name.empty() ? fmt::format(".{}", count_++) : name);
    node.op = op;
    node.positional = static_cast<int>(arguments.size());
    node.arguments = std::move(arguments);
    node.types = {{call_.dtype, std::move(shape)}};
    node.whole = whole_;
    to_.nodes.push_back(std::move(node));
    return static_cast<int>(to_.nodes.size()) - 1;
  }

  [[nodiscard]] const Shape& shape(int id) const { return to_.nodes[static_cast<size_t>(id)].type().shape; }
  static Argument ref(int id) { return Argument{Ref{id}}; }
  static Argument refs(const std::vector<int>& ids) {
    List list;
    for (const int id : ids) list.push_back(ref(id));
    return Argument{std::move(list)};
  }

  int transposed(int id, const std::string& name) {
    Shape other = shape(id);
    std::swap(other[0], other[1]);
    return add("aten.transpose.int", {{"self", ref(id)}, {"dim0", Argument{int64_t{0}}}, {"dim1", Argument{int64_t{1}}}}, std::move(other), name);
  }

  /// Along its first axis.
  std::vector<int> apart(int id, int64_t count) {
    const Shape part(shape(id).begin() + 1, shape(id).end());
    const int tuple = add("aten.unbind.int", {{"self", ref(id)}, {"dim", Argument{int64_t{0}}}}, part);
    to_.nodes.back().several = true;
    to_.nodes.back().types.resize(static_cast<size_t>(count), to_.nodes.back().types.front());
    std::vector<int> all;
    for (int64_t i = 0; i < count; ++i) all.push_back(add("getitem", {{"source", ref(tuple)}, {"index", Argument{i}}}, part));
    return all;
  }

  int stacked(const std::vector<int>& parts) {
    Shape all = shape(parts.front());
    all.insert(all.begin(), static_cast<int64_t>(parts.size()));
    return add("aten.stack.default", {{"tensors", refs(parts)}, {"dim", Argument{int64_t{0}}}}, std::move(all));
  }

  int binary(std::string_view op, int a, int b) {
    Arguments arguments{{"self", ref(a)}, {"other", ref(b)}};
    return add(op, std::move(arguments), shape(a));
  }
  int sum(int a, int b) { return binary("aten.add.Tensor", a, b); }
  int product(int a, int b) { return binary("aten.mul.Tensor", a, b); }
  int of(std::string_view op, int a) { return add(op, {{"self", ref(a)}}, shape(a)); }
  int sigmoid(int a) { return of("aten.sigmoid.default", a); }
  int tanh(int a) { return of("aten.tanh.default", a); }

  int linear(int input, int weight, int bias) {
    Shape result = shape(input);
    result.back() = shape(weight).front();
    return add("aten.linear.default", {{"input", ref(input)}, {"weight", ref(weight)}, {"bias", bias < 0 ? Argument{} : ref(bias)}}, std::move(result));
  }

  /// Columns of the n-th gate.
  int gate(int all, int64_t n) {
    return add("aten.slice.Tensor", {{"self", ref(all)}, {"dim", Argument{int64_t{1}}}, {"start", Argument{n * call_.width}}, {"end", Argument{(n + 1) * call_.width}}, {"step", Argument{int64_t{1}}}},
               {call_.batch, call_.width});
  }

  /// One layer in one direction: every step's state [steps, batch, width]; `now` becomes the last step's.
  int over_time(int input, size_t cell, std::vector<int>& now, bool backwards) {
    const int* weights = &call_.weights[cell * (call_.biases ? 4 : 2)];
    // A GRU's gate takes the state's part with its own bias; elsewhere both biases are added once for all steps.
    const bool apart_biases = call_.kind.gates == 3;
    const int bias = !call_.biases ? -1 : apart_biases ? weights[2] : sum(weights[2], weights[3]);
    const std::vector<int> given = apart(linear(input, weights[0], bias), call_.steps);
    std::vector<int> states(given.size());
    for (size_t i = 0; i < given.size(); ++i) {
      const size_t t = backwards ? given.size() - 1 - i : i;
      step(given[t], linear(now.front(), weights[1], call_.biases && apart_biases ? weights[3] : -1), now);
      states[t] = now.front();
    }
    return stacked(states);
  }

  /// The gates of a step: its input's and its state's products to the next state.
  void step(int given, int state, std::vector<int>& now) {
    if (call_.kind.gates == 4) {
      const int both = sum(given, state);
      const int in = sigmoid(gate(both, 0)), forget = sigmoid(gate(both, 1)), cell = tanh(gate(both, 2)), out = sigmoid(gate(both, 3));
      const int kept = product(forget, now[1]), added = product(in, cell);
      now[1] = sum(kept, added);
      now[0] = product(out, tanh(now[1]));
    } else if (call_.kind.gates == 3) {
      const int resets = gate(given, 0), updates = gate(given, 1), news = gate(given, 2);
      const int reset = sigmoid(sum(resets, gate(state, 0))), update = sigmoid(sum(updates, gate(state, 1)));
      const int fresh = tanh(sum(news, product(reset, gate(state, 2))));
      now[0] = sum(fresh, product(update, binary("aten.sub.Tensor", now[0], fresh)));
    } else {
      now[0] = of(call_.kind.op == "aten.rnn_relu.input" ? "aten.relu.default" : "aten.tanh.default", sum(given, state));
    }
  }

  Program& to_;
  const Node& node_;
  const Call call_;
  int whole_ = -1, count_ = 0;
};

void rename(Argument& argument, const std::vector<int>& to) {
  if (const Ref* ref = argument.ref(); ref != nullptr && ref->node >= 0) argument = Argument{Ref{to[static_cast<size_t>(ref->node)]}};
  else if (auto* list = std::get_if<List>(&argument.value))
    for (Argument& item : *list) rename(item, to);
}

}  // namespace

std::string not_written_out(const Program& program, const Node& node) {
  const Kind* kind = kind_of(node);
  if (kind == nullptr) return {};
  const auto call = read_call(program, node, *kind);
  return call ? std::string() : call.error().message;
}

Program write_out_loops(Program program) {
  if (std::none_of(program.nodes.begin(), program.nodes.end(), [](const Node& node) { return kind_of(node) != nullptr; })) return program;
  const auto used_by = users(program);
  std::vector<int> given;
  for (const Output& output : program.outputs) collect(output.value, given);
  Program out = program;
  out.nodes.clear();
  std::vector<int> to(program.nodes.size(), -1);
  std::map<int, std::vector<int>> written;   // by the operator's node: its results
  for (size_t i = 0; i < program.nodes.size(); ++i) {
    Node node = program.nodes[i];
    if (node.op == "getitem") {
      const auto it = written.find(node.find("source")->ref()->node);
      if (it != written.end()) {
        to[i] = it->second[static_cast<size_t>(node.find("index")->integer().value_or(0))];
        continue;
      }
    }
    for (auto& [name, argument] : node.arguments) rename(argument, to);
    const Kind* kind = kind_of(node);
    const bool parts_alone = std::find(given.begin(), given.end(), static_cast<int>(i)) == given.end() && std::all_of(used_by[i].begin(), used_by[i].end(), [&](int user) {
      const Node& part = program.nodes[static_cast<size_t>(user)];
      return part.op == "getitem" && part.find("index")->integer().value_or(0) < static_cast<int64_t>(node.types.size());
    });
    if (kind != nullptr && parts_alone)
      if (auto call = read_call(out, node, *kind)) {
        written[static_cast<int>(i)] = Loop(out, node, std::move(*call)).write();
        continue;
      }
    to[i] = static_cast<int>(out.nodes.size());
    out.nodes.push_back(std::move(node));
  }
  for (Output& output : out.outputs) rename(output.value, to);
  for (Origin& origin : out.origins) {
    for (auto& [name, argument] : origin.node.arguments) rename(argument, to);
    for (Argument& result : origin.results) rename(result, to);
  }
  return out;
}

}  // namespace hone::program
