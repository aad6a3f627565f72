#include "hone/program/normalise.h"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "hone/program/recurrent.h"

namespace hone::program {
namespace {

using List = Argument::List;

/// "aten.view.default" is of "view".
std::string_view base_name(std::string_view op) {
  if (!op.starts_with("aten.")) return {};
  op.remove_prefix(5);
  return op.substr(0, op.find('.'));
}

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool truth(const Node& node, std::string_view argument) {
  const Argument* value = node.find(argument);
  return value != nullptr && value->integer().value_or(0) != 0;
}

double number_of(const Node& node, std::string_view argument, double fallback) {
  const Argument* value = node.find(argument);
  return value == nullptr ? fallback : value->number().value_or(fallback);
}

int64_t integer_of(const Node& node, std::string_view argument, int64_t fallback) {
  const Argument* value = node.find(argument);
  return value == nullptr ? fallback : value->integer().value_or(fallback);
}

/// The first argument, where it is a node: what a copy copies.
int source_of(const Node& node) {
  if (node.arguments.empty()) return -1;
  const Ref* ref = node.arguments.front().second.ref();
  return ref == nullptr ? -1 : ref->node;
}

bool is_random(const Node& node) {
  const std::string_view name = base_name(node.op);
  if (is_one_of(name, {"rand", "randn", "randint", "randperm", "rand_like", "randn_like", "randint_like", "bernoulli", "multinomial", "normal", "uniform",
                       "poisson", "exponential", "normal_functional", "_standard_gamma", "binomial", "cauchy", "geometric", "log_normal"}))
    return true;
  if (is_one_of(name, {"rrelu", "rrelu_with_noise", "rrelu_with_noise_functional"})) return truth(node, "training");
  if (is_one_of(name, {"dropout", "feature_dropout", "alpha_dropout", "native_dropout"})) return truth(node, "train") && number_of(node, "p", 0) > 0;
  if (name == "scaled_dot_product_attention") return number_of(node, "dropout_p", 0) > 0;
  return is_one_of(name, {"lstm", "gru", "rnn_tanh", "rnn_relu"}) && truth(node, "train") && number_of(node, "dropout", 0) > 0 && integer_of(node, "num_layers", 2) > 1;
}

/// A copy that changes no value.
bool is_copy(const Program& program, const Node& node) {
  const std::string_view name = base_name(node.op);
  const int source = source_of(node);
  if (source < 0 || node.several) return false;
  const Node& from = program.nodes[static_cast<size_t>(source)];
  if (from.several || from.type() != node.type()) return false;
  if (is_one_of(name, {"clone", "alias", "detach", "contiguous", "lift_fresh_copy", "lift_fresh", "positive", "dropout", "feature_dropout", "alpha_dropout",
                       "view_as", "expand", "view", "reshape", "_unsafe_view", "expand_as", "to", "_to_copy", "type_as", "flatten"}))
    return true;
  if (name == "slice") return number_of(node, "step", 1) == 1;
  return false;
}

/// Parts of a tensor along an axis, for operators that give several: where each begins, and whether the axis goes.
struct Parts {
  int64_t axis = 0;
  std::vector<int64_t> begins;
  bool dropped = false;
};

std::optional<Parts> parts_of(const Program& program, const Node& node) {
  const std::string_view name = base_name(node.op);
  if (!is_one_of(name, {"split", "chunk", "split_with_sizes", "unbind", "tensor_split"}) || source_of(node) < 0) return std::nullopt;
  const ValueType& from = program.nodes[static_cast<size_t>(source_of(node))].type();
  const auto rank = static_cast<int64_t>(from.shape.size());
  Parts parts;
  parts.axis = integer_of(node, "dim", 0);
  if (parts.axis < 0) parts.axis += rank;
  if (parts.axis < 0 || parts.axis >= rank) return std::nullopt;
  parts.dropped = name == "unbind";
  int64_t at = 0;
  for (const ValueType& type : node.types) {
    parts.begins.push_back(at);
    if (!parts.dropped && type.shape.size() != from.shape.size()) return std::nullopt;
    at += parts.dropped ? 1 : type.shape[static_cast<size_t>(parts.axis)];
  }
  return parts;
}

/// Copies that have to stay: without them a result would share memory with an argument, a weight or another result, and
/// whoever changes one in place would change the other.
std::vector<bool> own_memory(const Program& program) {
  std::vector<bool> own(program.nodes.size(), false);
  std::set<int> shared;  // what results look at
  for (const Output& output : program.outputs) {
    int id = output.mutation || output.value.ref() == nullptr ? -1 : output.value.ref()->node, copy = -1;
    while (id >= 0) {
      const Node& node = program.nodes[static_cast<size_t>(id)];
      const std::string_view name = base_name(node.op);
      if (is_one_of(name, {"clone", "_to_copy", "lift_fresh_copy"}) && is_copy(program, node)) copy = id;
      else if (!is_copy(program, node) && !is_view(node) && node.op != "getitem" && !is_one_of(name, {"view", "_unsafe_view", "split", "chunk", "split_with_sizes", "unbind"})) break;
      id = source_of(node);
    }
    if (id < 0) continue;
    const bool fresh = shared.insert(id).second && !program.nodes[static_cast<size_t>(id)].is_input();
    if (!fresh && copy >= 0) own[static_cast<size_t>(copy)] = true;
  }
  return own;
}

/// What `_foreach_…` does to each of its tensors: the operator, and what its arguments are called there. Nothing where there is none of one tensor.
struct OfEach {
  std::string op;
  std::vector<std::pair<std::string_view, std::string_view>> names;   ///< of the list's operator, of the tensor's
  size_t positional = 2;
};

std::optional<OfEach> of_each(std::string_view op) {
  constexpr std::string_view kPrefix = "aten._foreach_";
  const size_t dot = op.rfind('.');
  if (!op.starts_with(kPrefix) || dot < kPrefix.size()) return std::nullopt;
  const std::string_view name = op.substr(kPrefix.size(), dot - kPrefix.size()), overload = op.substr(dot + 1);
  const bool numbers = overload == "Scalar" || overload == "ScalarList", tensors = overload == "List" || overload == "Tensor";
  const auto with = [&](std::string_view suffix) { return fmt::format("aten.{}.{}", name, suffix); };
  if (is_one_of(name, {"abs", "ceil", "cos", "cosh", "erf", "exp", "expm1", "floor", "log", "log10", "log1p", "log2", "neg", "reciprocal", "round", "rsqrt", "sigmoid", "sign", "sin", "sinh", "sqrt", "tan", "tanh", "trunc"}))
    return OfEach{with("default"), {{"self", "self"}}, 1};
  if (!numbers && !tensors) return std::nullopt;
  if (is_one_of(name, {"add", "sub", "mul", "div"})) return OfEach{with(numbers ? "Scalar" : "Tensor"), {{"self", "self"}, {"other", "other"}, {"scalar", "other"}, {"scalars", "other"}, {"alpha", "alpha"}}, 2};
  if (name == "pow") return OfEach{with(numbers ? "Tensor_Scalar" : "Tensor_Tensor"), {{"self", "self"}, {"exponent", "exponent"}}, 2};
  if (name == "lerp") return OfEach{with(numbers ? "Scalar" : "Tensor"), {{"self", "self"}, {"tensors1", "end"}, {"weight", "weight"}, {"weights", "weight"}}, 3};
  if (is_one_of(name, {"maximum", "minimum"}) && tensors) return OfEach{with("default"), {{"self", "self"}, {"other", "other"}}, 2};
  if (is_one_of(name, {"addcmul", "addcdiv"}) && numbers) return OfEach{with("default"), {{"self", "self"}, {"tensor1", "tensor1"}, {"tensor2", "tensor2"}, {"value", "value"}, {"scalars", "value"}}, 3};
  return std::nullopt;
}

class Pass {
 public:
  explicit Pass(Program program) : in_(std::move(program)), to_(in_.nodes.size(), -1) { out_ = in_; out_.nodes.clear(); }

  Program run() {
    const std::vector<bool> own = own_memory(in_);
    for (size_t i = 0; i < in_.nodes.size(); ++i) to_[i] = one(in_.nodes[i], own[i]);
    for (Output& output : out_.outputs) output.value = renamed(output.value);
    for (Origin& origin : out_.origins) {
      for (auto& [name, argument] : origin.node.arguments) argument = renamed(argument);
      for (Argument& result : origin.results) result = renamed(result);
    }
    return std::move(out_);
  }

 private:
  Argument renamed(const Argument& argument) const {
    if (const Ref* ref = argument.ref()) return Argument{Ref{to_[static_cast<size_t>(ref->node)]}};
    if (const List* list = argument.list()) {
      List all;
      for (const Argument& item : *list) all.push_back(renamed(item));
      return Argument{std::move(all)};
    }
    return argument;
  }

  int add(Node node) {
    out_.nodes.push_back(std::move(node));
    return static_cast<int>(out_.nodes.size()) - 1;
  }

  /// The node's successor in the new graph.
  int one(const Node& old, bool own) {
    Node node = old;
    for (auto& [name, argument] : node.arguments) argument = renamed(argument);
    if (!own && is_copy(out_, node)) return source_of(node);
    const std::string_view name = base_name(old.op);
    if (is_one_of(name, {"view", "_unsafe_view"})) {  // without the copies before it, its operand may be strided
      node.op = "aten.reshape.default";
      for (auto& [argument, value] : node.arguments)
        if (argument == "size") argument = "shape";
    }
    if (old.op == "aten.fill.Scalar") {  // whose operand gives its shape only
      node.op = "aten.full_like.default";
      for (auto& [argument, value] : node.arguments)
        if (argument == "value") argument = "fill_value";
    }
    if (name == "copy")  // into a buffer that is overwritten whole
      if (const Argument* from = node.find("src"); from != nullptr && from->ref() != nullptr && out_.nodes[static_cast<size_t>(from->ref()->node)].types == node.types)
        return from->ref()->node;
    if (node.op == "getitem")
      if (const int part = part_of(node); part >= 0) return part;
    return add(share_heads(std::move(node)));
  }

  /// x, y = split(z): y is a slice of z.
  int part_of(const Node& node) {
    const Node& tuple = out_.nodes[static_cast<size_t>(node.find("source")->ref()->node)];
    const auto index = static_cast<size_t>(node.find("index")->integer().value_or(0));
    if (base_name(tuple.op) == "native_dropout" && index == 0 && !is_random(tuple)) return source_of(tuple);
    if (base_name(tuple.op) == "broadcast_tensors") return widened(node, tuple, index);
    if (const auto each = of_each(tuple.op)) return done_to(node, tuple, index, *each);
    const auto parts = parts_of(out_, tuple);
    if (!parts || index >= parts->begins.size() || (!parts->dropped && node.type().shape.size() <= static_cast<size_t>(parts->axis))) return -1;
    Node part;
    part.name = node.name;
    part.types = node.types;
    part.origin = node.origin;
    const int64_t begin = parts->begins[index];
    part.arguments = {{"self", tuple.arguments.front().second}, {"dim", Argument{parts->axis}}};
    if (parts->dropped) {
      part.op = "aten.select.int";
      part.arguments.emplace_back("index", Argument{begin});
    } else {
      part.op = "aten.slice.Tensor";
      part.arguments.emplace_back("start", Argument{begin});
      part.arguments.emplace_back("end", Argument{begin + node.type().shape.at(static_cast<size_t>(parts->axis))});
      part.arguments.emplace_back("step", Argument{int64_t{1}});
    }
    part.positional = static_cast<int>(part.arguments.size());
    return add(std::move(part));
  }

  /// One of tensors to which the same is done.
  int done_to(const Node& node, const Node& tuple, size_t index, const OfEach& each) {
    Node part;
    part.name = node.name;
    part.types = node.types;
    part.origin = node.origin;
    part.op = each.op;
    for (const auto& [from, to] : each.names) {
      const Argument* value = tuple.find(from);
      if (value == nullptr) continue;
      if (value->list() != nullptr && index >= value->list()->size()) return -1;
      part.arguments.emplace_back(to, value->list() == nullptr ? *value : (*value->list())[index]);
    }
    part.positional = static_cast<int>(std::min(each.positional, part.arguments.size()));
    return part.arguments.size() < each.positional ? -1 : add(std::move(part));
  }

  /// One of tensors that are brought to one shape.
  int widened(const Node& node, const Node& tuple, size_t index) {
    const Argument* tensors = tuple.find("tensors");
    if (tensors == nullptr || tensors->list() == nullptr || index >= tensors->list()->size()) return -1;
    List size;
    for (const int64_t extent : node.type().shape) size.push_back(Argument{extent});
    Node part;
    part.name = node.name;
    part.types = node.types;
    part.origin = node.origin;
    part.op = "aten.expand.default";
    part.arguments = {{"self", (*tensors->list())[index]}, {"size", Argument{std::move(size)}}};
    part.positional = 2;
    return is_copy(out_, part) ? source_of(part) : add(std::move(part));
  }

  /// Attention whose keys and values are heads repeated says so instead: it reads each once.
  Node share_heads(Node node) {
    if (base_name(node.op) != "scaled_dot_product_attention") return node;
    Argument* const key = node.find("key");
    Argument* const value = node.find("value");
    Argument* const shared = node.find("enable_gqa");
    if (key == nullptr || value == nullptr || shared == nullptr || shared->integer().value_or(1) != 0) return node;
    if (key->ref() == nullptr || value->ref() == nullptr) return node;
    const auto keys = repeated_heads(key->ref()->node), values = repeated_heads(value->ref()->node);
    if (!keys || !values || keys->second != values->second) return node;
    *key = Argument{Ref{keys->first}};
    *value = Argument{Ref{values->first}};
    *shared = Argument{true};
    return node;
  }

  /// [B, H, T, E] as reshape(expand(unsqueeze(x, 2))) of x [B, H / n, T, E], every head n times side by side: x and n.
  std::optional<std::pair<int, int64_t>> repeated_heads(int id) const {
    const auto at = [&](int i) -> const Node& { return out_.nodes[static_cast<size_t>(i)]; };
    if (base_name(at(id).op) == "repeat_interleave" && at(id).type().shape.size() == 4 && integer_of(at(id), "dim", -1) == 1 && source_of(at(id)) >= 0)
      return std::pair(source_of(at(id)), integer_of(at(id), "repeats", 1));
    if (base_name(at(id).op) != "reshape") return std::nullopt;
    const int expanded = source_of(at(id));
    if (expanded < 0 || base_name(at(expanded).op) != "expand") return std::nullopt;
    const int inserted = source_of(at(expanded));
    if (inserted < 0 || base_name(at(inserted).op) != "unsqueeze") return std::nullopt;
    const int heads = source_of(at(inserted));
    if (heads < 0) return std::nullopt;
    const task::Shape &whole = at(id).type().shape, &five = at(expanded).type().shape, &one = at(inserted).type().shape, &few = at(heads).type().shape;
    if (whole.size() != 4 || five.size() != 5 || one.size() != 5 || few.size() != 4 || one[2] != 1) return std::nullopt;
    const bool fits = few[0] == whole[0] && few[2] == whole[2] && few[3] == whole[3] && five[2] > 0 && few[1] == whole[1] / five[2] && whole[1] % five[2] == 0 &&
                      one[0] == few[0] && one[1] == few[1] && five[0] == few[0] && five[1] == few[1] && five[3] == few[2] && five[4] == few[3];
    if (!fits) return std::nullopt;
    return std::pair(heads, five[2]);
  }

  Program in_, out_;
  std::vector<int> to_;
};

/// Without what no output needs; the program's arguments and state stay.
Program living(Program program) {
  std::vector<bool> alive(program.nodes.size(), false), reached(program.wholes.size(), false);
  std::vector<int> needed;
  for (const Output& output : program.outputs) collect(output.value, needed);
  while (!needed.empty()) {
    const auto id = static_cast<size_t>(needed.back());
    needed.pop_back();
    if (alive[id]) continue;
    alive[id] = true;
    for (const int operand : operands(program.nodes[id])) needed.push_back(operand);
    if (const int whole = program.nodes[id].whole; whole >= 0 && !reached[static_cast<size_t>(whole)]) {
      reached[static_cast<size_t>(whole)] = true;
      const Whole& of = program.wholes[static_cast<size_t>(whole)];
      for (const int operand : operands(of.node)) needed.push_back(operand);
      needed.insert(needed.end(), of.results.begin() + 1, of.results.end());  // the last states, without which a loop's last step would be unlike the others
    }
  }
  std::vector<int> to(program.nodes.size(), -1);
  std::vector<Node> kept;
  const auto rename = [&](auto&& self, Argument& argument) -> void {
    if (const Ref* ref = argument.ref(); ref != nullptr && ref->node >= 0) argument = Argument{Ref{to[static_cast<size_t>(ref->node)]}};
    if (auto* list = std::get_if<List>(&argument.value))
      for (Argument& item : *list) self(self, item);
  };
  for (size_t i = 0; i < program.nodes.size(); ++i) {
    const Role role = program.nodes[i].role;
    const bool changed = std::any_of(program.outputs.begin(), program.outputs.end(), [&](const Output& output) { return output.mutation && output.target == program.nodes[i].target; });
    if (!alive[i] && !(program.nodes[i].is_input() && (role == Role::kUser || role == Role::kFixed || changed))) continue;
    Node node = std::move(program.nodes[i]);
    for (auto& [name, argument] : node.arguments) rename(rename, argument);
    to[i] = static_cast<int>(kept.size());
    kept.push_back(std::move(node));
  }
  for (Output& output : program.outputs) rename(rename, output.value);
  for (Whole& whole : program.wholes) {
    for (auto& [name, argument] : whole.node.arguments) rename(rename, argument);
    for (int& result : whole.results)
      if (result >= 0) result = to[static_cast<size_t>(result)];
  }
  for (Origin& origin : program.origins) {
    for (auto& [name, argument] : origin.node.arguments) rename(rename, argument);
    for (Argument& result : origin.results) rename(rename, result);
  }
  program.nodes = std::move(kept);
  return program;
}

}  // namespace

bool is_view(const Node& node) {
  return is_one_of(base_name(node.op), {"reshape", "permute", "transpose", "t", "numpy_T", "slice", "select", "expand", "expand_as", "unsqueeze", "squeeze",
                                        "flatten", "unflatten", "diagonal", "unfold", "movedim", "swapaxes", "mT", "narrow"}) &&
         !node.several;
}

bool is_creation(const Node& node) {
  return is_one_of(base_name(node.op), {"arange", "zeros", "ones", "full", "eye", "scalar_tensor", "zeros_like", "ones_like", "full_like", "new_zeros", "new_ones",
                                        "new_full"});
}

Result<Program> normalise(Program program) {
  Program passed = living(Pass(std::move(program)).run());
  for (const Node& node : passed.nodes)
    if (is_random(node))
      return fail(ErrorCode::kInput, fmt::format("forward() draws random numbers ({})", node.op),
                  passed.train && base_name(node.op).find("dropout") != std::string_view::npos ? "without --train the program runs as after eval(), and dropout drops nothing"
                                                                                               : "draw them outside and pass them as an argument");
  return living(write_out_loops(std::move(passed)));
}

}  // namespace hone::program
