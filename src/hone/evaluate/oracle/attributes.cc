#include "hone/evaluate/oracle/attributes.h"

#include <algorithm>

namespace hone::evaluate {
namespace {

using task::Attr;
using task::Prim;

const Attr& find(const task::Node& node, std::string_view key) {
  const auto it = node.attrs.find(key);
  HONE_CHECK(it != node.attrs.end(), std::string(key) + " of " + node.op);
  return it->second;
}

}  // namespace

int64_t int_attr(const task::Node& node, std::string_view key) {
  const Attr& attr = find(node, key);
  if (const auto* value = std::get_if<int64_t>(&attr)) return *value;
  if (const auto* value = std::get_if<task::IntExpr>(&attr)) return value->constant();
  HONE_CHECK(false, std::string(key) + " of " + node.op + " is not an integer");
}

std::vector<int64_t> ints_attr(const task::Node& node, std::string_view key) {
  const Attr& attr = find(node, key);
  if (const auto* values = std::get_if<std::vector<int64_t>>(&attr)) return *values;
  if (const auto* dims = std::get_if<task::Dims>(&attr)) {
    std::vector<int64_t> values;
    for (const task::IntExpr& dim : *dims) values.push_back(dim.constant());
    return values;
  }
  return {int_attr(node, key)};
}

bool bool_attr(const task::Node& node, std::string_view key) {
  const Attr& attr = find(node, key);
  if (const auto* value = std::get_if<bool>(&attr)) return *value;
  return int_attr(node, key) != 0;
}

double number_attr(const task::Node& node, std::string_view key) {
  const Attr& attr = find(node, key);
  if (const auto* value = std::get_if<double>(&attr)) return *value;
  if (const auto* value = std::get_if<bool>(&attr)) return *value ? 1 : 0;
  return static_cast<double>(int_attr(node, key));
}

const task::Node& laid_out_from(const task::Graph& graph, int id) {
  const task::Node* node = &graph.node(id);
  while (node->prim == task::Prim::kBroadcast || node->prim == task::Prim::kReshape || node->prim == task::Prim::kCast) node = &graph.node(node->operands[0]);
  return *node;
}

EinsumSpec einsum_spec(const task::Node& node) {
  const std::string& text = node.attr<std::string>("spec");
  const size_t comma = text.find(','), arrow = text.find("->");
  HONE_CHECK(comma != std::string::npos && arrow != std::string::npos && comma < arrow, text);
  return {text.substr(0, comma), text.substr(comma + 1, arrow - comma - 1), text.substr(arrow + 2)};
}

Window window_of(const task::Node& node, const task::Shape& weight_shape) {
  Window window;
  window.stride = ints_attr(node, "stride");
  window.dilation = ints_attr(node, "dilation");
  if (node.prim == Prim::kPoolMax || node.prim == Prim::kPoolSum) {
    window.kernel = ints_attr(node, "kernel");
  } else {
    window.kernel.assign(weight_shape.begin() + 2, weight_shape.end());
    window.groups = int_attr(node, "groups");
  }
  if (node.prim == Prim::kConvTranspose) {
    window.padding_low = window.padding_high = ints_attr(node, "padding");
  } else {
    window.padding_low = ints_attr(node, "padding_low");
    window.padding_high = ints_attr(node, "padding_high");
  }
  return window;
}

}  // namespace hone::evaluate
