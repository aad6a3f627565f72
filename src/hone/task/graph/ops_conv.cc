// Convolutions and transposed convolutions over 1, 2 and 3 spatial dimensions, in PyTorch's layout.
// f16 and bf16 accumulate in f32.
#include <fmt/format.h>

#include "hone/task/graph/infer.h"
#include "hone/task/graph/lower.h"
#include "hone/task/graph/windows.h"

namespace hone::task {
namespace {

Status check_operands(const Call& call, int rank, std::string_view weight_layout) {
  if (call.rank(0) != rank + 2 || call.rank(1) != rank + 2)
    return wrong(fmt::format("{} takes x [N, C, {}] and a weight [{}], found {} and {}", call.op.name,
                             rank == 1   ? "L"
                             : rank == 2 ? "H, W"
                                         : "D, H, W",
                             weight_layout, call.type(0).to_string(), call.type(1).to_string()));
  if (common_dtype(call.operands) == DType::kBool)
    return wrong(fmt::format("{} does not take bool", call.op.name), "cast first: f32(x)");
  return {};
}

Status check_bias(const Call& call, const IntExpr& channels) {
  if (call.operands.size() == 3 && (call.rank(2) != 1 || !may_equal(call.dims(2)[0], channels)))
    return wrong(fmt::format("the bias of {} is [{}], found {}", call.op.name, channels.to_string(),
                             dims_text(call.dims(2))));
  return {};
}

/// Numbers for "same" and "valid". An even kernel gets one more behind than in front: then `padding_high` says so.
Status settle_padding(Call& call, int rank) {
  const auto* const word = std::get_if<std::string>(&call.attrs["padding"]);
  if (word == nullptr) return settle_window(call, "padding", rank, 0);
  const bool same = *word == "same";
  Ints low(static_cast<size_t>(rank), 0), high = low;
  for (size_t i = 0; i < low.size() && same; ++i) {
    const IntExpr& kernel = call.dims(1)[i + 2];
    if (call.attr<Ints>("stride")[i] != 1)
      return wrong(fmt::format("padding=\"same\" of {} goes with a stride of 1", call.op.name), "say how many elements are added: padding=1");
    if (!kernel.is_constant())
      return wrong(fmt::format("padding=\"same\" of {} needs a kernel whose extents are numbers, found {}", call.op.name, dims_text(call.dims(1))));
    const int64_t whole = call.attr<Ints>("dilation")[i] * (kernel.constant() - 1);
    low[i] = whole / 2, high[i] = whole - low[i];
  }
  if (low != high) call.attrs["padding_high"] = std::move(high);
  call.attrs["padding"] = std::move(low);
  return {};
}

Status settle(Call& call, int rank) {
  HONE_TRY_VOID(settle_window(call, "stride", rank, 1));
  HONE_TRY_VOID(settle_window(call, "dilation", rank, 1));
  HONE_TRY_VOID(settle_padding(call, rank));
  const IntExpr& groups = call.attr<IntExpr>("groups");
  if (groups.is_constant() && groups.constant() < 1)
    return wrong(fmt::format("'groups' of {} is at least 1, found {}", call.op.name, groups.constant()));
  return {};
}

Result<TensorType> infer_conv(Call& call) {
  const int rank = spatial_rank(call);
  HONE_TRY_VOID(check_operands(call, rank, "O, C/groups, kernel…"));
  HONE_TRY_VOID(settle(call, rank));
  const Dims& x = call.dims(0);
  const Dims& w = call.dims(1);
  const IntExpr channels = w[1] * call.attr<IntExpr>("groups");
  if (!may_equal(x[1], channels))
    return wrong(fmt::format("{}: x has {} channels, but the weight {} with groups={} takes {}", call.op.name,
                             x[1].to_string(), dims_text(w), call.attr<IntExpr>("groups").to_string(),
                             channels.to_string()));
  HONE_TRY_VOID(check_bias(call, w[0]));
  const Ints& padding = call.attr<Ints>("padding");
  const Ints& behind = call.has("padding_high") ? call.attr<Ints>("padding_high") : padding;
  TensorType type{common_dtype(call.operands), {x[0], w[0]}};
  for (size_t i = 0; i < static_cast<size_t>(rank); ++i) {
    type.dims.push_back(window_count(x[i + 2], w[i + 2], padding[i], behind[i], call.attr<Ints>("stride")[i],
                                     call.attr<Ints>("dilation")[i]));
    HONE_TRY_VOID(check_count(type.dims.back(), call.op.name, i));
  }
  return type;
}

Result<TensorType> infer_conv_transpose(Call& call) {
  const int rank = spatial_rank(call);
  HONE_TRY_VOID(check_operands(call, rank, "C, O/groups, kernel…"));
  HONE_TRY_VOID(settle(call, rank));
  HONE_TRY_VOID(settle_window(call, "output_padding", rank, 0));
  const Dims& x = call.dims(0);
  const Dims& w = call.dims(1);
  if (!may_equal(x[1], w[0]))
    return wrong(fmt::format("{}: x has {} channels, but the weight {} takes {}", call.op.name,
                             x[1].to_string(), dims_text(w), w[0].to_string()));
  const IntExpr channels = w[1] * call.attr<IntExpr>("groups");
  HONE_TRY_VOID(check_bias(call, channels));
  TensorType type{common_dtype(call.operands), {x[0], channels}};
  for (size_t i = 0; i < static_cast<size_t>(rank); ++i) {
    const int64_t stride = call.attr<Ints>("stride")[i];
    const int64_t dilation = call.attr<Ints>("dilation")[i];
    const int64_t extra = call.attr<Ints>("output_padding")[i];
    if (extra >= stride && extra >= dilation)
      return wrong(
          fmt::format("output_padding {} is not below stride {} or dilation {}", extra, stride, dilation));
    type.dims.push_back((x[i + 2] - 1) * stride - 2 * call.attr<Ints>("padding")[i] +
                        dilation * (w[i + 2] - 1) + extra + 1);
    const IntExpr& extent = type.dims.back();
    if (extent.is_constant() && extent.constant() < 1)
      return wrong(fmt::format("{}: a padding of {} leaves nothing of spatial dimension {}", call.op.name,
                               call.attr<Ints>("padding")[i], i));
  }
  return type;
}

Ref with_bias(const LowerCall& c, Ref y) {
  const auto bias = c.find("bias");
  return bias ? y + per_channel(cast(*bias, y.dtype()), y) : y;
}

Ref lower_conv(const LowerCall& c) {
  const DType dtype = c.node.type.dtype;
  const Attrs attrs{{"stride", c.attr<Ints>("stride")},
                    {"padding_low", c.attr<Ints>("padding")},
                    {"padding_high", c.attr<Ints>(c.has("padding_high") ? "padding_high" : "padding")},
                    {"dilation", c.attr<Ints>("dilation")},
                    {"groups", c.attr<IntExpr>("groups")}};
  return with_bias(c, c.lower.add(Prim::kConv, std::vector{cast(c.in[0], dtype), cast(c.in[1], dtype)}, attrs,
                                  {compute_dtype(dtype), c.node.type.dims}));
}

Ref lower_conv_transpose(const LowerCall& c) {
  const DType dtype = c.node.type.dtype;
  const Attrs attrs{{"stride", c.attr<Ints>("stride")},
                    {"padding", c.attr<Ints>("padding")},
                    {"output_padding", c.attr<Ints>("output_padding")},
                    {"dilation", c.attr<Ints>("dilation")},
                    {"groups", c.attr<IntExpr>("groups")}};
  return with_bias(
      c, c.lower.add(Prim::kConvTranspose, std::vector{cast(c.in[0], dtype), cast(c.in[1], dtype)}, attrs,
                     {compute_dtype(dtype), c.node.type.dims}));
}

#define HONE_CONV_PARAMS \
  "(x, weight, bias = none, stride: ints = 1, padding: padding = 0, dilation: ints = 1, groups: dim = 1)"
#define HONE_CONV_TRANSPOSE_PARAMS                                                                         \
  "(x, weight, bias = none, stride: ints = 1, padding: ints = 0, output_padding: ints = 0, groups: dim = " \
  "1, dilation: ints = 1)"

const OpRow kConvOps[] = {
    {"conv1d" HONE_CONV_PARAMS, "",
     "Convolution of x [N, C, L] with a weight [O, C/groups, K] (not flipped).", infer_conv, lower_conv},
    {"conv2d" HONE_CONV_PARAMS, "",
     "Convolution of x [N, C, H, W] with a weight [O, C/groups, K, K] (not flipped).", infer_conv,
     lower_conv},
    {"conv3d" HONE_CONV_PARAMS, "",
     "Convolution of x [N, C, D, H, W] with a weight [O, C/groups, K, K, K] (not flipped).", infer_conv,
     lower_conv},
    {"conv_transpose1d" HONE_CONV_TRANSPOSE_PARAMS, "",
     "Transposed convolution of x [N, C, L] with a weight [C, O/groups, K].", infer_conv_transpose,
     lower_conv_transpose},
    {"conv_transpose2d" HONE_CONV_TRANSPOSE_PARAMS, "",
     "Transposed convolution of x [N, C, H, W] with a weight [C, O/groups, K, K].", infer_conv_transpose,
     lower_conv_transpose},
    {"conv_transpose3d" HONE_CONV_TRANSPOSE_PARAMS, "",
     "Transposed convolution of x [N, C, D, H, W] with a weight [C, O/groups, K, K, K].",
     infer_conv_transpose, lower_conv_transpose},
};

}  // namespace

Family conv_family() { return {"Convolutions", kConvOps}; }

}  // namespace hone::task
