// Scaled dot-product attention. Scores and their softmax are in f32 for f16 and bf16.
#include <fmt/format.h>

#include <limits>

#include "hone/task/graph/infer.h"
#include "hone/task/graph/lower.h"

namespace hone::task {
namespace {

/// Query heads that share one key head (grouped-query attention) where q's heads are a multiple of
/// k's as they are written: 8 of 2, G*K of K, H of 1. None where they agree or, being different
/// symbols, have to.
std::optional<IntExpr> head_group(const Dims& q, const Dims& k) {
  if (q.size() < 3 || q.size() != k.size()) return std::nullopt;
  const IntExpr& heads = q[q.size() - 3];
  const IntExpr& key_heads = k[k.size() - 3];
  if (heads == key_heads) return std::nullopt;
  return IntExpr::divide_exactly(heads, key_heads);
}

Result<TensorType> infer_attention(Call& call) {
  const Dims& q = call.dims(0);
  const Dims& k = call.dims(1);
  const Dims& v = call.dims(2);
  if (q.size() < 2 || k.size() != q.size() || v.size() != q.size())
    return wrong(fmt::format(
        "attention takes q [..., L, E], k [..., S, E] and v [..., S, F] of one rank, found {}, {} and {}",
        dims_text(q), dims_text(k), dims_text(v)));
  const size_t n = q.size();
  if (!may_equal(q[n - 1], k[n - 1]))
    return wrong(fmt::format("q and k differ in their last dimension: {} and {}", q[n - 1].to_string(),
                             k[n - 1].to_string()));
  if (!may_equal(k[n - 2], v[n - 2]))
    return wrong(
        fmt::format("k and v differ in their length: {} and {}", k[n - 2].to_string(), v[n - 2].to_string()));
  const bool grouped = head_group(q, k).has_value();
  for (size_t i = 0; i + 2 < n; ++i)
    if (!may_equal(k[i], v[i]) || (!may_equal(q[i], k[i]) && !(grouped && i == n - 3)))
      return wrong(fmt::format("the leading dimensions of q {}, k {} and v {} differ", dims_text(q),
                               dims_text(k), dims_text(v)),
                   "query heads may be a multiple of the key heads (GQA); nothing else is broadcast");
  if (const auto mask = call.find("mask")) {
    Dims scores(q.begin(), q.end() - 1);
    scores.push_back(k[n - 2]);
    const auto joint = broadcast_dims(scores, call.dims(*mask));
    if (!joint)
      return wrong(fmt::format("the mask {} does not broadcast to the scores {}", dims_text(call.dims(*mask)),
                               dims_text(scores)),
                   "a mask is [L, S], or has leading dimensions as q");
    if (joint->size() != n)
      return wrong(fmt::format("the mask {} has more dimensions than the scores {}",
                               dims_text(call.dims(*mask)), dims_text(scores)));
  }
  TensorType type{common_dtype(std::span(call.operands).first(3)), q};
  if (!is_float(type.dtype))
    return wrong(fmt::format("attention takes q, k and v of a float type, found {}", name_of(type.dtype)),
                 "cast first: f32(q)");
  type.dims[n - 1] = v[n - 1];
  return type;
}

/// True where the key may be seen: its position is not after the query's.
Ref causal_mask(Lower& lower, const IntExpr& queries, const IntExpr& keys) {
  const Dims dims{queries, keys};
  return ge(iota(lower, dims, 0), iota(lower, dims, 1));
}

/// Splits the heads of a mask as those of q were: [.., H, L, S] to [.., K, G, L, S].
Ref group_mask(Ref mask, int rank, const IntExpr& key_heads, const IntExpr& group) {
  if (mask.rank() < 3) return mask;
  Dims dims = mask.dims();
  const size_t head = dims.size() - 3;
  const bool shared = dims[head] == IntExpr(1);
  HONE_CHECK(mask.rank() <= rank, "mask");
  dims[head] = shared ? IntExpr(1) : group;
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(head), shared ? IntExpr(1) : key_heads);
  return reshape(mask, std::move(dims));
}

Ref lower_attention(const LowerCall& c) {
  const DType dtype = c.node.type.dtype;
  const DType wide = compute_dtype(dtype);
  Ref q = cast(c.in[0], dtype);
  const Ref k = cast(c.in[1], dtype);
  const Ref v = cast(c.in[2], dtype);
  const auto group = head_group(q.dims(), k.dims());
  const size_t n = q.dims().size();
  std::string batch;
  for (size_t i = 0; i + 2 < n; ++i) batch += static_cast<char>('A' + i);
  const std::string inner = group ? "G" : "";
  if (group) {
    Dims dims = q.dims();
    dims[n - 3] = *group;
    dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(n - 3), k.dims()[n - 3]);
    q = reshape(q, std::move(dims));
  }
  // Letters: L queries, S keys, E features, F values.
  Ref s = dot(batch + inner + "le," + batch + "se->" + batch + inner + "ls", q, k, wide);
  const auto scale = c.find("scale");
  s = s *
      (scale ? cast(*scale, wide) : cast(rsqrt(c.lower.symbol(c.in[0].dims()[n - 1], DType::kF64)), wide));
  if (c.attr<bool>("causal"))
    s = where(causal_mask(c.lower, c.in[0].dims()[n - 2], k.dims()[n - 2]), s,
              like(s, -std::numeric_limits<double>::infinity()));
  if (const auto given = c.find("mask")) {
    const Ref mask = group ? group_mask(*given, static_cast<int>(n), k.dims()[n - 3], *group) : *given;
    s = mask.dtype() == DType::kBool ? where(mask, s, like(s, -std::numeric_limits<double>::infinity()))
                                     : s + cast(mask, wide);
  }
  const std::vector<int64_t> axes{s.last()};
  const Ref e = exp(s - amax(s, axes));
  const Ref p = cast(e / sum(e, axes), dtype);
  return dot(batch + inner + "ls," + batch + "sf->" + batch + inner + "lf", p, v, wide);
}

const OpRow kAttentionOps[] = {
    {"attention(q, k, v, mask = none, causal: bool = false, scale = none, enable_gqa: bool = false)",
     "scaled_dot_product_attention",
     "softmax(q @ k.mT * scale + mask) @ v; scale is 1/sqrt(E) by default, a bool mask keeps where true, "
     "causal hides keys after the query. More query than key heads share them in groups (GQA).",
     infer_attention, lower_attention},
};

}  // namespace

Family attention_family() { return {"Attention", kAttentionOps}; }

}  // namespace hone::task
