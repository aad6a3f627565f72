// Rows that select elements: slices (what x[...] becomes), gathers, triangles, sorting.
#include <fmt/format.h>

#include <algorithm>

#include "hone/task/graph/infer.h"
#include "hone/task/graph/lower.h"

namespace hone::task {
namespace {

using Axes = std::vector<int64_t>;

bool certainly_above(const IntExpr& a, const IntExpr& b) {
  const IntExpr d = a - b;
  return d.is_constant() && d.constant() > 0;
}

Status check_range(const IntExpr& start, const IntExpr& end, const IntExpr& extent, int64_t axis) {
  if ((start.is_constant() && start.constant() < 0) || certainly_above(end, extent))
    return wrong(fmt::format("axis {} of extent {} is sliced from {} to {}", axis, extent.to_string(),
                             start.to_string(), end.to_string()));
  if (certainly_above(start + 1, end))
    return wrong(
        fmt::format("the slice from {} to {} of axis {} is empty", start.to_string(), end.to_string(), axis));
  return {};
}

Result<TensorType> infer_slice(Call& call) {
  const Dims& start = call.attr<Dims>("start");
  const Dims& extent = call.attr<Dims>("extent");
  const Axes& step = call.attr<Axes>("step");
  const auto rank = static_cast<size_t>(call.rank(0));
  if (start.size() != rank || extent.size() != rank || step.size() != rank)
    return wrong(
        fmt::format("slice of {} takes start, extent and step for each axis", call.type(0).to_string()),
        "x[2:8, ::2] is shorter");
  for (size_t i = 0; i < rank; ++i) {
    if (step[i] < 1)
      return wrong(fmt::format("the step of axis {} is at least 1, found {}", i, step[i]),
                   "flip(x, axis) reverses");
    HONE_TRY_VOID(check_range(start[i], start[i] + (extent[i] - 1) * step[i] + 1, call.dims(0)[i],
                              static_cast<int64_t>(i)));
  }
  return TensorType{call.type(0).dtype, extent};
}

Ref lower_slice(const LowerCall& c) {
  return slice(c.in[0], c.attr<Dims>("start"), c.attr<Dims>("extent"), c.attr<Axes>("step"));
}

Result<TensorType> infer_narrow(Call& call) {
  const int64_t axis = call.attr<int64_t>("axis");
  const IntExpr& start = call.attr<IntExpr>("start");
  const IntExpr& length = call.attr<IntExpr>("length");
  TensorType type = call.type(0);
  IntExpr& extent = type.dims[static_cast<size_t>(axis)];
  HONE_TRY_VOID(check_range(start, start + length, extent, axis));
  extent = length;
  return type;
}

Ref lower_narrow(const LowerCall& c) {
  return slice_axis(c.in[0], c.attr<int64_t>("axis"), c.attr<IntExpr>("start"), c.attr<IntExpr>("length"));
}

Result<TensorType> infer_select(Call& call) {
  const int64_t axis = call.attr<int64_t>("axis");
  TensorType type = call.type(0);
  const IntExpr extent = type.dims[static_cast<size_t>(axis)];
  const IntExpr given = call.attr<IntExpr>("index");
  IntExpr index = given;
  if (index.is_constant() && index.constant() < 0) index = extent + index;
  call.attrs["index"] = index;
  const bool below = index.is_constant() && index.constant() < 0;
  if (below || certainly_above(index + 1, extent))
    return wrong(fmt::format("index {} is out of range for axis {} of extent {}", given.to_string(), axis,
                             extent.to_string()));
  type.dims.erase(type.dims.begin() + axis);
  return type;
}

Ref lower_select(const LowerCall& c) {
  return slice_axis(c.in[0], c.attr<int64_t>("axis"), c.attr<IntExpr>("index"), 1);
}

/// Sizes of split and chunk along the axis, and where the part `result` begins.
Result<TensorType> part(Call& call, const Dims& sizes) {
  const int64_t axis = call.attr<int64_t>("axis");
  const auto index = static_cast<size_t>(call.attr<int64_t>("result"));
  TensorType type = call.type(0);
  IntExpr& extent = type.dims[static_cast<size_t>(axis)];
  IntExpr total = 0;
  IntExpr start = 0;
  const bool equal = std::all_of(sizes.begin(), sizes.end(),
                                 [&](const IntExpr& size) { return size == sizes[0]; });
  if (equal) {  // a thousand parts have a thousand results: no sum of a thousand terms for each
    start = sizes[0] * static_cast<int64_t>(index);
    total = sizes[0] * static_cast<int64_t>(sizes.size());
  } else {
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (i == index) start = total;
      total = total + sizes[i];
    }
  }
  if (!may_equal(total, extent))
    return wrong(fmt::format("the parts of {} have {} elements in all, but axis {} has {}", call.op.name,
                             total.to_string(), axis, extent.to_string()));
  extent = sizes[index];
  call.attrs["sizes"] = sizes;
  call.attrs["start"] = start;
  return type;
}

Result<TensorType> infer_split(Call& call) {
  Dims sizes = call.attr<Dims>("sizes");
  const IntExpr& extent = call.dims(0)[static_cast<size_t>(call.attr<int64_t>("axis"))];
  if (sizes.size() == 1 && !(sizes[0] == extent)) {
    const auto parts = IntExpr::divide_exactly(extent, sizes[0]);
    if (extent.is_constant() && sizes[0].is_constant() && !parts)
      return wrong(fmt::format("split into parts of {}: {} elements are no multiple of it",
                               sizes[0].to_string(), extent.to_string()),
                   "give all sizes: split(x, [4, 8], axis=1)");
    if (!parts || !parts->is_constant() || parts->constant() < 1 || parts->constant() > 1000)
      return wrong(fmt::format("split into parts of {}: the number of parts of {} is not known",
                               sizes[0].to_string(), extent.to_string()),
                   "give all sizes: split(x, [4, 8], axis=1)");
    sizes.assign(static_cast<size_t>(parts->constant()), sizes[0]);
  }
  return part(call, sizes);
}

Result<TensorType> infer_chunk(Call& call) {
  const int64_t n = call.attr<int64_t>("chunks");
  if (n < 1 || n > 1000) return wrong(fmt::format("chunk makes 1 to 1000 parts, found {}", n));
  const IntExpr& extent = call.dims(0)[static_cast<size_t>(call.attr<int64_t>("axis"))];
  const auto exact = IntExpr::divide_exactly(extent, n);
  if (extent.is_constant() && !exact)
    return wrong(
        fmt::format("chunk: axis of {} elements does not divide into {} parts", extent.to_string(), n));
  return part(call, Dims(static_cast<size_t>(n), exact ? *exact : IntExpr::floor_div(extent, n)));
}

int count_parts(const Call& call) { return static_cast<int>(call.attr<Dims>("sizes").size()); }

Ref lower_part(const LowerCall& c) {
  const int64_t axis = c.attr<int64_t>("axis");
  return slice_axis(c.in[0], axis, c.attr<IntExpr>("start"), c.node.type.dims[static_cast<size_t>(axis)]);
}

Status check_indices(const Call& call, size_t i) {
  if (is_int(call.type(i).dtype)) return {};
  return wrong(fmt::format("{} takes integer indices, found {}", call.op.name, call.type(i).to_string()),
               call.type(i).dtype == DType::kBool ? "a mask has no fixed shape: use where(mask, x, 0)" : "");
}

Result<TensorType> infer_take(Call& call) {
  HONE_TRY_VOID(check_indices(call, 1));
  const auto axis = call.attr<int64_t>("axis");
  TensorType type = call.type(0);
  type.dims.erase(type.dims.begin() + axis);
  type.dims.insert(type.dims.begin() + axis, call.dims(1).begin(), call.dims(1).end());
  return type;
}

Ref lower_take(const LowerCall& c) { return gather(c.in[0], c.in[1], c.attr<int64_t>("axis")); }

Result<TensorType> infer_embedding(Call& call) {
  HONE_TRY_VOID(check_indices(call, 0));
  if (call.rank(1) != 2)
    return wrong(fmt::format("embedding takes a table [rows, features], found {}", call.type(1).to_string()));
  TensorType type{call.type(1).dtype, call.dims(0)};
  type.dims.push_back(call.dims(1)[1]);
  return type;
}

Ref lower_embedding(const LowerCall& c) { return gather(c.in[1], c.in[0], 0); }

Result<TensorType> infer_take_along_axis(Call& call) {
  HONE_TRY_VOID(check_indices(call, 1));
  const auto axis = static_cast<size_t>(call.attr<int64_t>("axis"));
  bool fits = call.rank(0) == call.rank(1);
  for (size_t k = 0; fits && k < call.dims(0).size(); ++k)
    fits = k == axis || may_equal(call.dims(0)[k], call.dims(1)[k]);
  if (!fits)
    return wrong(fmt::format("{} along axis {}: indices {} do not fit {}", call.op.name, axis,
                             dims_text(call.dims(1)), dims_text(call.dims(0))),
                 "both have one rank and agree outside the axis");
  return TensorType{call.type(0).dtype, call.dims(1)};
}

Ref lower_take_along_axis(const LowerCall& c) {
  return take_along_axis(c.in[0], c.in[1], c.attr<int64_t>("axis"));
}

Result<TensorType> infer_one_hot(Call& call) {
  HONE_TRY_VOID(check_indices(call, 0));
  TensorType type{*dtype_from(call.attr<std::string>("dtype")), call.dims(0)};
  type.dims.push_back(call.attr<IntExpr>("classes"));
  return type;
}

Ref lower_one_hot(const LowerCall& c) {
  const Ref indices = cast(c.in[0], DType::kI64);
  Dims dims = indices.dims();
  dims.emplace_back(1);
  return eq(reshape(indices, std::move(dims)), iota(c.lower, c.node.type.dims, indices.rank()));
}

Result<TensorType> infer_triangle(Call& call) {
  if (call.rank(0) < 2)
    return wrong(fmt::format("{} takes a matrix, found {}", call.op.name, call.type(0).to_string()));
  return call.type(0);
}

Ref lower_triangle(const LowerCall& c) {
  const Ref x = c.in[0];
  const Dims matrix(x.dims().end() - 2, x.dims().end());
  const Ref row = iota(c.lower, matrix, 0);
  const Ref column = iota(c.lower, matrix, 1);
  const int64_t k = c.attr<int64_t>("k");
  const Ref diagonal = k == 0 ? row : row + c.lower.integer(k);
  return where(binary(c.op.name == "triu" ? Prim::kGe : Prim::kLe, column, diagonal), x, like(x, 0));
}

Result<TensorType> infer_diag(Call& call) {
  if (call.rank(0) != 1)
    return wrong(fmt::format("diag makes a matrix of a vector, found {}", call.type(0).to_string()),
                 "diagonal(x) takes the diagonal of a matrix");
  return TensorType{call.type(0).dtype, {call.dims(0)[0], call.dims(0)[0]}};
}

Ref lower_diag(const LowerCall& c) {
  const Dims& dims = c.node.type.dims;
  return where(eq(iota(c.lower, dims, 0), iota(c.lower, dims, 1)), c.in[0], like(c.in[0], 0));
}

Result<TensorType> infer_diagonal(Call& call) {
  if (call.rank(0) < 2)
    return wrong(fmt::format("diagonal takes a matrix, found {}", call.type(0).to_string()));
  TensorType type = call.type(0);
  const IntExpr columns = type.dims.back();
  type.dims.pop_back();
  if (!(type.dims.back() == columns)) type.dims.back() = IntExpr::min(type.dims.back(), columns);
  return type;
}

Ref lower_diagonal(const LowerCall& c) {
  const Ref x = slice_axis(c.in[0], c.in[0].rank() - 2, 0, c.node.type.dims.back());
  Dims dims = c.node.type.dims;
  dims.emplace_back(1);
  return take_along_axis(x, iota(c.lower, dims, x.rank() - 2), x.last());
}

Result<TensorType> infer_sort(Call& call) {
  if (call.rank(0) == 0) return wrong(fmt::format("{} of a scalar", call.op.name));
  return TensorType{call.op.name == "argsort" ? DType::kI64 : call.type(0).dtype, call.dims(0)};
}

Ref lower_sort(const LowerCall& c) {
  return sort(c.op.name == "argsort" ? Prim::kArgSort : Prim::kSort, c.in[0], c.attr<int64_t>("axis"),
              c.attr<bool>("descending"));
}

Result<TensorType> infer_topk(Call& call) {
  const auto axis = static_cast<size_t>(call.attr<int64_t>("axis"));
  const IntExpr& k = call.attr<IntExpr>("k");
  TensorType type{call.attr<int64_t>("result") == 1 ? DType::kI64 : call.type(0).dtype, call.dims(0)};
  if ((k.is_constant() && k.constant() < 1) || certainly_above(k, type.dims[axis]))
    return wrong(
        fmt::format("topk takes 1 to {} elements, found {}", type.dims[axis].to_string(), k.to_string()));
  type.dims[axis] = k;
  return type;
}

int two_results(const Call&) { return 2; }

Ref lower_topk(const LowerCall& c) {
  const int64_t axis = c.attr<int64_t>("axis");
  const Prim prim = c.attr<int64_t>("result") == 1 ? Prim::kArgSort : Prim::kSort;
  return slice_axis(sort(prim, c.in[0], axis, c.attr<bool>("largest")), axis, 0, c.attr<IntExpr>("k"));
}

/// scatter_add: indices of the source's shape; index_add: one for each of the source's slices.
Result<TensorType> infer_scatter(Call& call) {
  const auto axis = static_cast<size_t>(call.attr<int64_t>("axis"));
  const bool slices = call.op.name == "index_add";
  const Dims &x = call.dims(0), &indices = call.dims(1), &source = call.dims(2);
  if (!is_int(call.type(1).dtype)) return wrong(fmt::format("the indices of {} are integers, found {}", call.op.name, call.type(1).to_string()));
  bool fits = source.size() == x.size() && indices.size() == (slices ? 1 : x.size());
  for (size_t d = 0; fits && d < x.size(); ++d) {
    fits = d == axis || may_equal(x[d], source[d]);
    if (!slices || d == axis) fits = fits && may_equal(indices[slices ? 0 : d], source[d]);
  }
  if (!fits)
    return wrong(fmt::format("{} of a source {} by indices {} to {} along axis {}", call.op.name, dims_text(source), dims_text(indices), dims_text(x), axis),
                 slices ? "x and source differ along the axis only, where source has an index for each element" : "indices and source have one shape, which differs from x along the axis only");
  const std::vector<Operand> added{call.operands[0], call.operands[2]};
  const DType dtype = common_dtype(added);
  if (dtype == DType::kBool) return wrong(fmt::format("{} does not take bool", call.op.name), "cast first: i32(x) or f32(x)");
  return TensorType{dtype, x};
}

Ref lower_scatter(const LowerCall& c) {
  const auto axis = c.attr<int64_t>("axis");
  Ref indices = c.in[1];
  const Ref source = c.wide(2);
  if (c.op.name == "index_add") {
    const Dims dims = source.dims();
    Dims line(dims.size(), IntExpr(1));
    line[static_cast<size_t>(axis)] = indices.dims()[0];
    indices = broadcast_to(reshape(indices, std::move(line)), dims);
  }
  const Prim prim = c.op.name == "scatter_max" ? Prim::kScatterMax : c.op.name == "scatter_min" ? Prim::kScatterMin : Prim::kScatterAdd;
  return scatter(prim, c.wide(0), indices, source, axis);
}

const OpRow kIndexOps[] = {
    {"slice(x, start: dims, extent: dims, step: ints)", "",
     "`extent` elements of each axis from `start`, every `step`-th: what x[a:b, ::2] becomes.", infer_slice,
     lower_slice},
    {"narrow(x, axis: axis, start: dim, length: dim)", "", "`length` elements of one axis.", infer_narrow,
     lower_narrow},
    {"select(x, axis: axis, index: dim)", "",
     "One position of an axis, which is dropped: what x[:, 3] becomes.", infer_select, lower_select},
    {"split(x, sizes: dims, axis: axis = 0)", "",
     "Parts of the sizes given, or of one size that divides: a, b = split(x, [4, 8], axis=1).", infer_split,
     lower_part, Prim::kInput, count_parts},
    {"chunk(x, chunks: int, axis: axis = 0)", "", "Equal parts: a, b = chunk(x, 2, axis=-1).", infer_chunk,
     lower_part, Prim::kInput, count_parts},
    {"take(x, indices, axis: axis = 0)", "", "Indices replace an axis by their shape; also x[indices].",
     infer_take, lower_take},
    {"index_select(x, axis: axis, indices)", "", "take with PyTorch's order of arguments.", infer_take,
     lower_take},
    {"embedding(indices, weight)", "", "Rows of a table: weight[indices].", infer_embedding, lower_embedding},
    {"take_along_axis(x, indices, axis: axis)", "", "Along an axis, the element each index names.",
     infer_take_along_axis, lower_take_along_axis},
    {"gather(x, axis: axis, indices)", "", "take_along_axis with PyTorch's order of arguments.",
     infer_take_along_axis, lower_take_along_axis},
    {"scatter_add(x, axis: axis, indices, source)", "", "x with each element of source added where its index says along an axis, in their order.",
     infer_scatter, lower_scatter},
    {"scatter_max(x, axis: axis, indices, source)", "", "The largest of each element of x and the elements of source whose index says it along an axis; NaN if any is.", infer_scatter, lower_scatter},
    {"scatter_min(x, axis: axis, indices, source)", "", "The smallest of them.", infer_scatter, lower_scatter},
    {"index_add(x, axis: axis, indices, source)", "", "x with slices of source added: the k-th where indices[k] says along an axis.", infer_scatter, lower_scatter},
    {"one_hot(indices, classes: dim, dtype: dtype = i64)", "", "A new last axis with a 1 at each index.",
     infer_one_hot, lower_one_hot},
    {"triu(x, k: int = 0)", "", "Zero below the k-th diagonal.", infer_triangle, lower_triangle},
    {"tril(x, k: int = 0)", "", "Zero above the k-th diagonal.", infer_triangle, lower_triangle},
    {"diag(x)", "", "The square matrix with x on its diagonal.", infer_diag, lower_diag},
    {"diagonal(x)", "", "The diagonal of the last two axes.", infer_diagonal, lower_diagonal},
    {"sort(x, axis: axis = -1, descending: bool = false)", "", "Sorted values; stable.", infer_sort,
     lower_sort},
    {"argsort(x, axis: axis = -1, descending: bool = false)", "", "The indices that sort; as an output equal elements may be in any order.", infer_sort,
     lower_sort},
    {"topk(x, k: dim, axis: axis = -1, largest: bool = true)", "",
     "The k largest (or smallest) in order: values, indices = topk(x, 8); of equal ones as an output any.", infer_topk, lower_topk,
     Prim::kInput, two_results},
};

}  // namespace

Family index_family() { return {"Selection and sorting", kIndexOps}; }

}  // namespace hone::task
