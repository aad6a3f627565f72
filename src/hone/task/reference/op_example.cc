#include "hone/task/reference/op_example.h"

#include <fmt/format.h>

#include <algorithm>

namespace hone::task {
namespace {

struct ExampleRow {
  std::string_view op;
  std::string_view inputs;  ///< separated by ';'
  std::string_view call;
};

constexpr ExampleRow kExamples[] = {
    // element-wise
    {"where", "c: bool[B, D]; x: f32[B, D]; y: f32[D]", "where(c, x, y)"},
    {"clamp", "x: f32[B, D]", "clamp(x, min=0, max=6)"},
    {"lerp", "x: f32[B, D]; y: f32[B, D]; w: f32[D]", "lerp(x, y, w)"},
    {"cast", "x: f32[B, D]", "cast(x, f16)"},
    {"logical_and", "a: bool[B, D]; b: bool[D]", "logical_and(a, b)"},
    {"logical_or", "a: bool[B, D]; b: bool[D]", "logical_or(a, b)"},
    {"logical_xor", "a: bool[B, D]; b: bool[D]", "logical_xor(a, b)"},
    {"logical_not", "a: bool[B, D]", "logical_not(a)"},
    {"bitwise_and", "i: i64[B, D]; j: i64[D]", "bitwise_and(i, j)"},
    {"bitwise_or", "i: i64[B, D]; j: i64[D]", "bitwise_or(i, j)"},
    {"bitwise_xor", "i: i64[B, D]; j: i64[D]", "bitwise_xor(i, j)"},
    {"bitwise_not", "i: i64[B, D]", "bitwise_not(i)"},
    {"left_shift", "i: i64[B, D]; j: i64[D]", "left_shift(i, j)"},
    {"right_shift", "i: i64[B, D]; j: i64[D]", "right_shift(i, j)"},
    {"atan2", "y: f32[B, D]; x: f32[B, D]", "atan2(y, x)"},
    // activations
    {"prelu", "x: f32[N, C, L]; w: f32[C]", "prelu(x, w)"},
    {"threshold", "x: f32[B, D]", "threshold(x, 0.1, 20)"},
    {"glu", "x: f32[B, 2*D]", "glu(x, axis=-1)"},
    // scans
    {"cumsum", "x: f32[B, D]", "cumsum(x, axis=-1)"},
    {"cumprod", "x: f32[B, D]", "cumprod(x, axis=-1)"},
    {"cummax", "x: f32[B, D]", "cummax(x, axis=-1)"},
    {"cummin", "x: f32[B, D]", "cummin(x, axis=-1)"},
    {"logcumsumexp", "x: f32[B, D]", "logcumsumexp(x, axis=-1)"},
    {"linear_scan", "a: f32[B, D]; b: f32[B, D]", "linear_scan(a, b, axis=-1)"},
    // norms
    {"layer_norm", "x: f32[B, D]; w: f32[D]; b: f32[D]", "layer_norm(x, w, b)"},
    {"rms_norm", "x: f32[B, D]; w: f32[D]", "rms_norm(x, w)"},
    {"batch_norm", "x: f32[N, C, H, W]; w: f32[C]; b: f32[C]", "batch_norm(x, w, b)"},
    {"instance_norm", "x: f32[N, C, H, W]", "instance_norm(x)"},
    {"group_norm", "x: f32[N, C, H, W]; w: f32[C]; b: f32[C]", "group_norm(x, 8, w, b)"},
    // products
    {"matmul", "x: f32[M, K]; y: f32[K, N]", "matmul(x, y)"},
    {"bmm", "x: f32[B, M, K]; y: f32[B, K, N]", "bmm(x, y)"},
    {"linear", "x: f32[B, K]; w: f32[N, K]; b: f32[N]", "linear(x, w, b)"},
    {"addmm", "x: f32[N]; a: f32[M, K]; b: f32[K, N]", "addmm(x, a, b)"},
    {"outer", "x: f32[M]; y: f32[N]", "outer(x, y)"},
    {"einsum", "a: f32[B, M, K]; b: f32[B, K, N]", "einsum(\"bmk,bkn->bmn\", a, b)"},
    // convolutions and pooling
    {"conv1d", "x: f32[N, C, L]; w: f32[O, C, 3]", "conv1d(x, w, padding=1)"},
    {"conv2d", "x: f32[N, C, H, W]; w: f32[O, C, 3, 3]", "conv2d(x, w, padding=1)"},
    {"conv3d", "x: f32[N, C, T, H, W]; w: f32[O, C, 3, 3, 3]", "conv3d(x, w, padding=1)"},
    {"conv_transpose1d", "x: f32[N, C, L]; w: f32[C, O, 4]", "conv_transpose1d(x, w, stride=2, padding=1)"},
    {"conv_transpose2d", "x: f32[N, C, H, W]; w: f32[C, O, 4, 4]",
     "conv_transpose2d(x, w, stride=2, padding=1)"},
    {"conv_transpose3d", "x: f32[N, C, T, H, W]; w: f32[C, O, 4, 4, 4]",
     "conv_transpose3d(x, w, stride=2, padding=1)"},
    {"max_pool1d", "x: f32[N, C, L]", "max_pool1d(x, 3, stride=2, padding=1)"},
    {"max_pool2d", "x: f32[N, C, H, W]", "max_pool2d(x, 3, stride=2, padding=1)"},
    {"max_pool3d", "x: f32[N, C, T, H, W]", "max_pool3d(x, 3, stride=2, padding=1)"},
    {"avg_pool1d", "x: f32[N, C, L]", "avg_pool1d(x, 2)"},
    {"avg_pool2d", "x: f32[N, C, H, W]", "avg_pool2d(x, 2)"},
    {"avg_pool3d", "x: f32[N, C, T, H, W]", "avg_pool3d(x, 2)"},
    {"scatter_add", "x: f32[B, D]; i: i64[B, K]; s: f32[B, K]", "scatter_add(x, 1, i, s)"},
    {"scatter_max", "x: f32[B, D]; i: i64[B, K]; s: f32[B, K]", "scatter_max(x, 1, i, s)"},
    {"scatter_min", "x: f32[B, D]; i: i64[B, K]; s: f32[B, K]", "scatter_min(x, 1, i, s)"},
    {"index_add", "x: f32[N, D]; i: i64[K]; s: f32[K, D]", "index_add(x, 0, i, s)"},
    {"unfold", "x: f32[N, C, H, W]", "unfold(x, 3, padding=1)"},
    {"windows", "x: f32[B, D]", "windows(x, -1, 4)"},
    {"adaptive_avg_pool1d", "x: f32[N, C, 8*L]", "adaptive_avg_pool1d(x, 8)"},
    {"adaptive_avg_pool2d", "x: f32[N, C, H, W]", "adaptive_avg_pool2d(x, 1)"},
    {"adaptive_avg_pool3d", "x: f32[N, C, T, H, W]", "adaptive_avg_pool3d(x, 1)"},
    {"adaptive_max_pool1d", "x: f32[N, C, 8*L]", "adaptive_max_pool1d(x, 8)"},
    {"adaptive_max_pool2d", "x: f32[N, C, H, W]", "adaptive_max_pool2d(x, 1)"},
    {"adaptive_max_pool3d", "x: f32[N, C, T, H, W]", "adaptive_max_pool3d(x, 1)"},
    // attention and losses
    {"attention", "q: f32[B, H, L, E]; k: f32[B, H, S, E]; v: f32[B, H, S, E]",
     "attention(q, k, v, causal=true)"},
    {"mse_loss", "x: f32[B, D]; t: f32[B, D]", "mse_loss(x, t)"},
    {"l1_loss", "x: f32[B, D]; t: f32[B, D]", "l1_loss(x, t)"},
    {"smooth_l1_loss", "x: f32[B, D]; t: f32[B, D]", "smooth_l1_loss(x, t, beta=0.5)"},
    {"huber_loss", "x: f32[B, D]; t: f32[B, D]", "huber_loss(x, t, delta=1)"},
    {"hinge_loss", "x: f32[B, D]; t: f32[B, D]", "hinge_loss(x, t)"},
    {"bce_loss", "x: f32[B, D]; t: f32[B, D]", "bce_loss(x, t)"},
    {"bce_with_logits", "x: f32[B, D]; t: f32[B, D]", "bce_with_logits(x, t)"},
    {"kl_div", "x: f32[B, D]; t: f32[B, D]", "kl_div(x, t, reduction=\"batchmean\")"},
    {"cross_entropy", "x: f32[N, C]; t: i64[N]", "cross_entropy(x, t)"},
    {"nll_loss", "x: f32[N, C]; t: i64[N]", "nll_loss(x, t)"},
    {"triplet_margin_loss", "a: f32[B, D]; p: f32[B, D]; n: f32[B, D]", "triplet_margin_loss(a, p, n)"},
    // shape
    {"reshape", "x: f32[B, 2*D]", "reshape(x, [B, 2, D])"},
    {"squeeze", "x: f32[B, 1, D]", "squeeze(x, axis=1)"},
    {"unsqueeze", "x: f32[B, D]", "unsqueeze(x, axis=1)"},
    {"transpose", "x: f32[B, M, N]", "transpose(x, -1, -2)"},
    {"permute", "x: f32[N, H, W, C]", "permute(x, [0, 3, 1, 2])"},
    {"movedim", "x: f32[N, H, W, C]", "movedim(x, -1, 1)"},
    {"broadcast_to", "x: f32[1, D]", "broadcast_to(x, [8, D])"},
    {"tile", "x: f32[B, D]", "tile(x, [1, 2])"},
    {"repeat_interleave", "x: f32[B, H, D]", "repeat_interleave(x, 4, axis=1)"},
    {"concat", "a: f32[B, D]; b: f32[B, E]", "concat([a, b], axis=1)"},
    {"stack", "a: f32[B, D]; b: f32[B, D]", "stack([a, b])"},
    {"pad", "x: f32[B, D]", "pad(x, low=[0, 1], high=[0, 1])"},
    {"flip", "x: f32[B, D]", "flip(x, axis=-1)"},
    {"roll", "x: f32[B, D]", "roll(x, 1, axis=-1)"},
    // selection and sorting
    {"slice", "x: f32[B, 2*D]", "slice(x, [0, 1], [B, D], [1, 2])"},
    {"narrow", "x: f32[B, 2*D]", "narrow(x, 1, D, D)"},
    {"select", "x: f32[B, D]", "select(x, 1, 0)"},
    {"split", "x: f32[B, 12]", "split(x, [4, 8], axis=1)"},
    {"chunk", "x: f32[B, 2*D]", "chunk(x, 2, axis=1)"},
    {"take", "x: f32[V, D]; i: i64[N]", "take(x, i, axis=0)"},
    {"index_select", "x: f32[V, D]; i: i64[N]", "index_select(x, 0, i)"},
    {"embedding", "i: i64[B, L]; w: f32[V, D]", "embedding(i, w)"},
    {"take_along_axis", "x: f32[B, D]; i: i64[B, K]", "take_along_axis(x, i, axis=1)"},
    {"gather", "x: f32[B, D]; i: i64[B, K]", "gather(x, 1, i)"},
    {"one_hot", "i: i64[N]", "one_hot(i, 10)"},
    {"diag", "x: f32[D]", "diag(x)"},
    {"diagonal", "x: f32[B, D, D]", "diagonal(x)"},
    {"topk", "x: f32[B, D]", "topk(x, 8)"},
    // made from nothing
    {"zeros", "x: f32[B, D]", "zeros([B, 1])"},
    {"ones", "x: f32[B, D]", "ones([B, 1])"},
    {"full", "x: f32[B, D]", "full([B, D], -1)"},
    {"full_like", "x: f32[B, D]", "full_like(x, -1)"},
    {"arange", "x: f32[B, D]", "arange(D)"},
    {"iota", "x: f32[B, D]", "iota([B, D], axis=1)"},
    {"eye", "x: f32[D, D]", "eye(D)"},
};

std::vector<std::string> parts(std::string_view text) {
  std::vector<std::string> result;
  while (!text.empty()) {
    const size_t end = text.find("; ");
    result.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 2);
  }
  return result;
}

}  // namespace

OpExample example_of(const Op& op) {
  const auto* row =
      std::find_if(std::begin(kExamples), std::end(kExamples), [&](const ExampleRow& r) { return r.op == op.name; });
  if (row != std::end(kExamples)) return {parts(row->inputs), std::string(row->call)};
  OpExample example;
  std::string arguments;
  for (const Param& param : op.params) {
    if (param.optional) continue;
    HONE_CHECK(param.kind == ParamKind::kTensor, op.name + " has no example");
    example.inputs.push_back(fmt::format("{}: f32[B, D]", param.name));
    arguments += (arguments.empty() ? "" : ", ") + param.name;
  }
  const bool along_rows = std::any_of(op.params.begin(), op.params.end(), [](const Param& p) {
    return p.optional && p.name == "axis" && p.kind != ParamKind::kInt;
  });
  example.call = fmt::format("{}({}{})", op.name, arguments, along_rows ? ", axis=-1" : "");
  return example;
}

}  // namespace hone::task
