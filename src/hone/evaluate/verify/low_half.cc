#include "hone/evaluate/verify/low_half.h"

#include <algorithm>

#include "hone/evaluate/verify/integer_bounds.h"

namespace hone::evaluate {
namespace {

using task::DType;
using task::Prim;

constexpr int kHalf = 31;

/// Lower halves of its result are a function of its operands' lower halves.
bool keeps_halves(const task::Node& node) {
  if (!task::is_int(node.type.dtype)) return false;
  switch (node.prim) {
    case Prim::kInput: case Prim::kConstant: case Prim::kSymbol: case Prim::kIota: case Prim::kNeg: case Prim::kAdd: case Prim::kSub:
    case Prim::kMul: case Prim::kBitAnd: case Prim::kBitOr: case Prim::kBitXor: case Prim::kSum: case Prim::kProd: case Prim::kCumSum: case Prim::kCumProd: case Prim::kPoolSum: case Prim::kDot:
    case Prim::kConv: case Prim::kConvTranspose: case Prim::kCast: case Prim::kBroadcast: case Prim::kReshape: case Prim::kTranspose:
    case Prim::kSlice: case Prim::kConcat: case Prim::kPad: case Prim::kFlip:
      return true;
    default: return false;
  }
}

int64_t half_of(int64_t value) { return static_cast<int32_t>(static_cast<uint32_t>(static_cast<uint64_t>(value))); }

}  // namespace

std::optional<task::ConcreteGraph> low_half(const task::Task& task, const task::ConcreteGraph& graph) {
  const bool has_long = std::ranges::any_of(task.inputs, [](const task::InputSpec& spec) {
    return spec.type.dtype == DType::kI64 && spec.domain != task::Domain::kIndex && spec.domain != task::Domain::kSign;
  });
  if (!has_long || !std::ranges::all_of(graph.graph.nodes, keeps_halves)) return std::nullopt;
  task::ConcreteGraph half = graph;
  for (task::Node& node : half.graph.nodes) {
    if (node.type.dtype == DType::kI64) node.type.dtype = DType::kI32;
    const auto value = node.attrs.find("value");
    if (value != node.attrs.end())
      if (auto* const whole = std::get_if<int64_t>(&value->second)) *whole = half_of(*whole);
  }
  if (!stays_exact(task, half, kHalf)) return std::nullopt;
  return half;
}

TensorView low_half(const TensorView& tensor, std::vector<int32_t>& store) {
  if (tensor.dtype != DType::kI64) return tensor;
  const auto* const whole = static_cast<const int64_t*>(tensor.data);
  store.resize(static_cast<size_t>(task::element_count(tensor.shape)));
  std::transform(whole, whole + store.size(), store.begin(), [](int64_t value) { return static_cast<int32_t>(half_of(value)); });
  return {DType::kI32, tensor.shape, store.data()};
}

}  // namespace hone::evaluate
