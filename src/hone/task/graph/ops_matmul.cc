// Contractions. Products of f16 and bf16 accumulate in f32.
#include <fmt/format.h>

#include <algorithm>

#include "hone/task/graph/einsum.h"
#include "hone/task/graph/infer.h"
#include "hone/task/graph/lower.h"

namespace hone::task {
namespace {

DType product_dtype(const Call& call) {
  DType dtype = common_dtype(call.operands);
  return dtype == DType::kBool ? DType::kI64 : dtype;
}

tl::unexpected<Error> no_product(const Call& call, const IntExpr& a, const IntExpr& b) {
  return wrong(fmt::format("{} of {} and {}: the inner dimensions {} and {} differ", call.op.name,
                           dims_text(call.dims(0)), dims_text(call.dims(1)), a.to_string(), b.to_string()),
               "transpose one with .T or .mT?");
}

Result<TensorType> infer_matmul(Call& call) {
  Dims a = call.dims(0);
  Dims b = call.dims(1);
  if (a.empty() || b.empty())
    return wrong("matmul needs one dimension or more on both sides", "a product with a scalar is *");
  const bool row = a.size() == 1;
  const bool column = b.size() == 1;
  if (row) a.insert(a.begin(), IntExpr(1));
  if (column) b.emplace_back(1);
  if (!may_equal(a[a.size() - 1], b[b.size() - 2])) return no_product(call, a[a.size() - 1], b[b.size() - 2]);
  auto batch = broadcast_dims(Dims(a.begin(), a.end() - 2), Dims(b.begin(), b.end() - 2));
  if (!batch)
    return wrong(fmt::format("{} of {} and {}: their batches {} and {} do not broadcast", call.op.name,
                             dims_text(call.dims(0)), dims_text(call.dims(1)),
                             dims_text(Dims(a.begin(), a.end() - 2)),
                             dims_text(Dims(b.begin(), b.end() - 2))));
  Dims dims = std::move(*batch);
  if (!row) dims.push_back(a[a.size() - 2]);
  if (!column) dims.push_back(b[b.size() - 1]);
  return TensorType{product_dtype(call), std::move(dims)};
}

Result<TensorType> infer_bmm(Call& call) {
  if (call.rank(0) != 3 || call.rank(1) != 3)
    return wrong(fmt::format("bmm takes two tensors of 3 dimensions, found {} and {}",
                             call.type(0).to_string(), call.type(1).to_string()),
                 "matmul broadcasts");
  if (!may_equal(call.dims(0)[0], call.dims(1)[0]))
    return wrong(fmt::format("bmm of {} and {}: the batches {} and {} differ", dims_text(call.dims(0)),
                             dims_text(call.dims(1)), call.dims(0)[0].to_string(),
                             call.dims(1)[0].to_string()));
  return infer_matmul(call);
}

/// Batch dimensions that are 1 on one side only are dropped there, so that nothing is broadcast.
Ref lower_matmul(const LowerCall& c) {
  const DType dtype = c.node.type.dtype;
  std::string letters[2];
  Ref in[2] = {cast(c.in[0], dtype), cast(c.in[1], dtype)};
  std::string result;
  const int batch = std::max({in[0].rank(), in[1].rank(), 2}) - 2;
  for (int k = batch; k > 0; --k) {  // the k-th batch dimension from the end
    const auto letter = static_cast<char>('A' + k);
    bool used = false;
    for (int side = 0; side < 2; ++side) {
      const int axis = in[side].rank() - 2 - k;
      if (axis < 0) continue;
      const int other = in[1 - side].rank() - 2 - k;
      const bool one = in[side].dims()[static_cast<size_t>(axis)] == IntExpr(1);
      if (one && other >= 0 && in[1 - side].dims()[static_cast<size_t>(other)] != IntExpr(1)) {
        letters[side] += '1';
        continue;
      }
      letters[side] += letter;
      used = true;
    }
    if (used) result += letter;
  }
  letters[0] += in[0].rank() == 1 ? "k" : "ik";
  letters[1] += in[1].rank() == 1 ? "k" : "kj";
  if (in[0].rank() > 1) result += 'i';
  if (in[1].rank() > 1) result += 'j';
  for (int side = 0; side < 2; ++side) {
    Dims dims;
    for (size_t i = 0; i < letters[side].size(); ++i)
      if (letters[side][i] != '1') dims.push_back(in[side].dims()[i]);
    in[side] = reshape(in[side], std::move(dims));
    std::erase(letters[side], '1');
  }
  return dot(letters[0] + "," + letters[1] + "->" + result, in[0], in[1], compute_dtype(dtype));
}

Result<TensorType> infer_linear(Call& call) {
  if (call.rank(0) < 1 || call.rank(1) != 2)
    return wrong(fmt::format("linear takes x [..., in] and a weight [out, in], found {} and {}",
                             call.type(0).to_string(), call.type(1).to_string()));
  if (!may_equal(call.dims(0).back(), call.dims(1)[1]))
    return no_product(call, call.dims(0).back(), call.dims(1)[1]);
  Dims dims = call.dims(0);
  dims.back() = call.dims(1)[0];
  if (call.operands.size() == 3 && (call.rank(2) != 1 || !may_equal(call.dims(2)[0], dims.back())))
    return wrong(fmt::format("the bias of linear is [{}], found {}", dims.back().to_string(),
                             dims_text(call.dims(2))));
  return TensorType{product_dtype(call), std::move(dims)};
}

Ref lower_linear(const LowerCall& c) {
  const DType dtype = c.node.type.dtype;
  const Ref x = cast(c.in[0], dtype);
  std::string batch;
  for (int i = 0; i + 1 < x.rank(); ++i) batch += static_cast<char>('A' + i);
  Ref y = dot(batch + "k,jk->" + batch + "j", x, cast(c.in[1], dtype), compute_dtype(dtype));
  if (const auto bias = c.find("bias")) y = y + cast(*bias, y.dtype());
  return y;
}

Result<TensorType> infer_outer(Call& call) {
  if (call.rank(0) != 1 || call.rank(1) != 1)
    return wrong(fmt::format("outer takes two vectors, found {} and {}", call.type(0).to_string(),
                             call.type(1).to_string()));
  return TensorType{product_dtype(call), {call.dims(0)[0], call.dims(1)[0]}};
}

Ref lower_outer(const LowerCall& c) {
  const DType dtype = c.node.type.dtype;
  const Ref x = cast(c.in[0], dtype);
  return reshape(x, {x.dims()[0], 1}) * cast(c.in[1], dtype);
}

Result<TensorType> infer_vecdot(Call& call) {
  HONE_TRY(Dims dims, broadcast_dims(call.dims(0), call.dims(1)));
  const auto axis = normal_axis(call.attr<int64_t>("axis"), static_cast<int>(dims.size()));
  if (!axis) return tl::unexpected(axis.error());
  call.attrs["axis"] = *axis;
  dims.erase(dims.begin() + *axis);
  return TensorType{product_dtype(call), std::move(dims)};
}

Ref lower_vecdot(const LowerCall& c) { return sum(c.wide(0) * c.wide(1), {c.attr<int64_t>("axis")}); }

/// beta * x + alpha * (a @ b)
Result<TensorType> infer_addmm(Call& call) {
  Call inner{call.op, {call.operands[1], call.operands[2]}, {}};
  HONE_TRY(const TensorType product, infer_matmul(inner));
  HONE_TRY(Dims dims, broadcast_dims(call.dims(0), product.dims));
  return TensorType{product_dtype(call), std::move(dims)};
}

Ref lower_addmm(const LowerCall& c) {
  const DType dtype = c.node.type.dtype;
  LowerCall inner{c.lower, c.op, c.node, {c.in[1], c.in[2]}, {}};
  const Ref product = lower_matmul(inner);
  const Ref x = cast(c.in[0], product.dtype());
  HONE_CHECK(product.dtype() == compute_dtype(dtype), "addmm");
  return x * c.attr<double>("beta") + product * c.attr<double>("alpha");
}

Result<TensorType> infer_einsum(Call& call) {
  HONE_TRY(const Einsum spec, parse_einsum(call.attr<std::string>("spec"), call.operands));
  HONE_TRY(Dims dims, einsum_dims(spec, call.operands));
  return TensorType{product_dtype(call), std::move(dims)};
}

/// From left to right, two operands at a time; a letter is summed as soon as nothing later has it.
Ref lower_einsum(const LowerCall& c) {
  const DType dtype = c.node.type.dtype;
  const auto spec = parse_einsum(c.attr<std::string>("spec"), c.operands);
  HONE_CHECK(spec.has_value(), "einsum was inferred");
  Ref x = cast(c.in[0], dtype);
  std::string letters = spec->operands[0];
  for (size_t i = 1; i < c.in.size(); ++i) {
    const std::string& next = spec->operands[i];
    std::string later = spec->result;
    for (size_t k = i + 1; k < spec->operands.size(); ++k) later += spec->operands[k];
    std::string kept = i + 1 == c.in.size() ? spec->result : "";
    if (kept.empty() && i + 1 < c.in.size())
      for (const char letter : letters + next)
        if (later.find(letter) != std::string::npos && kept.find(letter) == std::string::npos) kept += letter;
    x = dot(letters + "," + next + "->" + kept, x, cast(c.in[i], x.dtype()), compute_dtype(dtype));
    letters = kept;
  }
  return reduce_to(x, letters, spec->result);
}

const OpRow kMatmulOps[] = {
    {"matmul(x, y)", "mm mv", "Matrix product x @ y; batches broadcast, vectors as in NumPy.", infer_matmul,
     lower_matmul},
    {"bmm(x, y)", "", "Matrix product of [B, M, K] and [B, K, N].", infer_bmm, lower_matmul},
    {"linear(x, weight, bias = none)", "", "x @ weight.T + bias, with a weight of [out, in].", infer_linear,
     lower_linear},
    {"addmm(x, a, b, beta: number = 1.0, alpha: number = 1.0)", "baddbmm", "beta * x + alpha * (a @ b).",
     infer_addmm, lower_addmm},
    {"outer(x, y)", "", "x[:, None] * y of two vectors.", infer_outer, lower_outer},
    {"vecdot(x, y, axis: int = -1)", "", "sum(x * y) along an axis.", infer_vecdot, lower_vecdot},
    {"einsum(spec: text, operands: tensors)", "",
     "Sum of products by letters, such as einsum(\"bij,jk->bik\", x, y); ... stands for leading dimensions.",
     infer_einsum, lower_einsum},
};

}  // namespace

Family matmul_family() { return {"Products", kMatmulOps}; }

}  // namespace hone::task
