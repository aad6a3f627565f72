// Speech and audio nets, scans, state spaces and linear attention, recurrent cells.
#include <fmt/format.h>

#include "hone/task/drawn/kinds.h"
#include "hone/task/drawn/pieces.h"

namespace hone::task::drawn {
namespace {

using fmt::format;

/// A convolution that sees no later position: everything missing is added in front.
Value causal_convolution(Sketch& s, const Value& given, const std::string& out, int64_t taps, int64_t dilation, const std::string& groups) {
  const Value x = calm(s, given, true);
  s.hint("causal");
  const int64_t before = (taps - 1) * dilation;
  const Value wide = s.let("wide", format("pad({}, low=[0, 0, {}], high=[0, 0, 0])", x.name, before), {x.dims[0], x.dims[1], plus(x.dims[2], before)}, x.dtype);
  Value y = convolution(s, wide, out, {taps, 1, 0, dilation}, groups, 50);
  y.dims[2] = x.dims[2];
  return y;
}

void speech(Sketch& s) {
  const std::string channels = s.extent("C", "channels"), out = s.extent("O", "channels");
  const Value x = image(s, channels, 1, 33);
  Value h = x;
  const int64_t kind = s.below(5);
  if (kind == 0) {
    const int64_t taps = s.one_of({2, 3, 5}), dilation = s.one_of({1, 1, 2, 4});
    h = activation(s, causal_convolution(s, h, out, taps, dilation, ""));
  } else if (kind == 1) {
    // The convolution block of a Conformer: product, GLU, each channel alone, norm, SiLU, product.
    h = convolution(s, h, "2*" + out, {1, 1, 0, 1}, "", 50);
    s.hint("glu");
    Value g = s.let("h", format("glu({}, axis=1)", h.name), {h.dims[0], out, h.dims[2]});
    g.spread = h.spread;
    h = convolution(s, g, out, {s.one_of({7, 15, 31}), 1, 0, 1}, out, 0);
    h = activation(s, norm_channels(s, h), "silu");
  } else if (kind == 2) {
    h = convolution(s, h, out, {s.one_of({3, 5}), 2, 1, 1}, "", 60);
    h = activation(s, h, "gelu");
  } else if (kind == 3) {
    h = causal_convolution(s, h, channels, 4, 1, channels);
    h = activation(s, h, "silu");
  } else {
    h = transposed_convolution(s, activation(s, h, "leaky_relu"), out, 60);
  }
  if (s.chance(25)) h = pooled(s, h, true);
  const int64_t next = s.below(10);
  if (next < 4) {
    const int64_t kernel = s.one_of({1, 3});
    h = convolution(s, h, s.extent("P", "channels"), {kernel, 1, kernel / 2, 1}, "", 50);
    h = activation(s, h);
  } else if (next < 7) {
    const Value t = s.let("t", format("transpose({}, 1, 2)", h.name), {h.dims[0], h.dims[2], h.dims[1]});
    Value n = t;
    n.spread = h.spread;
    h = norm_rows(s, n);
    if (s.chance(70)) h = product(s, h, s.extent("D", "width"), 50);
    return finish(s, h);
  }
  if (s.chance(40)) h = channels_around(s, h);
  if (s.chance(15)) h = s.let("h", format("adaptive_{}_pool1d({}, 1)", s.one_of({"avg", "max"}), h.name), {h.dims[0], h.dims[1], "1"});
  finish_channels(s, h);
}

/// States and their readers: outer products summed along the sequence.
void linear_attention(Sketch& s) {
  const std::string batch = s.extent("B", "batch"), heads = s.extent("H", "heads"), length = s.extent("S", "length", 4), head = s.extent("E", "head"), values = s.chance(60) ? head : s.extent("F", "head");
  const Value q = s.input("q", {batch, heads, length, head}), k = s.input("k", {batch, heads, length, head}), v = s.input("v", {batch, heads, length, values});
  const int64_t kind = s.below(4);
  const std::string how = s.chance(50) ? "elu({}) + 1.0" : "relu({}) + 0.01";
  const Value fq = s.let("fq", format(fmt::runtime(how), q.name), q.dims), fk = s.let("fk", format(fmt::runtime(how), k.name), k.dims);
  s.hint("linearattention");
  if (kind == 0) {
    // Both ways: one state for the whole sequence, and its normaliser.
    s.work({batch, heads, length, head, values}, s.half());
    s.work({batch, heads, length, head, values}, s.half());
    const Value state = s.let("kv", format("einsum(\"bhse,bhsf->bhef\", {}, {}) / {}", fk.name, v.name, length), {batch, heads, head, values});
    const Value total = s.let("z", format("mean({}, axis=2, keepdims=true)", fk.name), {batch, heads, "1", head});
    const Value y = s.let("o", format("({} @ {}) / (vecdot({}, {}, axis=-1).unsqueeze(-1) + 0.001)", fq.name, state.name, fq.name, total.name), v.dims);
    return finish(s, some_around(s, y, 1));
  }
  if (kind == 1) {
    // Causal, as a masked product of queries and keys with no softmax (retention).
    s.hint("retention");
    s.work({batch, heads, length, length, head}, s.half());
    s.work({batch, heads, length, length, values}, s.half());
    const Value a = s.let("a", format("tril({} @ {}.mT) * 0.0625", q.name, k.name), {batch, heads, length, length});
    Value y = s.let("o", format("{} @ {}", a.name, v.name), v.dims);
    y.spread = 5;
    return finish(s, some_around(s, norm_rows(s, y), 1));
  }
  if (kind == 2) {
    // Causal by running sums: the state of each channel, gated.
    s.hint("cumsum");
    const Value running = s.let("kv", format("cumsum(f32({} * {}), axis=2)", fk.name, k.name), k.dims, "f32");
    const Value total = s.let("z", format("cumsum(f32({}), axis=2) + 0.001", fk.name), k.dims, "f32");
    const Value o = s.let("o", format("{}({} / {}) * {}", s.type(), running.name, total.name, q.name), q.dims);
    const Value w = s.input("w", {head, values});
    s.work({batch, heads, length, head, values}, s.half());
    Value y = s.let("h", format("{} @ {} + {}", o.name, w.name, v.name), v.dims);
    y.spread = 3;
    return finish(s, y);
  }
  // Decays that multiply up along the sequence, in the logarithm (a selective state space).
  s.hint("ssm");
  const Value rate = s.input("rate", {batch, heads, length});
  const Value decay = s.let("decay", format("cumsum(-softplus(f32({})), axis=-1)", rate.name), rate.dims, "f32");
  const Value away = s.let("away", format("{0}.unsqueeze(-1) - {0}.unsqueeze(-2)", decay.name), {batch, heads, length, length}, "f32");
  const Value kept = s.let("kept", format("{}(exp(where(tril(ones_like({}, dtype=bool)), {}, -inf)))", s.type(), away.name, away.name), away.dims);
  s.work({batch, heads, length, length, head}, s.half());
  s.work({batch, heads, length, length, values}, s.half());
  const Value a = s.let("a", format("({} @ {}.mT) * {} * 0.125", q.name, k.name, kept.name), away.dims);
  Value y = s.let("o", format("{} @ {}", a.name, v.name), v.dims);
  y.spread = 2;
  finish(s, some_around(s, y, 1));
}

void scan(Sketch& s) {
  const std::string batch = s.extent("B", "batch"), length = s.extent("L", "length", 5);
  const int64_t kind = s.below(7);
  const auto wide = [&](const Value& v) { return v.dtype == "f32" ? v.name : format("f32({})", v.name); };
  if (kind == 0) {
    // Discounted returns and advantages of a batch of episodes.
    s.hint("returns");
    const Value reward = s.input("reward", {batch, length}, "f32"), value = s.input("value", {batch, length}, "f32");
    const Value gain = s.let("gain", format("exp(-0.01 * f32(arange({})))", length), {length}, "f32");
    const Value ahead = s.let("ahead", format("cumsum({} * {}, axis=1, reverse=true{}) / {}", reward.name, gain.name, s.chance(40) ? ", exclusive=true" : "", gain.name), reward.dims, "f32");
    const Value advantage = s.let("advantage", format("{} - {}", ahead.name, value.name), reward.dims, "f32");
    if (s.chance(50)) return s.output(s.let("y", format("({0} - mean({0}, axis=1, keepdims=true)) / (std({0}, axis=1, keepdims=true) + 0.00001)", advantage.name), reward.dims, "f32"));
    s.output(advantage);
    return s.output(ahead);
  }
  if (kind == 1) {
    // Transmittance along rays (volume rendering).
    s.hint("render");
    const std::string rays = s.extent("M", "rows");
    const Value density = s.input("density", {rays, length}, "f32"), colour = s.input("colour", {rays, length, "3"}, "f32", "unit");
    const Value alpha = s.let("alpha", format("1.0 - exp(-softplus({}) * 0.1)", density.name), density.dims, "f32");
    const Value left = s.let("left", format("cumprod(1.0 - {} + 1e-7, axis=1, exclusive=true)", alpha.name), density.dims, "f32");
    const Value weight = s.let("weight", format("{} * {}", alpha.name, left.name), density.dims, "f32");
    const Value y = s.let("colours", format("sum({}.unsqueeze(2) * {}, axis=1)", weight.name, colour.name), {rays, "3"}, "f32");
    s.output(y);
    if (s.chance(60)) s.output(s.let("depth", format("sum({} * f32(arange({})), axis=1) / {}", weight.name, length, length), {rays}, "f32"));
    return;
  }
  const std::string width = s.extent("D", "width");
  Value x = s.input("x", {batch, length, width});
  if (s.chance(50)) x = product(s, norm_rows(s, x), width, 30);
  x = calm(s, x);
  Value y;
  if (kind == 2) {
    s.hint("runningmax");
    const std::string_view which = s.one_of({"cummax", "cummin"});
    y = s.let("h", format("{}({}, axis=1{})", which, x.name, s.chance(30) ? ", reverse=true" : ""), x.dims);
  } else if (kind == 3) {
    s.hint("logcumsumexp");
    y = s.let("h", format("{}(logcumsumexp({}, axis=1))", s.type(), wide(x)), x.dims);
  } else if (kind == 4) {
    s.hint("gatedscan");
    const Value gate = s.input("gate", x.dims);
    const Value decay = s.let("decay", format("cumsum(log_sigmoid(f32({})) * 0.125, axis=1)", gate.name), x.dims, "f32");
    y = s.let("h", format("{}(exp({}) * cumsum(tanh({}), axis=1) * 0.0625)", s.type(), decay.name, wide(x)), x.dims);
  } else {
    s.hint("cumsum");
    const bool mean = s.chance(50);
    y = s.let("h", mean ? format("{}(cumsum({}, axis=1) / (f32(arange({})) + 1.0).unsqueeze(1))", s.type(), wide(x), length)
                        : format("{}(cumsum({}, axis=1) * 0.03125)", s.type(), wide(x)), x.dims);
  }
  if (s.chance(50)) y = s.let("h", format("{} * silu({})", y.name, s.input("z", x.dims).name), x.dims);
  y.spread = 2;
  if (s.chance(40)) {
    y = norm_rows(s, y);
    y = product(s, y, s.extent("O", "width"), 30);
  }
  finish(s, some_around(s, y, 1));
}

void recurrent(Sketch& s) {
  const std::string batch = s.extent("B", "rows"), in = s.extent("D", "width"), width = s.extent("H", "width");
  const Value x = s.input("x", {batch, in}), state = s.input("state", {batch, width});
  const int64_t kind = s.below(3);
  const std::string parts = kind == 0 ? "4" : kind == 1 ? "3" : "1";
  const std::string all = product_text({parts, width});
  const Extents each{batch, width};
  const Value a = product(s, x, all, 80), b = product(s, state, all, 50);
  const std::string in_scale = "0.0625";
  if (kind == 0) {
    s.hint("lstm");
    const Value cell = s.input("cell", each);
    const Value gates = s.let("gates", format("({} + {}) * {}", a.name, b.name, in_scale), {batch, all});
    const auto g = s.let_all({"i", "f", "g", "o"}, format("chunk({}, 4, axis=1)", gates.name), each);
    const Value next = s.let("c", format("sigmoid({}) * {} + sigmoid({}) * tanh({})", g[1].name, cell.name, g[0].name, g[2].name), each);
    const Value y = s.let("h", format("sigmoid({}) * tanh({})", g[3].name, next.name), each);
    s.output(y, "y");
    return s.output(next, "c");
  }
  if (kind == 1) {
    s.hint("gru");
    const Value ga = s.let("ga", format("{} * {}", a.name, in_scale), {batch, all}), gb = s.let("gb", format("{} * {}", b.name, in_scale), {batch, all});
    const auto p = s.let_all({"ra", "za", "na"}, format("split({}, {}, axis=1)", ga.name, width), each);
    const auto r = s.let_all({"rb", "zb", "nb"}, format("split({}, {}, axis=1)", gb.name, width), each);
    const Value z = s.let("z", format("sigmoid({} + {})", p[1].name, r[1].name), each);
    const Value n = s.let("n", format("tanh({} + sigmoid({} + {}) * {})", p[2].name, p[0].name, r[0].name, r[2].name), each);
    const Value y = s.let("h", format("(1.0 - {}) * {} + {} * {}", z.name, n.name, z.name, state.name), each);
    return finish(s, y);
  }
  s.hint("rnn");
  Value y = s.let("h", format("tanh(({} + {}) * {})", a.name, b.name, in_scale), each);
  y.bounded = true;
  if (s.chance(60)) y = product(s, y, s.extent("O", "width"), 60);
  finish(s, y);
}

}  // namespace

Kinds sequence_kinds() {
  return {{"speech", speech}, {"linear_attention", linear_attention}, {"scan", scan}, {"recurrent", recurrent}};
}

}  // namespace hone::task::drawn
