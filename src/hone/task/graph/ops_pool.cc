// Pooling over the last 1, 2 or 3 dimensions. Padding is -inf for the maximum and 0 for sums.
#include <fmt/format.h>

#include <limits>

#include "hone/task/graph/infer.h"
#include "hone/task/graph/lower.h"
#include "hone/task/graph/windows.h"

namespace hone::task {
namespace {

Result<TensorType> infer_pool(Call& call) {
  const int rank = spatial_rank(call);
  if (call.rank(0) < rank + 1)
    return wrong(fmt::format("{} takes [..., C, {}], found {}", call.op.name,
                             rank == 1   ? "L"
                             : rank == 2 ? "H, W"
                                         : "D, H, W",
                             call.type(0).to_string()));
  const bool largest = call.has("dilation");
  if (!largest && !is_float(call.type(0).dtype))
    return wrong(fmt::format("{} needs a float type, found {}", call.op.name, call.type(0).to_string()));
  if (largest && call.type(0).dtype == DType::kBool)
    return wrong(fmt::format("{} does not take bool", call.op.name), "cast first: i32(x) or f32(x)");
  HONE_TRY_VOID(settle_window(call, "kernel", rank, 1));
  if (!call.has("stride")) call.attrs["stride"] = call.attr<Ints>("kernel");
  HONE_TRY_VOID(settle_window(call, "stride", rank, 1));
  HONE_TRY_VOID(settle_window(call, "padding", rank, 0));
  if (largest) HONE_TRY_VOID(settle_window(call, "dilation", rank, 1));
  TensorType type = call.type(0);
  for (size_t i = 0; i < static_cast<size_t>(rank); ++i) {
    const int64_t kernel = call.attr<Ints>("kernel")[i];
    const int64_t stride = call.attr<Ints>("stride")[i];
    const int64_t padding = call.attr<Ints>("padding")[i];
    const int64_t dilation = largest ? call.attr<Ints>("dilation")[i] : 1;
    if (2 * padding > kernel)
      return wrong(
          fmt::format("padding {} of {} is more than half the kernel {}", padding, call.op.name, kernel));
    IntExpr& extent = type.dims[type.dims.size() - static_cast<size_t>(rank) + i];
    if (call.attr<bool>("ceil_mode")) {
      // The last window may be cut short, but has to begin inside x or its left padding.
      const IntExpr begins = IntExpr::ceil_div(extent + padding, stride);
      const IntExpr windows = IntExpr::ceil_div(extent + 2 * padding - dilation * (kernel - 1) - 1, stride) +
                              1;
      extent = windows == begins ? begins : IntExpr::min(windows, begins);
    } else {
      extent = window_count(extent, kernel, padding, padding, stride, dilation);
    }
    HONE_TRY_VOID(check_count(extent, call.op.name, i));
  }
  return type;
}

Ref pool(Prim prim, const LowerCall& c, Ref x, Dims dims, const Ints& padding, const Ints& dilation) {
  const Ints& stride = c.attr<Ints>("stride");
  Ints high = padding;
  if (c.attr<bool>("ceil_mode"))
    for (size_t i = 0; i < high.size(); ++i) high[i] += stride[i] - 1;
  const Attrs attrs{{"kernel", c.attr<Ints>("kernel")},
                    {"stride", stride},
                    {"padding_low", padding},
                    {"padding_high", high},
                    {"dilation", dilation}};
  return x.lower().add(prim, std::vector{x}, attrs, {x.dtype(), std::move(dims)});
}

Ref lower_max_pool(const LowerCall& c) {
  return pool(Prim::kPoolMax, c, c.in[0], c.node.type.dims, c.attr<Ints>("padding"),
              c.attr<Ints>("dilation"));
}

/// The number of elements each window counts, where that varies: the sum over ones.
Ref window_sizes(const LowerCall& c, Ref x, const Ints& ones) {
  const size_t rank = ones.size();
  const Ints& padding = c.attr<Ints>("padding");
  Dims extents(x.dims().size(), IntExpr(1));
  Dims result = extents;
  Dims around(x.dims().size(), IntExpr(0));
  for (size_t i = extents.size() - rank; i < extents.size(); ++i) {
    extents[i] = x.dims()[i];
    result[i] = c.node.type.dims[i];
    around[i] = padding[i + rank - extents.size()];
  }
  const Ref one = broadcast_to(like(x, 1), extents);
  if (!c.attr<bool>("count_include_pad")) return pool(Prim::kPoolSum, c, one, result, padding, ones);
  return pool(Prim::kPoolSum, c, pad(one, around, around, 1), result, Ints(rank, 0), ones);
}

Ref lower_avg_pool(const LowerCall& c) {
  const Ref x = c.wide();
  const Ints& kernel = c.attr<Ints>("kernel");
  const Ints& padding = c.attr<Ints>("padding");
  const Ints ones(kernel.size(), 1);
  const Ref total = pool(Prim::kPoolSum, c, x, c.node.type.dims, padding, ones);
  const bool padded = padding != Ints(padding.size(), 0);
  if (c.attr<bool>("ceil_mode") || (padded && !c.attr<bool>("count_include_pad")))
    return total / window_sizes(c, x, ones);
  double size = 1;
  for (const int64_t k : kernel) size *= static_cast<double>(k);
  return total / size;
}

/// Each result element pools a block of its own; where the extent is no multiple of the result's, blocks overlap by an element.
Result<TensorType> infer_adaptive(Call& call) {
  const int rank = spatial_rank(call);
  if (call.rank(0) < rank + 1)
    return wrong(fmt::format("{} takes [..., C, {}], found {}", call.op.name,
                             rank == 1   ? "L"
                             : rank == 2 ? "H, W"
                                         : "D, H, W",
                             call.type(0).to_string()));
  const bool average = call.op.name.find("avg") != std::string::npos;
  if (!average && call.type(0).dtype == DType::kBool)
    return wrong(fmt::format("{} does not take bool", call.op.name), "cast first: i32(x) or f32(x)");
  HONE_TRY_VOID(settle_window(call, "output_size", rank, 1));
  TensorType type = call.type(0);
  if (average) type.dtype = float_dtype(call.operands[0]);
  for (size_t i = 0; i < static_cast<size_t>(rank); ++i) {
    type.dims[type.dims.size() - static_cast<size_t>(rank) + i] = call.attr<Ints>("output_size")[i];
  }
  return type;
}

/// The blocks of one axis, of several sizes: block i goes from i * extent / size, rounded down, to (i + 1) * extent / size, rounded
/// up. `counts` is multiplied by how many elements each has.
Ref uneven_blocks(Ref x, size_t axis, int64_t size, bool average, Ref& counts) {
  Lower& lower = x.lower();
  const IntExpr longest = IntExpr::floor_div(x.dims()[axis] + (2 * size - 2), size);
  const Ref extent = lower.symbol(x.dims()[axis], DType::kI64), one = lower.integer(1), blocks = lower.integer(size);
  const auto edge = [&](Ref i, Ref more) { return binary(Prim::kFloorDiv, i * extent + more, blocks); };
  const Dims places{size, longest};
  const Ref i = iota(lower, {size, 1}, 0), begin = edge(i, lower.integer(0)), end = edge(i + one, lower.integer(size - 1));
  const Ref at = begin + iota(lower, places, 1);
  Ref y = gather(x, minimum(at, end - one), static_cast<int64_t>(axis));
  const Ints axes{static_cast<int64_t>(axis) + 1};
  const auto among = [&](Ref of) {
    Dims dims(y.dims().size(), IntExpr(1));
    for (size_t d = 0; d < 2; ++d) dims[axis + d] = of.dims()[d];
    return reshape(of, std::move(dims));
  };
  if (average) y = where(among(lt(at, end)), y, like(y, 0));
  Dims dims = x.dims();
  dims[axis] = size;
  Dims line(dims.size(), IntExpr(1));
  line[axis] = size;
  if (average) counts = counts * reshape(cast(end - begin, y.dtype()), std::move(line));
  return reshape(average ? sum(y, axes) : amax(y, axes), std::move(dims));
}

Ref lower_adaptive(const LowerCall& c) {
  const Ints& sizes = c.attr<Ints>("output_size");
  Ref x = c.wide();
  const bool average = c.op.name.find("avg") != std::string::npos;
  const size_t first = x.dims().size() - sizes.size();
  const auto even = [&](size_t i) { return IntExpr::divide_exactly(x.dims()[first + i], sizes[i]).has_value(); };
  bool all = true;
  for (size_t i = 0; i < sizes.size(); ++i) all = all && even(i);
  if (!all) {
    Ref counts = like(x, 1);
    for (size_t i = 0; i < sizes.size(); ++i) x = uneven_blocks(x, first + i, sizes[i], average, counts);
    return average ? x / counts : x;
  }
  const size_t plain = x.dims().size() - sizes.size();
  Dims blocks(x.dims().begin(), x.dims().begin() + static_cast<std::ptrdiff_t>(plain));
  Ints axes;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const IntExpr block = *IntExpr::divide_exactly(x.dims()[plain + i], sizes[i]);
    if (sizes[i] != 1) blocks.emplace_back(sizes[i]);
    axes.push_back(static_cast<int64_t>(blocks.size()));
    blocks.push_back(block);
  }
  const Ref y = reshape(x, std::move(blocks));
  return average ? mean(y, axes) : amax(y, axes);
}

#define HONE_MAX_POOL_PARAMS \
  "(x, kernel: ints, stride: ints = none, padding: ints = 0, dilation: ints = 1, ceil_mode: bool = false)"
#define HONE_AVG_POOL_PARAMS                                                                               \
  "(x, kernel: ints, stride: ints = none, padding: ints = 0, ceil_mode: bool = false, count_include_pad: " \
  "bool = true)"

const OpRow kPoolOps[] = {
    {"max_pool1d" HONE_MAX_POOL_PARAMS, "",
     "Largest element of each window over the last dimension; stride is the kernel by default.", infer_pool,
     lower_max_pool},
    {"max_pool2d" HONE_MAX_POOL_PARAMS, "",
     "Largest element of each window over the last two dimensions; stride is the kernel by default.",
     infer_pool, lower_max_pool},
    {"max_pool3d" HONE_MAX_POOL_PARAMS, "",
     "Largest element of each window over the last three dimensions; stride is the kernel by default.",
     infer_pool, lower_max_pool},
    {"avg_pool1d" HONE_AVG_POOL_PARAMS, "",
     "Mean of each window over the last dimension; stride is the kernel by default.", infer_pool,
     lower_avg_pool},
    {"avg_pool2d" HONE_AVG_POOL_PARAMS, "",
     "Mean of each window over the last two dimensions; stride is the kernel by default.", infer_pool,
     lower_avg_pool},
    {"avg_pool3d" HONE_AVG_POOL_PARAMS, "",
     "Mean of each window over the last three dimensions; stride is the kernel by default.", infer_pool,
     lower_avg_pool},
    {"adaptive_avg_pool1d(x, output_size: ints)", "", "Mean of each of so many blocks of the last dimension.",
     infer_adaptive, lower_adaptive},
    {"adaptive_avg_pool2d(x, output_size: ints)", "", "Mean of each of so many blocks of the last two dimensions.",
     infer_adaptive, lower_adaptive},
    {"adaptive_avg_pool3d(x, output_size: ints)", "", "Mean of each of so many blocks of the last three dimensions.",
     infer_adaptive, lower_adaptive},
    {"adaptive_max_pool1d(x, output_size: ints)", "",
     "Largest element of each of so many blocks of the last dimension.", infer_adaptive, lower_adaptive},
    {"adaptive_max_pool2d(x, output_size: ints)", "",
     "Largest element of each of so many blocks of the last two dimensions.", infer_adaptive, lower_adaptive},
    {"adaptive_max_pool3d(x, output_size: ints)", "",
     "Largest element of each of so many blocks of the last three dimensions.", infer_adaptive, lower_adaptive},
};

}  // namespace

Family pool_family() { return {"Pooling", kPoolOps}; }

}  // namespace hone::task
