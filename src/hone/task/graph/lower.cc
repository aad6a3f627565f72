#include "hone/task/graph/lower.h"

#include <fmt/format.h>

#include <algorithm>

#include "hone/task/graph/attr_text.h"
#include "hone/task/graph/fold.h"

namespace hone::task {

const TensorType& Ref::type() const { return lower_->node(id_).type; }

std::optional<Ref> LowerCall::find(std::string_view param) const {
  const auto position = operand_position(op, node.attrs, param);
  if (!position) return std::nullopt;
  return in[*position];
}

Ref LowerCall::wide(size_t i) const { return cast(in[i], compute_dtype(node.type.dtype)); }

Ref LowerCall::done(Ref x) const {
  if (x.dims() != node.type.dims) x = reshape(x, node.type.dims);
  return cast(x, node.type.dtype);
}

DType compute_dtype(DType dtype) {
  return is_narrow(dtype) ? DType::kF32 : dtype;
}

Ref Lower::constant(double value, DType dtype) {
  return add(Prim::kConstant, {}, {{"value", constant_of(value, dtype)}}, {dtype, {}});
}

Ref Lower::integer(int64_t value, DType dtype) {
  if (!is_int(dtype)) return constant(static_cast<double>(value), dtype);
  return add(Prim::kConstant, {}, {{"value", value}}, {dtype, {}});
}

Ref Lower::symbol(const IntExpr& value, DType dtype) {
  if (value.is_constant()) return integer(value.constant(), dtype);
  return cast(add(Prim::kSymbol, {}, {{"value", value}}, {DType::kI64, {}}), dtype);
}

Ref Lower::fold(Prim prim, std::span<const Ref> operands, const TensorType& type, bool& folded) {
  folded = false;
  std::vector<Attr> values;
  for (const Ref& operand : operands) {
    if (node(operand.id()).prim != Prim::kConstant) return {};
    values.push_back(node(operand.id()).attrs.find("value")->second);
  }
  if (values.empty() || (!is_elementwise(prim))) return {};
  const auto value = fold_constant(prim, values, type.dtype);
  if (!value) return {};
  folded = true;
  return add(Prim::kConstant, {}, {{"value", *value}}, {type.dtype, {}});
}

Ref Lower::add(Prim prim, std::span<const Ref> operands, Attrs attrs, TensorType type) {
  bool folded = false;
  const Ref constant = fold(prim, operands, type, folded);
  if (folded) return constant;
  std::string key = std::string(name_of(prim));
  std::vector<int> ids;
  for (const Ref& operand : operands) {
    ids.push_back(operand.id());
    key += fmt::format(" {}", operand.id());
  }
  key += "{" + attrs_text(attrs) + "}" + type.to_string();
  const auto [it, fresh] = known_.emplace(std::move(key), static_cast<int>(graph_.nodes.size()));
  if (fresh) {
    Node node;
    node.op = std::string(name_of(prim));
    node.prim = prim;
    node.operands = std::move(ids);
    node.attrs = std::move(attrs);
    node.type = std::move(type);
    node.where = where_;
    graph_.nodes.push_back(std::move(node));
  }
  return {this, it->second};
}

Graph Lower::finish(const Graph& surface, std::span<const Ref> inputs, std::span<const Ref> outputs) {
  // Numbered anew, operands first: dead nodes drop out, and the order does not depend on the order
  // in which a compiler evaluated the operands of a formula.
  Graph result;
  std::vector<int> renamed(graph_.nodes.size(), -1);
  const auto place = [&](int root) {
    std::vector<int> stack{root};
    while (!stack.empty()) {
      const auto id = static_cast<size_t>(stack.back());
      const Node& node = graph_.nodes[id];
      const auto open = std::find_if(node.operands.begin(), node.operands.end(),
                                     [&](int operand) { return renamed[static_cast<size_t>(operand)] < 0; });
      if (open != node.operands.end()) {
        stack.push_back(*open);
        continue;
      }
      stack.pop_back();
      if (renamed[id] >= 0) continue;
      renamed[id] = static_cast<int>(result.nodes.size());
      result.nodes.push_back(node);
      for (int& operand : result.nodes.back().operands) operand = renamed[static_cast<size_t>(operand)];
    }
    return renamed[static_cast<size_t>(root)];
  };
  for (const Ref& input : inputs) result.inputs.push_back(place(input.id()));
  result.output_names = surface.output_names;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const int id = place(outputs[i].id());
    result.outputs.push_back(id);
    std::string& name = result.nodes[static_cast<size_t>(id)].name;
    if (name.empty()) name = result.output_names[i];
  }
  return result;
}

Graph lower(const Graph& surface) {
  Lower lower;
  std::vector<Ref> refs;
  for (const Node& node : surface.nodes) {
    lower.set_where(node.where);
    if (node.op == "input") {
      refs.push_back(lower.add(Prim::kInput, {}, node.attrs, node.type));
    } else if (node.op == "constant") {
      refs.push_back(
          lower.add(Prim::kConstant, {}, {{"value", node.attrs.find("value")->second}}, node.type));
    } else if (node.op == "symbol") {
      refs.push_back(lower.symbol(node.attr<IntExpr>("value"), node.type.dtype));
    } else {
      const Op* op = find_op(node.op);
      HONE_CHECK(op != nullptr, node.op);
      LowerCall call{lower, *op, node, {}, {}};
      for (const int id : node.operands) {
        const Node& operand = surface.node(id);
        call.in.push_back(refs[static_cast<size_t>(id)]);
        call.operands.push_back({operand.type, operand.attrs.contains("weak")});
      }
      refs.push_back(call.done(op->lower(call)));
    }
    lower.set_name(refs.back(), node.name);
  }
  std::vector<Ref> inputs;
  std::vector<Ref> outputs;
  for (const int id : surface.inputs) inputs.push_back(refs[static_cast<size_t>(id)]);
  for (const int id : surface.outputs) outputs.push_back(refs[static_cast<size_t>(id)]);
  return lower.finish(surface, inputs, outputs);
}

}  // namespace hone::task
