// Rows that rearrange elements.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "hone/task/graph/infer.h"
#include "hone/task/graph/lower.h"
#include "hone/task/graph/windows.h"

namespace hone::task {
namespace {

using Axes = std::vector<int64_t>;

Result<TensorType> infer_reshape(Call& call) {
  Dims dims = call.attr<Dims>("shape");
  const IntExpr total = product(call.dims(0));
  for (const IntExpr& dim : dims)
    if (dim.is_constant() && dim.constant() < 1 && dim != IntExpr(-1))
      return wrong(fmt::format("reshape to {}: every extent must be at least 1", dims_text(dims)),
                   "-1 stands for the one extent that follows from the others");
  const auto open = std::find(dims.begin(), dims.end(), IntExpr(-1));
  if (open != dims.end()) {
    if (std::count(dims.begin(), dims.end(), IntExpr(-1)) > 1)
      return wrong("reshape infers one dimension at most, found two -1");
    // Factors that both have cancel, so that [B, -1, 2] of [B, H, W] is [B, H*W // 2, 2].
    IntExpr rest = total;
    IntExpr divisor = 1;
    for (const IntExpr& dim : dims) {
      if (dim == IntExpr(-1)) continue;
      if (const auto quotient = IntExpr::divide_exactly(rest, dim))
        rest = *quotient;
      else
        divisor = divisor * dim;
    }
    if (rest.is_constant() && divisor.is_constant() && rest.constant() % divisor.constant() != 0)
      return wrong(fmt::format("reshape of {} to {}: {} elements are no multiple of {}",
                               dims_text(call.dims(0)), dims_text(dims), rest.to_string(),
                               divisor.to_string()));
    *open = IntExpr::floor_div(rest, divisor);
  }
  if (!may_equal(total, product(dims)))
    return wrong(fmt::format("reshape of {} ({} elements) to {} ({})", dims_text(call.dims(0)),
                             total.to_string(), dims_text(dims), product(dims).to_string()));
  call.attrs["shape"] = dims;
  return TensorType{call.type(0).dtype, std::move(dims)};
}

Ref lower_reshape(const LowerCall& c) { return reshape(c.in[0], c.node.type.dims); }

Result<TensorType> permuted(const Call& call, const Axes& perm) {
  TensorType type{call.type(0).dtype, {}};
  for (const int64_t axis : perm) type.dims.push_back(call.dims(0)[static_cast<size_t>(axis)]);
  return type;
}

Result<Axes> full_permutation(const Call& call, const Axes& axes) {
  Axes perm;
  for (const int64_t axis : axes) {
    HONE_TRY(const int64_t normal, normal_axis(axis, call.rank(0)));
    perm.push_back(normal);
  }
  Axes sorted = perm;
  std::sort(sorted.begin(), sorted.end());
  Axes all(call.dims(0).size());
  std::iota(all.begin(), all.end(), 0);
  if (sorted != all)
    return wrong(fmt::format("{} of {} needs each of its {} axes once", call.op.name,
                             call.type(0).to_string(), call.rank(0)));
  return perm;
}

/// transpose(x, 0, 1) swaps as PyTorch does; transpose(x, [1, 0]) permutes and transpose(x)
/// reverses as NumPy does.
Result<TensorType> infer_transpose(Call& call) {
  Axes perm(call.dims(0).size());
  std::iota(perm.begin(), perm.end(), 0);
  if (!call.has("axis0")) {
    std::reverse(perm.begin(), perm.end());
  } else {
    const Axes given = call.attr<Axes>("axis0");
    if (!call.has("axis1")) {
      HONE_TRY(perm, full_permutation(call, given));
    } else {
      if (given.size() != 1) return wrong("transpose takes two axes to swap, or one list of all axes");
      HONE_TRY(const int64_t a, normal_axis(given[0], call.rank(0)));
      HONE_TRY(const int64_t b, normal_axis(call.attr<int64_t>("axis1"), call.rank(0)));
      std::swap(perm[static_cast<size_t>(a)], perm[static_cast<size_t>(b)]);
    }
  }
  call.attrs = {{"perm", perm}};
  return permuted(call, perm);
}

Result<TensorType> infer_permute(Call& call) {
  HONE_TRY(const Axes perm, full_permutation(call, call.attr<Axes>("axes")));
  call.attrs = {{"perm", perm}};
  return permuted(call, perm);
}

Ref lower_transpose(const LowerCall& c) { return transpose(c.in[0], c.attr<Axes>("perm")); }

/// Rank, a position for a new axis allowed: from -rank-1 to rank.
Result<int64_t> new_axis(int64_t axis, int rank) {
  auto normal = normal_axis(axis, rank + 1);
  if (normal) return normal;
  return wrong(
      fmt::format("a new axis {} is out of range for {} dimension{}", axis, rank, rank == 1 ? "" : "s"),
      fmt::format("new axes go from {} to {}", -rank - 1, rank));
}

Result<TensorType> infer_unsqueeze(Call& call) {
  HONE_TRY(const int64_t axis, new_axis(call.attr<int64_t>("axis"), call.rank(0)));
  call.attrs["axis"] = axis;
  TensorType type = call.type(0);
  type.dims.insert(type.dims.begin() + axis, IntExpr(1));
  return type;
}

Result<TensorType> infer_squeeze(Call& call) {
  const bool named = call.has("axis");
  Axes axes;
  if (named) axes = call.attr<Axes>("axis");
  TensorType type{call.type(0).dtype, {}};
  Axes dropped;
  for (int64_t i = 0; i < call.rank(0); ++i) {
    const IntExpr& extent = call.dims(0)[static_cast<size_t>(i)];
    const bool wanted = named ? std::find(axes.begin(), axes.end(), i) != axes.end() : extent == IntExpr(1);
    if (wanted && extent != IntExpr(1))
      return wrong(fmt::format("squeeze of axis {} of {}: its extent is {}, not 1", i,
                               call.type(0).to_string(), extent.to_string()));
    if (wanted)
      dropped.push_back(i);
    else
      type.dims.push_back(extent);
  }
  call.attrs["axis"] = dropped;
  return type;
}

Result<TensorType> infer_flatten(Call& call) {
  if (call.rank(0) == 0) return TensorType{call.type(0).dtype, {1}};
  HONE_TRY(const int64_t start, normal_axis(call.attr<int64_t>("start"), call.rank(0)));
  HONE_TRY(const int64_t end, normal_axis(call.attr<int64_t>("end"), call.rank(0)));
  if (start > end)
    return wrong(fmt::format("flatten goes from an axis to a later one, found {} to {}", start, end));
  call.attrs["start"] = start;
  call.attrs["end"] = end;
  const Dims& dims = call.dims(0);
  TensorType type{call.type(0).dtype, Dims(dims.begin(), dims.begin() + start)};
  type.dims.push_back(
      product(std::span(dims).subspan(static_cast<size_t>(start), static_cast<size_t>(end - start + 1))));
  type.dims.insert(type.dims.end(), dims.begin() + end + 1, dims.end());
  return type;
}

Result<TensorType> infer_movedim(Call& call) {
  HONE_TRY(const int64_t from, normal_axis(call.attr<int64_t>("source"), call.rank(0)));
  HONE_TRY(const int64_t to, normal_axis(call.attr<int64_t>("destination"), call.rank(0)));
  Axes perm(call.dims(0).size());
  std::iota(perm.begin(), perm.end(), 0);
  perm.erase(perm.begin() + from);
  perm.insert(perm.begin() + to, from);
  call.attrs = {{"perm", perm}};
  return permuted(call, perm);
}

/// -1 keeps an extent; new dimensions come first.
Result<TensorType> infer_expand(Call& call) {
  Dims dims = call.attr<Dims>("shape");
  const Dims& x = call.dims(0);
  if (dims.size() < x.size())
    return wrong(
        fmt::format("{} cannot be broadcast to {}: it has more dimensions", dims_text(x), dims_text(dims)));
  for (size_t i = 0; i < dims.size(); ++i) {
    const size_t lead = dims.size() - x.size();
    const bool old = i >= lead;
    if (dims[i] == IntExpr(-1)) {
      if (!old) return wrong("-1 keeps an extent, but a new dimension has none");
      dims[i] = x[i - lead];
    }
    if (old && x[i - lead] != IntExpr(1) && !may_equal(x[i - lead], dims[i]))
      return wrong(fmt::format("{} cannot be broadcast to {}: {} is not {}", dims_text(x), dims_text(dims),
                               x[i - lead].to_string(), dims[i].to_string()));
  }
  call.attrs["shape"] = dims;
  return TensorType{call.type(0).dtype, std::move(dims)};
}

Ref lower_expand(const LowerCall& c) { return broadcast_to(c.in[0], c.node.type.dims); }

Result<TensorType> infer_tile(Call& call) {
  Dims reps = call.attr<Dims>("reps");
  Dims dims = call.dims(0);
  while (reps.size() < dims.size()) reps.insert(reps.begin(), IntExpr(1));
  while (dims.size() < reps.size()) dims.insert(dims.begin(), IntExpr(1));
  call.attrs["reps"] = reps;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (reps[i].is_constant() && reps[i].constant() < 1)
      return wrong(fmt::format("tile repeats once at least, found {}", reps[i].to_string()));
    dims[i] = dims[i] * reps[i];
  }
  return TensorType{call.type(0).dtype, std::move(dims)};
}

/// [d] to [1, d] to [r, d] to [r * d], in each dimension.
Ref lower_tile(const LowerCall& c) {
  const Dims& reps = c.attr<Dims>("reps");
  Ref x = c.in[0];
  Dims dims = x.dims();
  while (dims.size() < reps.size()) dims.insert(dims.begin(), IntExpr(1));
  Dims single;
  Dims full;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (reps[i] != IntExpr(1)) {
      single.emplace_back(1);
      full.push_back(reps[i]);
    }
    single.push_back(dims[i]);
    full.push_back(dims[i]);
  }
  return broadcast_to(reshape(x, std::move(single)), full);
}

Result<TensorType> infer_repeat_interleave(Call& call) {
  TensorType type = call.type(0);
  IntExpr& extent = type.dims[static_cast<size_t>(call.attr<int64_t>("axis"))];
  extent = extent * call.attr<IntExpr>("repeats");
  return type;
}

Ref lower_repeat_interleave(const LowerCall& c) {
  const int64_t after = c.attr<int64_t>("axis") + 1;
  Dims dims = c.in[0].dims();
  dims.insert(dims.begin() + after, IntExpr(1));
  const Ref x = reshape(c.in[0], dims);
  dims[static_cast<size_t>(after)] = c.attr<IntExpr>("repeats");
  return broadcast_to(x, dims);
}

Result<TensorType> infer_concat(Call& call) {
  const auto axis = static_cast<size_t>(call.attr<int64_t>("axis"));
  TensorType type{common_dtype(call.operands), call.dims(0)};
  for (size_t i = 1; i < call.operands.size(); ++i) {
    bool fits = call.rank(i) == call.rank(0);
    for (size_t k = 0; fits && k < type.dims.size(); ++k)
      fits = k == axis || may_equal(call.dims(i)[k], type.dims[k]);
    if (!fits)
      return wrong(fmt::format("{} and {} cannot be joined along axis {}", dims_text(call.dims(0)),
                               dims_text(call.dims(i)), axis));
    type.dims[axis] = type.dims[axis] + call.dims(i)[axis];
  }
  return type;
}

Ref lower_concat(const LowerCall& c) {
  std::vector<Ref> parts;
  for (const Ref& x : c.in) parts.push_back(cast(x, c.node.type.dtype));
  return concat(parts, c.attr<int64_t>("axis"));
}

Result<TensorType> infer_stack(Call& call) {
  HONE_TRY(const int64_t axis, new_axis(call.attr<int64_t>("axis"), call.rank(0)));
  call.attrs["axis"] = axis;
  TensorType type{common_dtype(call.operands), call.dims(0)};
  for (size_t i = 1; i < call.operands.size(); ++i) {
    bool fits = call.rank(i) == call.rank(0);
    for (size_t k = 0; fits && k < type.dims.size(); ++k) fits = may_equal(call.dims(i)[k], type.dims[k]);
    if (!fits)
      return wrong(fmt::format("stack takes tensors of one shape, found {} and {}", dims_text(call.dims(0)),
                               dims_text(call.dims(i))));
  }
  type.dims.insert(type.dims.begin() + axis, IntExpr(static_cast<int64_t>(call.operands.size())));
  return type;
}

Ref lower_stack(const LowerCall& c) {
  const int64_t axis = c.attr<int64_t>("axis");
  std::vector<Ref> parts;
  for (const Ref& x : c.in) {
    Dims dims = x.dims();
    dims.insert(dims.begin() + axis, IntExpr(1));
    parts.push_back(reshape(cast(x, c.node.type.dtype), std::move(dims)));
  }
  return concat(parts, axis);
}

Result<TensorType> infer_pad(Call& call) {
  const Dims& low = call.attr<Dims>("low");
  const Dims& high = call.attr<Dims>("high");
  TensorType type = call.type(0);
  if (low.size() != type.dims.size() || high.size() != type.dims.size())
    return wrong(fmt::format("pad of {} takes a number for each axis, found {} before and {} after",
                             type.to_string(), low.size(), high.size()),
                 "pad(x, low=[0, 1], high=[0, 1], value=0)");
  for (size_t i = 0; i < type.dims.size(); ++i) {
    if ((low[i].is_constant() && low[i].constant() < 0) || (high[i].is_constant() && high[i].constant() < 0))
      return wrong(fmt::format("pad adds {} before and {} after axis {}: not negative", low[i].to_string(),
                               high[i].to_string(), i),
                   "a slice cuts: x[1:-1]");
    type.dims[i] = type.dims[i] + low[i] + high[i];
  }
  return type;
}

Ref lower_pad(const LowerCall& c) {
  return pad(c.in[0], c.attr<Dims>("low"), c.attr<Dims>("high"), c.attr<double>("value"));
}

Result<TensorType> infer_same(Call& call) { return call.type(0); }
Ref lower_flip(const LowerCall& c) { return flip(c.in[0], c.attr<Axes>("axis")); }

Result<TensorType> infer_roll(Call& call) {
  auto& shifts = std::get<Axes>(call.attrs.find("shifts")->second);
  // Not of the kind `axes`, which is sorted: each shift belongs to the axis at its place.
  auto& axes = std::get<Axes>(call.attrs.find("axis")->second);
  for (int64_t& axis : axes) {
    HONE_TRY(axis, normal_axis(axis, call.rank(0)));
  }
  if (shifts.size() != axes.size())
    return wrong(
        fmt::format("roll takes a shift for each axis, found {} for {}", shifts.size(), axes.size()));
  for (size_t i = 0; i < axes.size(); ++i) {
    const IntExpr& extent = call.dims(0)[static_cast<size_t>(axes[i])];
    if (!extent.is_constant()) continue;
    shifts[i] = ((shifts[i] % extent.constant()) + extent.constant()) % extent.constant();
  }
  return call.type(0);
}

/// The last `shift` elements come first; a negative shift moves the first to the end.
Ref lower_roll(const LowerCall& c) {
  Ref x = c.in[0];
  const Axes& axes = c.attr<Axes>("axis");
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t shift = c.attr<Axes>("shifts")[i];
    if (shift == 0) continue;
    const IntExpr extent = x.dims()[static_cast<size_t>(axes[i])];
    const IntExpr cut = shift > 0 ? extent - shift : IntExpr(-shift);
    x = concat({slice_axis(x, axes[i], cut, extent - cut), slice_axis(x, axes[i], 0, cut)}, axes[i]);
  }
  return x;
}

Result<TensorType> infer_unfold(Call& call) {
  if (call.rank(0) != 4)
    return wrong(fmt::format("unfold takes x [N, C, H, W], found {}", call.type(0).to_string()), "windows along one axis: windows(x, axis, size, step)");
  for (const auto& [key, least] : {std::pair{"kernel", 1}, {"dilation", 1}, {"padding", 0}, {"stride", 1}}) HONE_TRY_VOID(settle_window(call, key, 2, least));
  const Dims& x = call.dims(0);
  IntExpr taps = x[1], places = 1;
  for (size_t i = 0; i < 2; ++i) {
    const int64_t kernel = call.attr<Ints>("kernel")[i], padding = call.attr<Ints>("padding")[i];
    const IntExpr count = window_count(x[i + 2], kernel, padding, padding, call.attr<Ints>("stride")[i], call.attr<Ints>("dilation")[i]);
    HONE_TRY_VOID(check_count(count, call.op.name, i));
    taps = taps * kernel, places = places * count;
  }
  return TensorType{call.type(0).dtype, {x[0], taps, places}};
}

/// Two dimensions for one: [taps, windows], or the other way round.
Ref in_windows(Ref x, int64_t axis, const IntExpr& count, int64_t taps, int64_t stride, int64_t dilation, bool taps_first) {
  Lower& lower = x.lower();
  const Dims dims = taps_first ? Dims{taps, count} : Dims{count, taps};
  const Ref tap = iota(lower, dims, taps_first ? 0 : 1), window = iota(lower, dims, taps_first ? 1 : 0);
  return gather(x, tap * lower.integer(dilation) + window * lower.integer(stride), axis);
}

Ref lower_unfold(const LowerCall& c) {
  Dims around(4, IntExpr(0));
  for (size_t i = 0; i < 2; ++i) around[i + 2] = c.attr<Ints>("padding")[i];
  Ref y = pad(c.in[0], around, around, 0);
  for (const size_t i : {size_t{1}, size_t{0}}) {
    const int64_t kernel = c.attr<Ints>("kernel")[i], stride = c.attr<Ints>("stride")[i], dilation = c.attr<Ints>("dilation")[i];
    y = in_windows(y, static_cast<int64_t>(i) + 2, window_count(y.dims()[i + 2], kernel, 0, 0, stride, dilation), kernel, stride, dilation, true);
  }
  return reshape(transpose(y, {0, 1, 2, 4, 3, 5}), c.node.type.dims);
}

Result<TensorType> infer_windows(Call& call) {
  const int64_t size = call.attr<int64_t>("size"), step = call.attr<int64_t>("step");
  if (size < 1 || step < 1) return wrong(fmt::format("'size' and 'step' of windows are at least 1, found {} and {}", size, step));
  TensorType type = call.type(0);
  IntExpr& extent = type.dims[static_cast<size_t>(call.attr<int64_t>("axis"))];
  extent = window_count(extent, size, 0, 0, step, 1);
  if (extent.is_constant() && extent.constant() < 1) return wrong(fmt::format("windows: {} elements along an axis of fewer", size));
  type.dims.emplace_back(size);
  return type;
}

Ref lower_windows(const LowerCall& c) {
  const auto axis = c.attr<int64_t>("axis");
  const Ref y = in_windows(c.in[0], axis, c.node.type.dims[static_cast<size_t>(axis)], c.attr<int64_t>("size"), c.attr<int64_t>("step"), 1, false);
  Axes perm;
  for (int64_t d = 0; d < y.rank(); ++d)
    if (d != axis + 1) perm.push_back(d);
  perm.push_back(axis + 1);
  return transpose(y, std::move(perm));
}

const OpRow kShapeOps[] = {
    {"reshape(x, shape: dims)", "view", "The same elements in another shape; one dimension may be -1.",
     infer_reshape, lower_reshape},
    {"flatten(x, start: int = 0, end: int = -1)", "", "Joins the axes from start to end.", infer_flatten,
     lower_reshape},
    {"squeeze(x, axis: axes = none)", "", "Drops axes of extent 1: those named, or all written as 1.",
     infer_squeeze, lower_reshape},
    {"unsqueeze(x, axis: int)", "expand_dims", "A new axis of extent 1.", infer_unsqueeze, lower_reshape},
    {"transpose(x, axis0: ints = none, axis1: int = none)", "swapaxes",
     "Swaps two axes; with one list permutes, with nothing reverses all (x.T).", infer_transpose,
     lower_transpose},
    {"permute(x, axes: ints)", "", "Result axis i is operand axis axes[i].", infer_permute, lower_transpose},
    {"movedim(x, source: int, destination: int)", "moveaxis", "Moves one axis.", infer_movedim,
     lower_transpose},
    {"broadcast_to(x, shape: dims)", "expand", "Repeats extents of 1; -1 keeps an extent.", infer_expand,
     lower_expand},
    {"tile(x, reps: dims)", "repeat", "The whole tensor repeated along each axis.", infer_tile, lower_tile},
    {"repeat_interleave(x, repeats: dim, axis: axis)", "", "Each element repeated in place.",
     infer_repeat_interleave, lower_repeat_interleave},
    {"concat(tensors: tensors, axis: axis = 0)", "cat concatenate",
     "Joined along an axis: concat([a, b], axis=1).", infer_concat, lower_concat},
    {"stack(tensors: tensors, axis: int = 0)", "", "Joined along a new axis.", infer_stack, lower_stack},
    {"pad(x, low: dims, high: dims, value: number = 0.0)", "",
     "`value` added before and after each axis (one number an axis).", infer_pad, lower_pad},
    {"unfold(x, kernel: ints, dilation: ints = 1, padding: ints = 0, stride: ints = 1)", "",
     "The windows of a convolution over x [N, C, H, W] as columns, [N, C*K*K, windows] (im2col); windows along one axis: windows.", infer_unfold, lower_unfold},
    {"windows(x, axis: axis, size: int, step: int = 1)", "",
     "Every segment of `size` elements along an axis, `step` apart, as a new last axis (PyTorch's x.unfold).", infer_windows, lower_windows},
    {"flip(x, axis: axes)", "", "Order reversed along axes.", infer_same, lower_flip},
    {"roll(x, shifts: ints, axis: ints)", "",
     "Elements moved along axes, those beyond the end coming back at the start.", infer_roll, lower_roll},
};

}  // namespace

Family shape_family() { return {"Shape", kShapeOps}; }

}  // namespace hone::task
