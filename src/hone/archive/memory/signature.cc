#include "hone/archive/memory/signature.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "hone/task/graph/prim_info.h"

namespace hone::archive {
namespace {

using nlohmann::json;
using task::Prim;

/// Products decide how a kernel is built far more than what is done to their results.
constexpr double kProductWeight = 4;

bool is_product(Prim op) { return op == Prim::kDot || op == Prim::kConv || op == Prim::kConvTranspose; }

/// The class that an operation counts in; empty: it says nothing.
std::string class_of(Prim op) {
  switch (op) {
    case Prim::kInput: case Prim::kConstant: case Prim::kSymbol: case Prim::kBroadcast: case Prim::kReshape:
      return "";
    case Prim::kTranspose: case Prim::kSlice: case Prim::kConcat: case Prim::kPad: case Prim::kFlip:
      return "move";
    default:
      break;
  }
  switch (task::info_of(op).kind) {
    case task::PrimInfo::kTruth: case task::PrimInfo::kChoice: return "select";
    case task::PrimInfo::kArithmetic: case task::PrimInfo::kDivision: return "arithmetic";
    default: return std::string(task::name_of(op));
  }
}

void note_axes(const task::Node& node, const task::Graph& graph, std::set<std::string>& reduced) {
  const auto rank = static_cast<int64_t>(graph.node(node.operands[0]).type.dims.size());
  std::vector<int64_t> axes;
  if (const auto one = node.attrs.find("axis"); one != node.attrs.end()) {
    if (const auto* value = std::get_if<int64_t>(&one->second)) axes.push_back(*value);
  } else if (const auto list = node.attrs.find("axes"); list != node.attrs.end()) {
    if (const auto* values = std::get_if<std::vector<int64_t>>(&list->second)) axes = *values;
  }
  for (const int64_t axis : axes) reduced.insert(axis == rank - 1 ? "inner" : "outer");
}

double elements(const task::Shape& shape) {
  double count = 1;
  for (const auto extent : shape) count *= static_cast<double>(extent);
  return std::max(1.0, count);
}

double likeness(const std::set<std::string>& a, const std::set<std::string>& b) {
  if (a.empty() && b.empty()) return 1;
  double shared = 0;
  for (const std::string& one : a) shared += b.contains(one) ? 1 : 0;
  return shared / (static_cast<double>(a.size() + b.size()) - shared);
}

}  // namespace

Result<Signature> signature_of(const task::Task& task) {
  Signature signature;
  std::map<std::string, int> counts;
  for (const task::Node& node : task.primitive.nodes) {
    if (const std::string name = class_of(node.prim); !name.empty()) ++counts[name];
    if (is_product(node.prim)) signature.ops[class_of(node.prim)] = kProductWeight;
    if (task::is_reduction(node.prim) || task::is_scan(node.prim)) note_axes(node, task.primitive, signature.reduced);
  }
  for (const auto& [name, count] : counts) {
    double& weight = signature.ops.try_emplace(name, 1.0).first->second;
    weight *= std::log2(1.0 + count);
  }
  for (const task::InputSpec& input : task.inputs) signature.dtypes.emplace(task::name_of(input.type.dtype));
  for (const auto& [name, type] : task.outputs) signature.dtypes.emplace(task::name_of(type.dtype));
  double total = 0;
  for (const task::Workload& workload : task.workloads) {
    HONE_TRY(const task::ConcreteGraph graph, task::instantiate(task.primitive, workload.bindings));
    const task::Cost cost = task::minimal_cost(graph);
    double depth = 1;
    for (size_t n = 0; n < graph.graph.nodes.size(); ++n) {
      const task::Node& node = graph.graph.nodes[n];
      if (task::is_reduction(node.prim)) depth = std::max(depth, elements(graph.shapes[static_cast<size_t>(node.operands[0])]) / elements(graph.shapes[n]));
      if (is_product(node.prim)) depth = std::max(depth, cost.products.all() / elements(graph.shapes[n]));
    }
    const double bytes = std::max(1.0, cost.bytes_read + cost.bytes_written);
    signature.bytes += workload.weight * std::log2(bytes);
    signature.depth += workload.weight * std::log2(depth);
    signature.balance += workload.weight * std::log2(std::max(1e-3, cost.flops / bytes));
    total += workload.weight;
  }
  if (total > 0) signature.bytes /= total, signature.depth /= total, signature.balance /= total;
  return signature;
}

double distance(const Signature& a, const Signature& b) {
  double lesser = 0, greater = 0;
  for (const auto& [name, weight] : a.ops) {
    const auto other = b.ops.find(name);
    const double there = other == b.ops.end() ? 0 : other->second;
    lesser += std::min(weight, there);
    greater += std::max(weight, there);
  }
  for (const auto& [name, weight] : b.ops)
    if (!a.ops.contains(name)) greater += weight;
  const double ops = greater > 0 ? 1 - lesser / greater : 0;
  const auto apart = [](double x, double y, double most) { return std::min(1.0, std::abs(x - y) / most); };
  return 0.4 * ops + 0.15 * (1 - likeness(a.dtypes, b.dtypes)) + 0.15 * (1 - likeness(a.reduced, b.reduced)) +
         0.1 * apart(a.bytes, b.bytes, 12) + 0.1 * apart(a.depth, b.depth, 8) + 0.1 * apart(a.balance, b.balance, 6);
}

json to_json(const Signature& s) {
  return {{"ops", s.ops}, {"dtypes", s.dtypes}, {"reduced", s.reduced}, {"bytes", s.bytes}, {"depth", s.depth}, {"balance", s.balance}};
}

Signature signature_from(const json& j) {
  Signature s;
  j.at("ops").get_to(s.ops);
  j.at("dtypes").get_to(s.dtypes);
  j.at("reduced").get_to(s.reduced);
  j.at("bytes").get_to(s.bytes);
  j.at("depth").get_to(s.depth);
  j.at("balance").get_to(s.balance);
  return s;
}

}  // namespace hone::archive
