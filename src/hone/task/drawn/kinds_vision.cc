// Convolutional nets, diffusion blocks, decoders, video, patches.
#include <fmt/format.h>

#include "hone/task/drawn/kinds.h"
#include "hone/task/drawn/pieces.h"

namespace hone::task::drawn {
namespace {

using fmt::format;

/// "C", or "G*C" where groups of channels matter.
std::string channel_extent(Sketch& s, int grouped_percent) {
  if (!s.chance(grouped_percent)) return s.extent("C", "channels");
  const std::string groups = s.extent("G", "several");
  return groups + "*" + s.extent("C", "group");
}

/// Convolution, norm and activation in one of the orders that nets have.
Value unit(Sketch& s, Value x, const std::string& out, const Window& w, const std::string& groups) {
  const bool before = s.chance(25);
  if (before) {
    x = norm_channels(s, x);
    x = activation(s, x);
    return convolution(s, x, out, w, groups, 40);
  }
  // A bias before a norm over the same channel would vanish in it.
  const bool norm = s.chance(70);
  const bool bias = !norm;
  x = convolution(s, x, out, w, groups, bias ? 60 : 0);
  if (norm) x = norm_channels(s, x);
  return activation(s, x);
}

void conv_block(Sketch& s) {
  const bool stem = s.chance(20);
  const std::string channels = stem ? "3" : channel_extent(s, 40), out = channel_extent(s, 50);
  const Value x = image(s, channels, 2, 9);
  Window w = stem ? Window{7, 2, 3, 1} : same_window(s);
  if (!stem && w.kernel > 1 && s.chance(25)) w.stride = 2;
  Value h = unit(s, x, out, w, "");
  if (s.chance(25)) h = pooled(s, h, true);
  if (s.chance(68)) {
    const bool same = w.stride == 1 && !stem && s.chance(50) && h.dims[2] == x.dims[2];
    Window again = same_window(s);
    h = unit(s, h, same ? channels : channel_extent(s, 30), again, "");
    if (same) {
      s.hint("residual");
      h = add(s, h, x);
      if (s.chance(50)) h = activation(s, h, "relu");
    }
  }
  if (s.chance(35)) h = channels_around(s, h);
  if (s.chance(25)) {
    h = global_pool(s, h);
    if (s.chance(60)) h = product(s, h, s.extent("K", "classes"), 70);
    return finish(s, h);
  }
  finish_channels(s, h);
}

/// Gates from a global mean, two small products (squeeze and excite).
Value squeezed(Sketch& s, const Value& x) {
  s.hint("squeezeexcite");
  const Value mean = s.let("g", format("mean({}, axis=[2, 3])", x.name), {x.dims[0], x.dims[1]});
  const std::string thin = s.extent("R", "several");
  Value h = product(s, mean, thin, 50);
  h = activation(s, h, s.chance(50) ? "relu" : "silu");
  h = product(s, h, x.dims[1], 50);
  h = activation(s, h, s.chance(50) ? "sigmoid" : "hardsigmoid");
  Value y = s.let("h", format("{} * {}.reshape({}, {}, 1, 1)", x.name, h.name, x.dims[0], x.dims[1]), x.dims);
  y.spread = x.spread;
  return y;
}

void separable(Sketch& s) {
  const std::string in = s.extent("C", "channels"), wide = s.extent("E", "channels");
  const Value x = image(s, in, 2, 9);
  Value h = x;
  const bool expand = s.chance(60);
  if (expand) h = unit(s, h, wide, {1, 1, 0, 1}, "");
  const std::string middle = h.dims[1];
  Window w = same_window(s);
  if (w.kernel == 1) w = {3, 1, 1, 1};
  if (s.chance(25)) w.stride = 2;
  h = convolution(s, h, middle, w, middle, 0);
  h = activation(s, norm_channels(s, h));
  if (s.chance(35)) h = squeezed(s, h);
  const bool back = w.stride == 1 && s.chance(60);
  h = convolution(s, h, back ? in : s.extent("O", "channels"), {1, 1, 0, 1}, "", 40);
  if (s.chance(50)) h = norm_channels(s, h);
  if (back && h.dims == x.dims) {
    s.hint("residual");
    h = add(s, h, x);
  }
  finish_channels(s, h);
}

void upsample(Sketch& s) {
  const int axes = s.chance(85) ? 2 : 1;
  const std::string in = channel_extent(s, 30), out = channel_extent(s, 40);
  Value x = image(s, in, axes, 5);
  if (s.chance(40)) x = activation(s, norm_channels(s, x));
  Value h;
  if (s.chance(75)) {
    h = transposed_convolution(s, x, out, 40);
  } else {
    // Nearest neighbours, then an ordinary convolution.
    s.hint("nearest");
    Extents dims = x.dims;
    std::string e = x.name;
    for (int i = 0; i < axes; ++i) {
      dims[static_cast<size_t>(i) + 2] = "2*" + dims[static_cast<size_t>(i) + 2];
      e = format("repeat_interleave({}, 2, axis={})", e, i + 2);
    }
    const Value big = s.let("up", e, dims);
    h = convolution(s, big, out, {3, 1, 1, 1}, "", 40);
  }
  if (s.chance(60)) h = norm_channels(s, h);
  h = activation(s, h);
  if (s.chance(45)) {
    s.hint("concat");
    const std::string more = s.extent("K", "channels");
    Extents dims = h.dims;
    dims[1] = more;
    const Value skip = s.input("skip", dims);
    dims[1] = format("{} + {}", out, more);
    Value both = s.let("both", format("concat([{}, {}], axis=1)", calm(s, h, true).name, skip.name), dims);
    h = both;
  } else if (s.chance(40)) {
    s.hint("skip");
    h = add(s, h, s.input("skip", h.dims));
  }
  if (s.chance(65)) h = activation(s, convolution(s, h, s.extent("O", "channels"), {3, 1, 1, 1}, "", 50));
  finish_channels(s, h);
}

void video(Sketch& s) {
  const std::string in = channel_extent(s, 30), out = channel_extent(s, 40);
  const int64_t kind = s.below(10);
  Value x = image(s, in, 3, kind < 3 ? 3 : 6);
  if (s.chance(30)) x = activation(s, norm_channels(s, x));
  Value h;
  if (kind < 3) h = transposed_convolution(s, x, out, 40);
  else if (kind < 4) h = convolution(s, x, in, {3, 1, 1, 1}, in, 0);
  else h = convolution(s, x, out, {3, s.one_of({1, 1, 2}), 1, 1}, "", 20);
  if (s.chance(60)) h = norm_channels(s, h);
  h = activation(s, h);
  if (s.chance(45)) h = pooled(s, h, true);
  if (s.chance(40)) {
    const int64_t kernel = s.one_of({1, 3});
    h = activation(s, convolution(s, h, s.extent("O", "channels"), {kernel, 1, kernel / 2, 1}, "", 50));
  }
  if (s.chance(30)) {
    h = global_pool(s, h);
    if (s.chance(70)) h = product(s, h, s.extent("K", "classes"), 60);
    return finish(s, h);
  }
  if (s.chance(30)) h = channels_around(s, h);
  finish_channels(s, h);
}

void diffusion(Sketch& s) {
  if (s.chance(55)) {
    // A residual block of a U-Net: norm, SiLU, convolution, the step's embedding, once more.
    const std::string groups = s.extent("G", "several"), c = groups + "*" + s.extent("C", "group");
    const Value x = image(s, c, 2, 5);
    const auto normed = [&](const Value& v) {
      s.hint("groupnorm");
      const Value w = s.input("w", {c}, "", "near_one"), b = s.input("b", {c});
      return activation(s, s.let("h", format("group_norm({}, {}, {}, {})", v.name, groups, w.name, b.name), v.dims), "silu");
    };
    Value h = convolution(s, normed(x), c, {3, 1, 1, 1}, "", 100);
    s.hint("embedding");
    Value t = s.input("t", {x.dims[0], s.extent("D", "width")});
    t = product(s, activation(s, t, "silu"), c, 50);
    Value shifted = s.let("h", format("{} + {}[:, :, None, None]", h.name, t.name), h.dims);
    shifted.spread = 5;
    h = normed(shifted);
    if (s.chance(60)) h = convolution(s, h, c, {3, 1, 1, 1}, "", 60);
    if (s.chance(70)) h = add(s, h, x);
    return finish_channels(s, h);
  }
  // A transformer's block that the step modulates (adaLN).
  const std::string width = s.extent("D", "width");
  const Value x = tokens(s, width);
  const Value c = s.input("c", {x.dims[0], width});
  s.hint("adaln");
  const Value six = product(s, activation(s, c, "silu"), product_text({"3", width}), 60);
  const Extents each{x.dims[0], width};
  const auto parts = s.let_all({"shift", "scale", "gate"}, format("chunk({} * 0.0625, 3, axis=-1)", six.name), each);
  Value n = s.let("n", format("layer_norm({}, axis=-1) * (1.0 + {}.unsqueeze(1)) + {}.unsqueeze(1)", x.name, parts[1].name, parts[0].name), x.dims);
  n.spread = 1;
  Value h = product(s, n, s.chance(50) ? width : s.extent("F", "inner"), 40);
  h = activation(s, h, s.chance(60) ? "gelu_tanh" : "silu");
  if (h.last() != width) h = product(s, h, width, 40);
  Value y = s.let("h", format("{} + {}.unsqueeze(1) * {}", x.name, parts[2].name, h.name), x.dims);
  y.spread = h.spread;
  finish(s, y);
}

void patches(Sketch& s) {
  const std::string rows_of = s.extent("H", "several", 2);
  const std::string columns = s.chance(60) ? rows_of : s.extent("W", "several", 2);
  const std::string width = s.extent("D", "width");
  const int64_t size = s.one_of({4, 8, 14, 16});
  const std::string n = s.extent("N", "batch"), p = std::to_string(size);
  const Value x = s.input("x", {n, "3", product_text({p, rows_of}), product_text({p, columns})});
  const std::string count = rows_of == columns ? rows_of + "*" + rows_of : rows_of + "*" + columns;
  const Value w = s.input("w", {width, "3", p, p});
  s.work({n, count, width, std::to_string(3 * size * size)}, s.half());
  s.hint("patches");
  const Value b = s.input("b", {width});
  const Value grid = s.let("grid", format("conv2d({}, {}, {}, stride={})", x.name, w.name, b.name, size), {n, width, rows_of, columns});
  Value h = s.let("h", format("transpose(flatten({}, 2), 1, 2)", grid.name), {n, count, width});
  h.spread = 4;
  if (s.chance(50)) {
    s.hint("classtoken");
    const Value token = s.input("cls", {"1", "1", width});
    h = s.let("h", format("concat([broadcast_to({}, [{}, 1, {}]), {}], axis=1)", token.name, n, width, h.name), {n, count + " + 1", width});
    h.spread = 4;
  }
  Value sum = s.let("h", format("{} + {}", h.name, s.input("pos", {h.dims[1], width}).name), h.dims);
  sum.spread = 4;
  h = norm_rows(s, sum);
  if (s.chance(75)) h = product(s, h, s.extent("F", "inner"), 50);
  finish(s, activation(s, h));
}

}  // namespace

Kinds vision_kinds() {
  return {{"conv_block", conv_block}, {"separable", separable}, {"upsample", upsample}, {"video", video}, {"diffusion", diffusion}, {"patches", patches}};
}

}  // namespace hone::task::drawn
