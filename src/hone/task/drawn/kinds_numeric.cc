// Quantised products, element-wise chains, statistics, movement of data, masks, Gram matrices and what science computes.
#include <fmt/format.h>

#include <algorithm>

#include "hone/task/drawn/kinds.h"
#include "hone/task/drawn/pieces.h"

namespace hone::task::drawn {
namespace {

using fmt::format;

void quantised(Sketch& s) {
  const std::string m = s.extent("M", "rows"), n = s.extent("N", "inner");
  const int64_t kind = s.below(4);
  const Extents out{m, n};
  s.hint("quantised");
  if (kind <= 1) {
    // 8-bit products with a scale a row and a scale a channel.
    const std::string k = s.extent("K", "width");
    Value q, scale;
    if (kind == 1) {
      const Value x = s.input("x", {m, k});
      scale = s.let("scale", format("maximum(max(abs(f32({})), axis=1, keepdims=true), 1e-6) / 127.0", x.name), {m, "1"}, "f32");
      q = s.let("qx", format("i8(clamp(round(f32({}) / {}), -127.0, 127.0))", x.name, scale.name), {m, k}, "i8");
    } else {
      q = s.input("q", {m, k}, "i8");
      scale = s.input("sx", {m, "1"}, "f32", "positive");
    }
    const Value w = s.input("w", {n, k}, "i8"), sw = s.input("sw", {n}, "f32", "positive");
    s.work({m, n, k}, true);
    s.hint("i8");
    const Value sum = s.let("acc", format("i32({}) @ i32({}).T", q.name, w.name), out, "i32");
    Value y = s.let("h", format("{}(f32({}) * {} * {} * 0.0078125)", s.type(), sum.name, scale.name, sw.name), out);
    y.spread = 5;
    if (s.chance(50)) y = s.let("h", format("{} + {}", y.name, s.input("b", {n}).name), out), y.spread = 5;
    return finish(s, s.chance(60) ? activation(s, y) : y);
  }
  // Weights in 8 bits with a scale for each group of inputs; activations as they are.
  const std::string g = s.extent("G", "several"), e = s.extent("S", "pair"), k = g + "*" + e;
  const Value x = s.input("x", {m, k}), w = s.input("w", {n, k}, "i8"), sw = s.input("sw", {n, g}, "", "positive");
  const Value x2 = s.chance(35) ? norm_rows(s, x) : x;
  s.work({m, n, k}, s.half());
  s.hint("dequantise");
  std::string wide = format("{}({}).reshape({}, {}, {})", s.type(), w.name, n, g, e);
  if (kind == 3) {
    const Value zero = s.input("zero", {n, g}, "i8");
    wide = format("({} - {}({}).unsqueeze(2))", wide, s.type(), zero.name);
  }
  const Value weights = s.let("wide", format("({} * {}.unsqueeze(2) * 0.0625).reshape({}, {})", wide, sw.name, n, k), {n, k});
  Value y = s.let("h", s.chance(50) ? format("{} @ {}.T", x2.name, weights.name) : format("linear({}, {})", x2.name, weights.name), out);
  y.spread = 4;
  finish(s, some_around(s, activation(s, y), 1));
}

void elementwise(Sketch& s) {
  const std::string width = s.extent("D", "inner");
  const Value x = rows(s, width);
  const int64_t kind = s.below(6);
  Value h = x;
  if (kind == 0) {
    // A step of an optimiser: moments, the update.
    s.hint("optimiser");
    const Value grad = s.input("grad", x.dims), m = s.input("m", x.dims, "f32"), v = s.input("v", x.dims, "f32", "positive");
    const Value m2 = s.let("m2", format("lerp({}, f32({}), 0.1)", m.name, grad.name), x.dims, "f32");
    const Value v2 = s.let("v2", format("0.99 * {} + 0.01 * f32({}) ** 2", v.name, grad.name), x.dims, "f32");
    const Value p = s.let("p", format("{}(f32({}) - 0.01 * ({} / (sqrt({}) + 1e-6) + 0.1 * f32({})))", s.type(), x.name, m2.name, v2.name, x.name), x.dims);
    s.output(p, "p");
    s.output(m2, "m2");
    return s.output(v2, "v2");
  }
  if (kind == 1) {
    h = add(s, x, s.input("r", x.dims));
    const Value sum = h;
    h = norm_rows(s, h);
    s.hint("residual");
    if (s.chance(50)) {
      s.output(activation(s, h, "gelu"));
      return s.output(sum, "sum");
    }
    return finish(s, activation(s, h));
  }
  if (kind == 2) {
    // The backward of an activation.
    s.hint("backward");
    const Value g = s.input("g", x.dims);
    switch (s.below(3)) {
      case 0: {
        const Value t = s.let("t", format("sigmoid({})", x.name), x.dims);
        return finish(s, s.let("h", format("{0} * {1} * (1.0 + {2} * (1.0 - {1}))", g.name, t.name, x.name), x.dims));
      }
      case 1: return finish(s, s.let("h", format("{} * (0.5 * (1.0 + erf({} * 0.7071)) + {} * exp(-0.5 * {} ** 2) * 0.3989)", g.name, x.name, x.name, x.name), x.dims));
      default: {
        const Value t = s.let("t", format("tanh({})", x.name), x.dims);
        return finish(s, s.let("h", format("{} * (1.0 - {} * {})", g.name, t.name, t.name), x.dims));
      }
    }
  }
  const int64_t count = 2 + s.below(3);
  if (s.chance(45)) h = norm_rows(s, h);
  for (int64_t i = 0; i < count; ++i) {
    h = around(s, h);
    if (s.chance(45)) h = activation(s, h);
  }
  if (s.chance(25)) h = norm_rows(s, h);
  finish(s, h);
}

void statistics(Sketch& s) {
  const int64_t kind = s.below(7);
  if (kind <= 1) {
    const std::string out = s.extent("C", "channels");
    Value x = image(s, out, kind == 0 ? 2 : s.one_of({1, 3}), 5);
    x = norm_channels(s, x);
    if (s.chance(60)) x = activation(s, x);
    const bool pool = s.chance(50);
    if (pool) x = pooled(s, x, true);
    return finish_channels(s, x);
  }
  const std::string width = s.extent("D", "inner");
  const Value x = rows(s, width);
  const std::string wide = x.dtype == "f32" ? x.name : format("f32({})", x.name);
  Extents rest = x.dims;
  rest.pop_back();
  const auto ask = [&](const char* name, const std::string& e, const char* dtype) { s.output(s.let(name, e, rest, dtype), name); };
  if (kind == 2) {
    s.hint("moments");
    ask("mean_", format("mean({}, axis=-1)", wide), "f32");
    ask("deviation", format("std({}, axis=-1{})", wide, s.chance(50) ? ", correction=1" : ""), "f32");
    return ask("largest", format("max(abs({}), axis=-1)", x.name), x.dtype.c_str());
  }
  if (kind == 3) {
    s.hint("minmax");
    Extents one = x.dims;
    one.back() = "1";
    const Value low = s.let("low", format("min({}, axis=-1, keepdims=true)", x.name), one), high = s.let("high", format("amax({}, axis=-1, keepdims=true)", x.name), one);
    return s.output(s.let("y", format("({} - {}) / ({} - {} + 0.001)", x.name, low.name, high.name, low.name), x.dims));
  }
  if (kind == 4) {
    s.hint("softmax");
    Value h = s.chance(60) ? around(s, x) : x;
    if (h.name == x.name || s.chance(40)) h = activation(s, h, "tanh");
    return s.output(s.let("y", format("{}({} * 2.0, axis={})", s.one_of({"softmax", "log_softmax", "softmin"}), h.name, x.rank() == 2 ? -1 : 1), x.dims));
  }
  if (kind == 5) {
    // Entropy of what a softmax says.
    s.hint("entropy");
    const Value l = s.let("l", format("log_softmax({}, axis=-1)", wide), x.dims, "f32");
    ask("y", format("-sum(exp({0}) * {0}, axis=-1)", l.name), "f32");
    if (s.chance(50)) ask("sure", format("max({}, axis=-1)", l.name), "f32");
    return;
  }
  s.hint("products");
  const Value p = s.input("scale", x.dims, "f32", "near_one");
  ask("y", format("prod({} * 0.125 + 0.9, axis=-1)", p.name), "f32");
  ask("geometric", format("exp2(mean(log2({} + abs({}) * 0.125), axis=-1))", p.name, wide), "f32");
}

void movement(Sketch& s) {
  const int64_t kind = s.below(8);
  if (kind == 0) {
    // Windows of a picture as a batch of their own (Swin), shifted first.
    s.hint("windows");
    const std::string n = s.extent("N", "batch"), rows_of = s.extent("H", "several"), columns = s.extent("W", "several"), c = s.extent("C", "channels");
    const int64_t size = s.one_of({4, 7, 8});
    const std::string k = std::to_string(size);
    const Value x = s.input("x", {n, k + "*" + rows_of, k + "*" + columns, c});
    const Value shifted = s.let("shifted", format("roll({}, [-{}, -{}], [1, 2])", x.name, size / 2, size / 2), x.dims);
    const std::string count = product_text({n, rows_of, columns}), area = std::to_string(size * size);
    Value h = s.let("h", format("permute({}.reshape({}, {}, {}, {}, {}, {}), [0, 1, 3, 2, 4, 5]).reshape({}, {}, {})", shifted.name, n, rows_of, k, columns, k, c, count, area, c), {count, area, c});
    if (s.chance(60)) h = norm_rows(s, h);
    if (s.chance(60)) h = product(s, h, product_text({"3", c}), 60);
    return finish(s, h);
  }
  if (kind == 1) {
    // Channels to space (pixel shuffle), behind a convolution.
    s.hint("pixelshuffle");
    const std::string c = s.extent("C", "channels"), o = s.extent("O", "group");
    const Value x = image(s, c, 2, 5);
    Value h = convolution(s, x, "4*" + o, {3, 1, 1, 1}, "", 60);
    const std::string &n = h.dims[0], &rows_of = h.dims[2], &columns = h.dims[3];
    const Extents dims{n, o, "2*" + rows_of, "2*" + columns};
    Value y = s.let("h", format("permute({}.reshape({}, {}, 2, 2, {}, {}), [0, 1, 4, 2, 5, 3]).reshape({}, {}, 2*{}, 2*{})", h.name, n, o, rows_of, columns, n, o, rows_of, columns), dims);
    y.spread = h.spread;
    return finish_channels(s, activation(s, y));
  }
  if (kind == 2) {
    // Flipped and padded copies side by side.
    s.hint("augment");
    const Value x = image(s, "3", 2, 9);
    const Value mean = s.input("mean", {"3", "1", "1"}), std = s.input("scale", {"3", "1", "1"}, "", "positive");
    const Value z = s.let("z", format("({} - {}) / ({} + 0.1)", x.name, mean.name, std.name), x.dims);
    const bool both = s.chance(50);
    const Value f = s.let("f", format("flip({}, axis={})", z.name, both ? "[2, 3]" : "3"), x.dims);
    Value h = s.let("h", format("concat([{}, {}], axis=0)", z.name, f.name), {"2*" + x.dims[0], "3", x.dims[2], x.dims[3]});
    if (s.chance(70)) h = convolution(s, h, s.extent("O", "channels"), {3, 2, 1, 1}, "", 60);
    return finish_channels(s, h);
  }
  const std::string width = s.extent("D", "width");
  if (kind == 5 && s.chance(40)) {
    // Tokens sorted by the expert that takes them.
    s.hint("dispatch");
    const std::string rows_of = s.extent("M", "rows", 4);
    const Value x = s.input("x", {rows_of, width}), order = s.input("order", {rows_of}, "i64", format("index({})", rows_of));
    const Value h = s.let("h", format("index_select({}, 0, {})", x.name, order.name), x.dims);
    return finish(s, activation(s, product(s, h, s.extent("F", "inner"), 30)));
  }
  const Value x = tokens(s, width);
  const std::string &b = x.dims[0], &l = x.dims[1];
  if (kind == 3) {
    // Each token beside the one before it (token shift).
    s.hint("tokenshift");
    const Value before = s.let("before", format("pad({}[:, :-1], low=[0, 1, 0], high=[0, 0, 0])", x.name), x.dims);
    const Value mix = s.input("mix", {width}, "", "unit");
    Value h = s.let("h", format("lerp({}, {}, {})", before.name, x.name, mix.name), x.dims);
    h = product(s, h, s.extent("F", "inner"), 10);
    return finish(s, activation(s, h));
  }
  if (kind == 4) {
    // Every second token, and the first one of each sequence.
    s.hint("subsample");
    const Value first = s.let("first", s.chance(50) ? format("select({}, 1, 0)", x.name) : format("{}[:, 0]", x.name), {b, width});
    const Value second = s.let("every", format("slice({}, [0, 0, 0], [{}, {}//2, {}], [1, 2, 1])", x.name, b, l, width), {b, l + "//2", width});
    Value h = s.let("h", format("{} - {}.unsqueeze(1)", second.name, first.name), second.dims);
    // The first token less itself is zero, so a gain and a bias stand behind it.
    h = s.let("h", format("{} + {}", h.name, s.input("pos", {l + "//2", width}).name), h.dims);
    if (s.chance(70)) h = product(s, h, s.extent("O", "width"), 40);
    return finish(s, h);
  }
  if (kind == 5 || kind == 6) {
    // Tokens in another order, given or sorted by a score.
    s.hint("reorder");
    const Value score = s.input("score", {b, l}, "f32");
    const Value order = s.let("order", format("argsort({}, axis=1)", score.name), {b, l}, "i64");
    const Value wide = s.let("wide", format("broadcast_to({}.unsqueeze(2), [{}, {}, {}])", order.name, b, l, width), x.dims, "i64");
    const Value h = s.let("h", s.chance(50) ? format("gather({}, 1, {})", x.name, wide.name) : format("take_along_axis({}, {}, axis=1)", x.name, wide.name), x.dims);
    if (s.chance(70)) return finish(s, activation(s, product(s, h, s.extent("O", "width"), 30)));
    return finish(s, norm_rows(s, h));
  }
  s.hint("tile");
  const Value row = s.input("row", {"1", width});
  const Value many = s.let("many", format("tile({}, [{}, 1])", row.name, l), {l, width});
  Value h = s.let("h", format("stack([{} + {}, {} * {}], axis=2)", x.name, many.name, x.name, many.name), {b, l, "2", width});
  h = s.let("h", format("flatten({}, 2)", h.name), {b, l, "2*" + width});
  if (s.chance(60)) h = product(s, h, width, 30);
  finish(s, h);
}

/// Functions of one element that science uses, with the inputs they are defined on.
void science(Sketch& s) {
  const int64_t draw = s.below(13), kind = draw < 9 ? draw : draw < 11 ? 1 : 8;
  if (kind == 0) {
    // Rotations by angles, polar coordinates.
    s.hint("polar");
    const std::string n = s.extent("M", "rows"), d = s.extent("D", "width");
    const Value x = s.input("x", {n, d}), y = s.input("v", {n, d});
    const Value angle = s.let("angle", format("atan2({}, {})", y.name, x.name), x.dims), radius = s.let("radius", format("sqrt({0} * {0} + {1} * {1} + 0.01)", x.name, y.name), x.dims);
    s.output(s.let("a", format("{} * cos({} + 0.5)", radius.name, angle.name), x.dims), "a");
    return s.output(s.let("b", format("{} * sin({} + 0.5)", radius.name, angle.name), x.dims), "b");
  }
  if (kind == 1) {
    // Distances on a sphere.
    s.hint("sphere");
    const std::string n = s.extent("M", "length", 5), m = s.extent("N", "rows", 5), d = s.extent("D", "width");
    const Value a = s.input("p", {n, d}), b = s.input("q", {m, d});
    const Value u = s.let("u", format("normalize({}, axis=1)", a.name), a.dims), v = s.let("v", format("normalize({}, axis=1)", b.name), b.dims);
    s.work({n, m, d}, s.half());
    const Value c = s.let("c", format("{} @ {}.T * 0.98", u.name, v.name), {n, m});
    return s.output(s.let("y", format("{}({})", s.one_of({"acos", "asin"}), c.name), {n, m}));
  }
  if (kind == 2) {
    // A kernel matrix applied to values (Gaussian process, radial basis functions).
    s.hint("kernelmatrix");
    const std::string n = s.extent("M", "length", 5), m = s.extent("N", "length", 5), d = s.extent("D", "head"), o = s.extent("O", "channels");
    const Value a = s.input("p", {n, d}), b = s.input("q", {m, d}), v = s.input("v", {m, o});
    s.work({n, m, d}, s.half());
    s.work({n, m, o}, s.half());
    const Value dot = s.let("dot", format("{} @ {}.T / 16.0", a.name, b.name), {n, m});
    const Value k = s.let("k", s.chance(50) ? format("exp(tanh({}) - 1.0)", dot.name) : format("cosh(tanh({})) - 0.5", dot.name), {n, m});
    Value y = s.let("h", format("{} @ {}", k.name, v.name), {n, o});
    y.spread = 4;
    return finish(s, y);
  }
  if (kind == 3) {
    // Fourier features of positions, a product, one more layer with a sine.
    s.hint("fourier");
    const std::string n = s.extent("M", "rows"), f = s.extent("F", "width"), o = s.extent("O", "width");
    const Value p = s.input("p", {n, "3"}), w = s.input("w", {"3", f});
    const Value a = s.let("a", format("{} @ {}", p.name, w.name), {n, f});
    const Value e = s.let("e", format("concat([sin({0}), cos({0})], axis=-1)", a.name), {n, "2*" + f});
    Value h = product(s, e, o, 60);
    h = s.let("h", format("sin({} * 0.0625)", h.name), h.dims);
    if (s.chance(60)) h = product(s, h, s.extent("K", "several"), 60);
    return finish(s, h);
  }
  if (kind == 4) {
    // One step of heat on a grid, five points.
    s.hint("stencil");
    const std::string n = s.extent("N", "batch"), a = s.extent("H", "side", 5), b = s.extent("W", "side", 5);
    const Value u = s.input("u", {n, a, b}, "f32"), k = s.input("k", {a, b}, "f32", "positive");
    const Value lap = s.let("lap", format("roll({0}, 1, 1) + roll({0}, -1, 1) + roll({0}, 1, 2) + roll({0}, -1, 2) - 4.0 * {0}", u.name), u.dims, "f32");
    const Value next = s.let("next", format("{} + 0.1 * {} * {}", u.name, k.name, lap.name), u.dims, "f32");
    if (s.chance(50)) return s.output(s.let("inner", format("{}[:, 1:-1, 1:-1]", next.name), {n, plus(a, -2), plus(b, -2)}, "f32"));
    return s.output(next);
  }
  if (kind == 5) {
    // Black and Scholes: the price of options.
    s.hint("options");
    const std::string n = s.extent("M", "rows"), d = s.extent("D", "width");
    const Extents all{n, d};
    const Value price = s.input("price", all, "f32", "positive"), strike = s.input("strike", all, "f32", "near_one"), days = s.input("days", {d}, "f32", "positive");
    const Value root = s.let("root", format("0.3 * sqrt({} + 0.01)", days.name), {d}, "f32");
    const Value d1 = s.let("d1", format("log(({} + 0.01) / (abs({}) + 0.01)) / {} + 0.5 * {}", price.name, strike.name, root.name, root.name), all, "f32");
    return s.output(s.let("y", format("{} * 0.5 * (1.0 + erf({} * 0.7071)) - {} * 0.5 * (1.0 + erf(({} - {}) * 0.7071))", price.name, d1.name, strike.name, d1.name, root.name), all, "f32"));
  }
  if (kind == 6) {
    // Spectrogram to features: power, mel product, logarithm.
    s.hint("mel");
    const std::string n = s.extent("B", "batch"), t = s.extent("T", "length", 4), f = s.extent("F", "classes"), o = s.extent("O", "channels");
    const Value re = s.input("re", {n, t, f}), im = s.input("im", {n, t, f}), mel = s.input("mel", {f, o}, "", "unit");
    s.work({n, t, f, o}, s.half());
    const Value power = s.let("power", format("{0} ** 2 + {1} ** 2", re.name, im.name), re.dims);
    const Value m = s.let("m", format("f32({} @ {})", power.name, mel.name), {n, t, o}, "f32");
    const Value y = s.let("h", format("{}({} + 0.01)", s.one_of({"log", "log2", "log1p"}), m.name), m.dims, "f32");
    return s.output(y);
  }
  if (kind == 8) {
    // Companding and folding of signals.
    s.hint("compand");
    const std::string n = s.extent("B", "batch"), l = s.extent("L", "signal", 9);
    const Value x = s.input("x", {n, l}, "f32");
    Value h = x;
    for (int i = 0; i < 2; ++i) {
      const std::string_view how = s.one_of({"sign({0}) * log1p(255.0 * tanh(abs({0}))) / 5.5", "sign({0}) * expm1(tanh(abs({0}))) * 0.58", "tan(tanh({0}))", "sinh(tanh({0})) + 0.5 * {0}",
                                             "mod({0} * 2.0 + 0.25, 3.0) - 1.5", "{0} - 2.0 * floor_divide({0} + 1.0, 2.0)", "trunc({0} * 8.0) / 8.0 + 0.1 * {0}", "ceil({0} * 4.0) * 0.25 + floor({0} * 2.0)"});
      h = s.let("h", format(fmt::runtime(how), h.name), x.dims, "f32");
    }
    const Value w = s.input("w", {l}, "f32", "near_one");
    Value y = s.let("h", format("{} * {}", h.name, w.name), x.dims, "f32");
    if (s.chance(50)) return s.output(s.let("y", format("{} - mean({}, axis=1, keepdims=true)", y.name, y.name), x.dims, "f32"));
    return s.output(y);
  }
  // Complex products of two spectra.
  s.hint("complex");
  const std::string n = s.extent("B", "batch"), m = s.extent("M", "length", 4), k = s.extent("K", "width"), o = s.extent("O", "width");
  const Value ar = s.input("ar", {n, m, k}), ai = s.input("ai", {n, m, k}), br = s.input("br", {k, o}), bi = s.input("bi", {k, o});
  for (int i = 0; i < 4; ++i) s.work({n, m, k, o}, s.half());
  const Extents out{n, m, o};
  const Value re = s.let("re", format("{} @ {} - {} @ {}", ar.name, br.name, ai.name, bi.name), out), im = s.let("im", format("{} @ {} + {} @ {}", ar.name, bi.name, ai.name, br.name), out);
  if (s.chance(50)) {
    s.output(re);
    return s.output(im);
  }
  s.output(s.let("y", format("sqrt(f32({0}) ** 2 + f32({1}) ** 2)", re.name, im.name), out, "f32"));
}

void gram(Sketch& s) {
  const std::string n = s.extent("B", "batch"), m = s.extent("M", "length", 5), d = s.extent("D", "width");
  const Value x = s.input("x", {n, m, d});
  const int64_t kind = s.below(6);
  s.hint("gram");
  if (kind == 0) {
    // Covariance of the features, a little on the diagonal.
    s.hint("covariance");
    const Value c = s.let("c", format("{0} - mean({0}, axis=1, keepdims=true)", x.name), x.dims);
    s.work({n, d, d, m}, s.half());
    const Value y = s.let("h", format("{}.mT @ {} * 0.015625", c.name, c.name), {n, d, d});
    return s.output(s.let("y", format("{} + 0.01 * eye({}, dtype={})", y.name, d, s.type()), {n, d, d}));
  }
  s.work({n, m, m, d}, s.half());
  if (kind == 1) {
    // Products of each with each, upper half, and each with itself.
    const Value g = s.let("g", format("{0} @ {0}.mT * 0.0625", x.name), {n, m, m});
    s.output(s.let("own", format("diagonal({})", g.name), {n, m}), "own");
    return s.output(s.let("upper", format("triu({}, {})", g.name, s.one_of({0, 1})), {n, m, m}), "upper");
  }
  if (kind == 2) {
    // A product with a diagonal matrix between.
    const std::string o = s.extent("O", "width");
    const Value w = s.input("w", {o, d}), v = s.input("v", {d});
    s.work({n, m, o, d}, s.half());
    const Value y = s.let("h", format("({} @ diag({})) @ {}.T", x.name, v.name, w.name), {n, m, o});
    s.hint("diagonal");
    Value z = y;
    z.spread = 5;
    return finish(s, z);
  }
  if (kind == 3) {
    // One update of a matrix by an outer product.
    s.hint("outer");
    const std::string r = s.extent("R", "inner"), k = s.extent("K", "inner");
    const Value a = s.input("a", {r, k}), u = s.input("u", {r}), v = s.input("v", {k});
    const Value mean = s.let("g", format("amax({0} @ {0}.mT, axis=[1, 2]) * 0.015625", x.name), {n});
    const Value y = s.let("rank1", format("{} - 0.5 * outer({}, {})", a.name, u.name, v.name), {r, k});
    s.output(mean, "g");
    return s.output(y, "y");
  }
  if (kind == 4) {
    // Style: the Gram matrix's distance from another.
    s.hint("style");
    const Value t = s.input("t", {n, m, m});
    const Value g = s.let("g", format("einsum(\"bmd,bnd->bmn\", {0}, {0}) * 0.0625", x.name), {n, m, m});
    return s.output(s.let("y", format("mean((f32({}) - f32({})) ** 2, axis=-1)", g.name, t.name), {n, m}, "f32"));
  }
  // A symmetric product, triangular solve's step: lower factors times a vector.
  s.hint("triangular");
  const Value a = s.input("a", {m, m}, "", s.one_of({"tril", "triu", "symmetric"}));
  Value y = s.let("h", format("{} @ {}", a.name, x.name), {n, m, d});
  y.spread = 5;
  finish(s, y);
}

void masks(Sketch& s) {
  const int64_t kind = s.below(7);
  const std::string b = s.extent("B", "batch"), l = s.extent("L", "length", 5);
  s.hint("masks");
  if (kind == 0) {
    // Which tokens are real, in the same segment and not later, as a mask to add to scores.
    const Value ids = s.input("ids", {b, l}, "i64", "index(7)"), part = s.input("part", {b, l}, "i32", "index(3)");
    const Value real = s.let("real", format("ne({}, 0)", ids.name), {b, l}, "bool");
    const Value same = s.let("same", format("eq({0}.unsqueeze(2), {0}.unsqueeze(1))", part.name), {b, l, l}, "bool");
    const Value seen = s.let("seen", format("{} & {}.unsqueeze(1) & tril(ones([{}, {}], dtype=bool))", same.name, real.name, l, l), {b, l, l}, "bool");
    const Value scores = s.input("scores", {b, l, l});
    return s.output(s.let("y", format("where({}, {}, full([{}, {}], -10000.0, dtype={}))", seen.name, scores.name, l, l, s.type()), {b, l, l}));
  }
  const std::string d = s.extent("D", "width");
  const Value x = s.input("x", {b, l, d});
  if (kind == 1) {
    // Rows with anything in them, rows whole, how much of each.
    const Value cut = s.input("cut", {d}, "", "positive");
    s.output(s.let("some", format("any({} > {} + 1.0, axis=-1)", x.name, cut.name), {b, l}, "bool"), "some");
    s.output(s.let("each", format("all(abs({}) < {} + 2.0, axis=-1)", x.name, cut.name), {b, l}, "bool"), "each");
    return s.output(s.let("much", format("count_nonzero({} >= {}, axis=-1)", x.name, cut.name), {b, l}, "i64"), "much");
  }
  if (kind == 2) {
    // The mean of the tokens that count.
    const Value last = s.input("last", {b}, "i64", format("index({})", l));
    s.hint("maskedmean");
    const Value seen = s.let("seen", format("le(arange({}), {}.unsqueeze(1))", l, last.name), {b, l}, "bool");
    const Value sum = s.let("total", format("sum(where({}.unsqueeze(2), f32({}), 0.0), axis=1)", seen.name, x.name), {b, d}, "f32");
    const Value mean = s.let("h", format("{}({} / f32(sum({}, axis=1, keepdims=true)))", s.type(), sum.name, seen.name), {b, d});
    if (s.chance(60)) return finish(s, activation(s, product(s, mean, s.extent("O", "width"), 60)));
    return finish(s, norm_rows(s, mean));
  }
  if (kind == 3) {
    // One-hot classes against scores.
    s.hint("onehot");
    const std::string c = s.extent("C", "classes");
    const Value w = s.input("w", {c, d}), t = s.input("t", {b, l}, "i64", format("index({})", c));
    s.work({b, l, d, c}, s.half());
    const Value z = s.let("z", format("linear({}, {}) * 0.0625", x.name, w.name), {b, l, c});
    return s.output(s.let("y", format("softmax({}, axis=-1) - one_hot({}, {}, dtype={})", z.name, t.name, c, s.type()), {b, l, c}));
  }
  if (kind == 4) {
    // Either of two masks but not both; what is left is replaced by a learnt vector.
    const Value p = s.input("p", {b, l}, "bool"), q = s.input("q", {b, l}, "bool"), token = s.input("token", {d});
    const std::string_view how = s.one_of({"logical_xor({}, {})", "{} ^ {}", "{} | ~{}", "logical_and({}, logical_not({}))", "logical_or({}, {})"});
    const Value m = s.let("m", format(fmt::runtime(how), p.name, q.name), {b, l}, "bool");
    Value h = s.let("h", format("where({}.unsqueeze(2), {}, {})", m.name, x.name, token.name), x.dims);
    if (s.chance(65)) {
      h = norm_rows(s, h);
      h = product(s, h, s.extent("O", "width"), 40);
    }
    return finish(s, h);
  }
  if (kind == 5) {
    // A window of one axis set to zero (spectrogram masking), and buffers filled.
    s.hint("zeros");
    const Value from = s.input("begin", {b}, "i64", format("index({})", l));
    const Value place = s.let("place", format("iota([{}, {}], axis=1) - {}.unsqueeze(1)", b, l, from.name), {b, l}, "i64");
    const Value off = s.let("off", format("(({0} >= 0) & ({0} < 3)).unsqueeze(2)", place.name), {b, l, "1"}, "bool");
    const std::string_view fill = s.one_of({"zeros_like({})", "full_like({}, 0.5)", "-ones_like({})"});
    Value h = s.let("h", format("where({}, {}, {})", off.name, format(fmt::runtime(fill), x.name), x.name), x.dims);
    if (s.chance(60)) h = product(s, h, s.extent("O", "width"), 40);
    return finish(s, h);
  }
  // A cache with a row more: zeros before, the new token behind.
  s.hint("cache");
  const Value token = s.input("token", {b, d});
  const Value all = s.let("all", format("concat([zeros([{}, 1, {}], dtype={}), {}, {}.unsqueeze(1)], axis=1)", b, d, s.type(), x.name, token.name), {b, l + " + 2", d});
  if (s.chance(50)) return s.output(all);
  Value h = all;
  h = product(s, h, s.extent("O", "width"), 40);
  finish(s, h);
}

}  // namespace

Kinds numeric_kinds() {
  return {{"quantised", quantised}, {"elementwise", elementwise}, {"statistics", statistics}, {"movement", movement}, {"science", science}, {"gram", gram}, {"masks", masks}};
}

}  // namespace hone::task::drawn
