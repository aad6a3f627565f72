// Pieces on channels: values [N, C, …] with the features on axis 1 and one to three spatial axes behind it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "hone/task/drawn/pieces.h"

namespace hone::task::drawn {
namespace {

using fmt::format;

size_t spatial(const Value& x) { return x.rank() - 2; }

/// [C, 1, 1] for two spatial axes: what broadcasts over a channel.
Extents per_channel(const Value& x) {
  Extents dims{x.dims[1]};
  for (size_t i = 0; i < spatial(x); ++i) dims.emplace_back("1");
  return dims;
}

/// A number for all spatial axes, written once where they are alike.
std::string window_text(const Window& w) {
  std::string text;
  if (w.stride != 1) text += format(", stride={}", w.stride);
  if (w.padding != 0) text += format(", padding={}", w.padding);
  if (w.dilation != 1) text += format(", dilation={}", w.dilation);
  return text;
}

/// A linear step, as far as it is told.
Value like(Sketch& s, const Value& x, std::string expression, int spread) {
  Value y = s.let("h", std::move(expression), x.dims, x.dtype);
  y.spread = spread;
  y.curved = x.curved;
  y.product = x.product;
  return y;
}

/// By statistics of its own.
Value curved_like(Sketch& s, const Value& x, std::string expression) {
  Value y = like(s, x, std::move(expression), 0);
  y.curved = true;
  y.product = false;
  y.centred = true;
  return y;
}

}  // namespace

Value image(Sketch& s, const std::string& channels, int axes, int64_t least) {
  Extents dims{s.extent("N", "batch"), channels};
  if (axes == 1) dims.push_back(s.extent("L", "signal", least));
  if (axes == 3) dims.push_back(s.extent("T", "frames", least));
  if (axes >= 2) {
    dims.push_back(s.extent("H", "side", least));
    // Squares are usual, and so are pictures that are no squares.
    dims.push_back(s.chance(50) ? dims.back() : s.extent("W", "side", least));
  }
  return s.input("x", dims);
}

Value channels_around(Sketch& s, const Value& x) {
  const int64_t kind = s.below(5);
  if (kind == 0) return like(s, x, format("{} + {}", x.name, s.input("b", per_channel(x)).name), x.spread);
  if (kind == 1) return like(s, x, format("{} * {}", x.name, s.input("gain", per_channel(x), "", "near_one").name), x.spread);
  if (kind == 2) {
    s.hint("residual");
    return add(s, x, s.input("skip", x.dims));
  }
  if (kind == 3) {
    const Value shift = s.input("shift", {x.dims[0], x.dims[1]});
    std::string ones;
    for (size_t i = 0; i < spatial(x); ++i) ones += ", 1";
    s.hint("shift");
    return like(s, x, format("{} + {}.reshape({}, {}{})", x.name, shift.name, x.dims[0], x.dims[1], ones), x.spread);
  }
  if (x.bounded) return like(s, x, format("{} * {}", x.name, s.input("gain", per_channel(x), "", "near_one").name), x.spread);
  const int64_t bound = int64_t{1} << std::min(x.spread + 1, 12);
  Value y = like(s, x, format("clamp({}, min={}, max={})", x.name, x.positive ? 0.125 : -static_cast<double>(bound), bound), x.spread);
  y.positive = x.positive;
  return y;
}

Value norm_channels(Sketch& s, const Value& x) {
  std::string kind = s.pick("norm_channels");
  const std::string& c = x.dims[1];
  const auto gain = [&] { return s.input("w", {c}, "", "near_one"); };
  if (kind == "batch") {
    s.hint("batchnorm");
    const Value w = gain(), b = s.input("b", {c}), mean = s.input("mean", {c}), var = s.input("var", {c}, "", "positive");
    return like(s, x, format("batch_norm({}, {}, {}, {}, {})", x.name, w.name, b.name, mean.name, var.name), x.spread);
  }
  if (kind == "batch_statistics") {
    s.hint("batchnorm");
    const Value w = gain(), b = s.input("b", {c});
    return curved_like(s, x, format("batch_norm({}, {}, {})", x.name, w.name, b.name));
  }
  if (kind == "instance") {
    s.hint("instancenorm");
    if (s.chance(50)) return curved_like(s, x, format("instance_norm({})", x.name));
    const Value w = gain(), b = s.input("b", {c});
    return curved_like(s, x, format("instance_norm({}, {}, {})", x.name, w.name, b.name));
  }
  if (kind == "group") {
    s.hint("groupnorm");
    // Channels are groups times some number where their extent says so, else one group for all of them.
    const size_t star = c.find('*');
    const std::string groups = star == std::string::npos || c.find(' ') != std::string::npos ? "1" : c.substr(0, star);
    const Value w = gain(), b = s.input("b", {c});
    return curved_like(s, x, format("group_norm({}, {}, {}, {})", x.name, groups, w.name, b.name));
  }
  s.hint("layernorm");
  const Value w = gain(), b = s.input("b", {c});
  std::string last;
  for (size_t i = 0; i < spatial(x); ++i) last += format("{}, ", i + 2);
  std::string first;
  for (size_t i = 0; i < spatial(x); ++i) first += format(", {}", i + 1);
  Extents moved{x.dims[0]};
  moved.insert(moved.end(), x.dims.begin() + 2, x.dims.end());
  moved.push_back(c);
  const bool permuted = s.chance(60);
  const Value t = s.let("t", permuted ? format("permute({}, [0, {}1])", x.name, last) : format("movedim({}, 1, -1)", x.name), moved, x.dtype);
  const Value n = s.let("t", format("layer_norm({}, {}, {})", t.name, w.name, b.name), moved, x.dtype);
  return curved_like(s, x, permuted ? format("permute({}, [0, {}{}])", n.name, x.rank() - 1, first) : format("movedim({}, -1, 1)", n.name));
}

std::string window_extent(const std::string& in, const Window& w) {
  const int64_t more = 2 * w.padding - w.dilation * (w.kernel - 1);
  if (w.stride == 1) return plus(in, more);
  const std::string inside = plus(in, more - 1);
  return format("{}//{} + 1", inside == in ? in : "(" + inside + ")", w.stride);
}

Window same_window(Sketch& s) {
  Window w;
  w.kernel = s.one_of({1, 3, 3, 3, 3, 5, 7});
  if (w.kernel == 3) w.dilation = s.one_of({1, 1, 1, 2});
  w.padding = w.dilation * (w.kernel - 1) / 2;
  return w;
}

Value convolution(Sketch& s, const Value& given, const std::string& out, const Window& w, const std::string& groups, int bias_percent) {
  const Value x = calm(s, given.product && w.kernel == 1 ? curved(s, given) : given, true);
  const bool bias = s.chance(bias_percent);
  const std::string axes = std::to_string(spatial(x));
  Extents weight{out};
  const std::string& in = x.dims[1];
  // Channels of a group: 1 where each channel is its own, else what is left of "G*C".
  if (groups.empty()) weight.push_back(in);
  else weight.push_back(groups == in ? "1" : in.substr(in.find('*') + 1));
  for (size_t i = 0; i < spatial(x); ++i) weight.push_back(std::to_string(w.kernel));
  const Value k = s.input("w", weight, x.dtype);
  Extents dims{x.dims[0], out};
  for (size_t i = 2; i < x.rank(); ++i) dims.push_back(window_extent(x.dims[i], w));
  std::string e = format("conv{}d({}, {}", axes, x.name, k.name);
  if (bias) e += ", " + s.input("b", {out}, x.dtype).name;
  e += window_text(w);
  if (!groups.empty()) e += ", groups=" + groups;
  Extents factors = dims;
  factors.insert(factors.end(), weight.begin() + 1, weight.end());
  s.work(factors, x.dtype != "f32");
  s.hint(groups == in ? "depthwise" : format("conv{}d", axes));
  Value y = s.let("h", e + ")", dims, x.dtype);
  y.spread = x.spread + (groups == in ? 1 : 4);
  y.product = groups != in;
  return y;
}

Value transposed_convolution(Sketch& s, const Value& given, const std::string& out, int bias_percent) {
  const Value x = calm(s, given, true);
  const bool bias = s.chance(bias_percent);
  struct Form {
    int64_t kernel, stride, padding, output_padding, dilation;
  };
  constexpr Form kForms[] = {{4, 2, 1, 0, 1}, {2, 2, 0, 0, 1}, {3, 2, 1, 1, 1}, {3, 1, 1, 0, 1}, {5, 3, 1, 0, 1}, {3, 2, 2, 1, 2}};
  const Form& kind = kForms[s.below(6)];
  const std::string axes = std::to_string(spatial(x));
  Extents weight{x.dims[1], out};
  for (size_t i = 0; i < spatial(x); ++i) weight.push_back(std::to_string(kind.kernel));
  const Value k = s.input("w", weight, x.dtype);
  Extents dims{x.dims[0], out};
  const int64_t more = kind.dilation * (kind.kernel - 1) + 1 + kind.output_padding - 2 * kind.padding - kind.stride;
  for (size_t i = 2; i < x.rank(); ++i) dims.push_back(plus(product_text({std::to_string(kind.stride), x.dims[i]}), more));
  std::string e = format("conv_transpose{}d({}, {}", axes, x.name, k.name);
  if (bias) e += ", " + s.input("b", {out}, x.dtype).name;
  if (kind.stride != 1) e += format(", stride={}", kind.stride);
  if (kind.padding != 0) e += format(", padding={}", kind.padding);
  if (kind.output_padding != 0) e += format(", output_padding={}", kind.output_padding);
  if (kind.dilation != 1) e += format(", dilation={}", kind.dilation);
  Extents factors = x.dims;
  factors.insert(factors.end(), weight.begin() + 1, weight.end());
  s.work(factors, x.dtype != "f32");
  s.hint("convtranspose" + axes + "d");
  Value y = s.let("h", e + ")", dims, x.dtype);
  y.spread = x.spread + 4;
  return y;
}

Value pooled(Sketch& s, const Value& x, bool half_extent) {
  const std::string axes = std::to_string(spatial(x));
  const bool largest = s.chance(55);
  Window w{3, half_extent ? 2 : 1, 1, 1};
  if (half_extent && s.chance(50)) w = {2, 2, 0, 1};
  const bool ceil = half_extent && s.chance(15);
  Extents dims{x.dims[0], x.dims[1]};
  for (size_t i = 2; i < x.rank(); ++i) dims.push_back(window_extent(ceil ? plus(x.dims[i], 1) : x.dims[i], w));
  s.hint(largest ? "maxpool" : "avgpool");
  std::string e = format("{}_pool{}d({}, {}, stride={}", largest ? "max" : "avg", axes, x.name, w.kernel, w.stride);
  if (w.padding != 0) e += format(", padding={}", w.padding);
  if (ceil) e += ", ceil_mode=true";
  if (!largest && w.padding != 0 && s.chance(30)) e += ", count_include_pad=false";
  Value y = s.let("h", e + ")", dims, x.dtype);
  y.spread = x.spread;
  y.positive = x.positive;
  y.bounded = x.bounded;
  y.curved = x.curved || largest;
  return y;
}

Value global_pool(Sketch& s, const Value& given) {
  const Value x = curved(s, given);
  std::string all;
  for (size_t i = 2; i < x.rank(); ++i) all += (i == 2 ? "" : ", ") + std::to_string(i);
  if (x.rank() > 3) all = "[" + all + "]";
  const int64_t kind = s.below(4);
  s.hint("globalpool");
  Value y;
  if (kind == 0) y = s.let("h", format("mean({}, axis={})", x.name, all), {x.dims[0], x.dims[1]}, x.dtype);
  if (kind == 1) y = s.let("h", format("max({}, axis={})", x.name, all), {x.dims[0], x.dims[1]}, x.dtype);
  if (kind >= 2) {
    const char* name = kind == 2 ? "avg" : "max";
    const std::string pool = format("adaptive_{}_pool{}d({}, 1)", name, spatial(x), x.name);
    y = s.let("h", s.chance(50) ? format("flatten({}, 1)", pool) : format("{}.reshape({}, {})", pool, x.dims[0], x.dims[1]), {x.dims[0], x.dims[1]}, x.dtype);
  }
  y.spread = x.spread;
  y.positive = x.positive;
  return y;
}

}  // namespace hone::task::drawn
