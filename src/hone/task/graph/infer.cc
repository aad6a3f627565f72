#include "hone/task/graph/infer.h"

#include <fmt/format.h>

#include <algorithm>

namespace hone::task {
namespace {

int kind_of(DType type) { return is_float(type) ? 2 : is_int(type) ? 1 : 0; }

DType wider(DType a, DType b) {
  if (kind_of(a) != kind_of(b)) return kind_of(a) > kind_of(b) ? a : b;
  if (a != b && is_narrow(a) && size_of(a) == size_of(b)) return DType::kF32;  // bf16 with f16, f8e4m3 with f8e5m2
  return size_of(a) >= size_of(b) ? a : b;
}

Result<TensorType> infer_broadcast(const Call& call, DType dtype) {
  HONE_TRY(Dims dims, broadcast_dims(call.dims(0), call.dims(1)));
  return TensorType{dtype, std::move(dims)};
}

}  // namespace

tl::unexpected<Error> wrong(std::string message, std::string hint) {
  return fail(ErrorCode::kInput, std::move(message), std::move(hint));
}

DType common_dtype(std::span<const Operand> operands) {
  std::optional<DType> strong;
  std::optional<DType> weak;
  for (const Operand& o : operands) {
    std::optional<DType>& slot = o.weak ? weak : strong;
    slot = slot ? wider(*slot, o.type.dtype) : o.type.dtype;
  }
  if (!strong) return *weak;
  if (!weak || kind_of(*weak) <= kind_of(*strong)) return *strong;
  return is_float(*weak) ? DType::kF32 : DType::kI64;
}

DType float_dtype(const Operand& operand) {
  if (is_float(operand.type.dtype)) return operand.type.dtype;
  return operand.weak ? DType::kF64 : DType::kF32;
}

bool keeps_elements(const Op& op) {
  constexpr std::string_view kKeeps[] = {"cast", "where", "slice", "narrow", "select", "split", "chunk", "take", "index_select", "embedding",
                                         "take_along_axis", "gather", "triu", "tril", "diag", "diagonal", "zeros_like", "ones_like", "full_like"};
  return op.family == shape_family().title || std::ranges::find(kKeeps, op.name) != std::end(kKeeps);
}

bool may_equal(const IntExpr& a, const IntExpr& b) { return a == b || !IntExpr::never_equal(a, b); }

std::string dims_text(const Dims& dims) {
  std::string text;
  for (const IntExpr& dim : dims) text += (text.empty() ? "" : ", ") + dim.to_string();
  return "[" + text + "]";
}

IntExpr product(std::span<const IntExpr> dims) {
  IntExpr count = 1;
  for (const IntExpr& dim : dims) count = count * dim;
  return count;
}

Result<Dims> broadcast_dims(const Dims& a, const Dims& b) {
  Dims result(std::max(a.size(), b.size()));
  for (size_t i = 0; i < result.size(); ++i) {
    const IntExpr x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const IntExpr y = i < b.size() ? b[b.size() - 1 - i] : 1;
    IntExpr& out = result[result.size() - 1 - i];
    if (x == IntExpr(1)) {
      out = y;
    } else if (y == IntExpr(1) || may_equal(x, y)) {
      out = x;
    } else {
      return wrong(fmt::format("shapes {} and {} do not broadcast: {} is not {}", dims_text(a), dims_text(b),
                               x.to_string(), y.to_string()),
                   "dimensions are matched from the last; each pair must be equal or one of them 1");
    }
  }
  return result;
}

Dims reduced_dims(const Dims& dims, std::span<const int64_t> axes, bool keepdims) {
  Dims result;
  for (size_t i = 0; i < dims.size(); ++i) {
    const bool reduced = std::find(axes.begin(), axes.end(), static_cast<int64_t>(i)) != axes.end();
    if (!reduced)
      result.push_back(dims[i]);
    else if (keepdims)
      result.emplace_back(1);
  }
  return result;
}

Result<int64_t> normal_axis(int64_t axis, int rank) {
  if (axis >= -rank && axis < rank) return axis < 0 ? axis + rank : axis;
  if (rank == 0) return wrong(fmt::format("axis {} of a scalar, which has no dimensions", axis));
  return wrong(fmt::format("axis {} is out of range for {} dimension{}", axis, rank, rank == 1 ? "" : "s"),
               fmt::format("axes go from {} to {}", -rank, rank - 1));
}

Result<TensorType> infer_float_unary(Call& call) {
  return TensorType{float_dtype(call.operands[0]), call.dims(0)};
}

Result<TensorType> infer_same_unary(Call& call) {
  if (call.type(0).dtype == DType::kBool)
    return wrong(fmt::format("{} does not take bool", call.op.name), "cast first: i32(x) or f32(x)");
  return call.type(0);
}

Result<TensorType> infer_binary(Call& call) {
  DType dtype = common_dtype(call.operands);
  if (dtype == DType::kBool) dtype = DType::kI64;
  return infer_broadcast(call, dtype);
}

Result<TensorType> infer_float_binary(Call& call) {
  const DType dtype = common_dtype(call.operands);
  const bool weak = std::all_of(call.operands.begin(), call.operands.end(),
                                [](const Operand& o) { return o.weak; });
  return infer_broadcast(call, is_float(dtype) ? dtype : weak ? DType::kF64 : DType::kF32);
}

Result<TensorType> infer_compare(Call& call) { return infer_broadcast(call, DType::kBool); }

Result<TensorType> infer_logical(Call& call) {
  for (const Operand& operand : call.operands)
    if (operand.type.dtype != DType::kBool)
      return wrong(fmt::format("{} takes bool, found {}", call.op.name, operand.type.to_string()),
                   "compare first, such as x != 0; of bits of integers: bitwise_and, bitwise_or, bitwise_xor, bitwise_not");
  if (call.operands.size() == 1) return call.type(0);
  return infer_broadcast(call, DType::kBool);
}

}  // namespace hone::task
