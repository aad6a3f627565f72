// Pieces on rows: values whose features lie along the last axis.
#include <fmt/format.h>

#include <algorithm>

#include "hone/task/drawn/pieces.h"

namespace hone::task::drawn {
namespace {

using fmt::format;

struct Formula {
  const char* key;
  const char* text;       ///< {0} is the value
  const char* hint;
  bool positive, bounded;
};
constexpr Formula kActivations[] = {
    {"relu", "relu({0})", "relu", true, false},
    {"gelu", "gelu({0})", "gelu", false, false},
    {"gelu_tanh", "gelu({0}, approximate=\"tanh\")", "gelu", false, false},
    {"silu", "silu({0})", "silu", false, false},
    {"sigmoid", "sigmoid({0})", "sigmoid", true, true},
    {"tanh", "tanh({0})", "tanh", false, true},
    {"leaky_relu", "leaky_relu({0}, negative_slope=0.2)", "leakyrelu", false, false},
    {"elu", "elu({0})", "elu", false, false},
    {"hardswish", "hardswish({0})", "hardswish", false, false},
    {"mish", "mish({0})", "mish", false, false},
    {"softplus", "softplus({0})", "softplus", true, false},
    {"relu6", "relu6({0})", "relu6", true, true},
    {"selu", "selu({0})", "selu", false, false},
    {"celu", "celu({0}, alpha=1.5)", "celu", false, false},
    {"softsign", "softsign({0})", "softsign", false, true},
    {"hardtanh", "hardtanh({0}, min_val=-2.0, max_val=2.0)", "hardtanh", false, true},
    {"hardsigmoid", "hardsigmoid({0})", "hardsigmoid", true, true},
    {"tanhshrink", "tanhshrink({0})", "tanhshrink", false, false},
    {"softshrink", "softshrink({0}, lambd=0.25)", "softshrink", false, false},
    {"hardshrink", "hardshrink({0}, lambd=0.25)", "hardshrink", false, false},
    {"threshold", "threshold({0}, 0.1, -0.5)", "threshold", false, false},
    {"log_sigmoid", "log_sigmoid({0})", "logsigmoid", false, false},
    {"squared_relu", "relu({0}) ** 2", "relu2", true, false},
    {"sine", "sin({0})", "sine", false, true},
    {"snake", "{0} + sin({0}) ** 2", "snake", false, false},
    {"arctan", "atan({0})", "arctan", false, true},
    {"quick_gelu", "{0} * sigmoid(1.702 * {0})", "quickgelu", false, false},
};

std::string formatted(std::string_view text, const std::string& value) { return format(fmt::runtime(text), value); }

/// Drops what is known of the elements where an operation changes it.
Value with(Value made, const Value& from) {
  made.spread = from.spread;
  made.curved = true;
  return made;
}

Value bias_of(Sketch& s, const Value& x) { return s.input("b", {x.last()}); }

}  // namespace

Value rows(Sketch& s, const std::string& width) {
  if (s.chance(45)) return s.input("x", {s.extent("M", "rows"), width});
  return tokens(s, width);
}

Value tokens(Sketch& s, const std::string& width) {
  const std::string batch = s.extent("B", "batch");
  return s.input("x", {batch, s.extent("S", "length", 4), width});
}

Value activation(Sketch& s, const Value& x) {
  std::string kind = s.pick("activation");
  for (int tries = 0; kind == "none" && tries < 2; ++tries) kind = s.pick("activation");
  return activation(s, x, kind);
}

Value activation(Sketch& s, const Value& x, const std::string& wanted) {
  std::string kind = wanted;
  if (kind == "none") return x;
  const bool idle = x.positive && (kind == "relu" || kind == "leaky_relu" || kind == "elu" || kind == "prelu" || kind == "selu" || kind == "celu" || kind == "threshold" || kind == "squared_relu");
  if (idle) kind = "gelu";
  if (x.negative && (kind == "relu" || kind == "relu6" || kind == "squared_relu" || kind == "threshold" || kind == "gelu" || kind == "gelu_tanh")) kind = "tanh";
  if (kind == "squared_relu" && x.spread > 2) kind = "relu";
  if (kind == "prelu") {
    // One slope a channel belongs to axis 1; rows have one slope for all.
    const bool channel = x.rank() >= 3 && s.chance(60);
    const Value slope = s.input("slope", channel ? Extents{x.dims[1]} : Extents{}, "", "near_one");
    s.hint("prelu");
    return with(s.let("h", format("prelu({}, {})", x.name, channel ? "0.25 * " + slope.name : slope.name + " * 0.25"), x.dims, x.dtype), x);
  }
  for (const Formula& f : kActivations) {
    if (kind != f.key) continue;
    s.hint(f.hint);
    // What saturates or cuts needs values about 1 to be worth its time.
    const bool narrow = f.bounded || kind == "tanhshrink";
    const std::string value = narrow && x.spread > 1 ? format("{} * {}", x.name, 1.0 / static_cast<double>(1 << std::min(x.spread, 10))) : x.name;
    Value y = s.let("h", formatted(f.text, value), x.dims, x.dtype);
    y.positive = f.positive;
    y.bounded = f.bounded;
    y.curved = true;
    y.negative = kind == "log_sigmoid";
    y.spread = f.bounded ? 0 : kind == "squared_relu" ? 2 * x.spread : x.spread;
    return y;
  }
  return x;
}

Value scaled(Sketch& s, const Value& x) {
  const int down = std::clamp(x.spread, 0, 12);
  const double factor = down > 0 ? 1.0 / static_cast<double>(1 << down) : 0.7;
  Value y = s.let("h", format("{} * {}", x.name, factor), x.dims, x.dtype);
  y.positive = x.positive;
  y.scaled = true;
  y.centred = x.centred;
  y.curved = x.curved;
  y.product = x.product;
  return y;
}

Value add(Sketch& s, const Value& x, const Value& y) {
  Value sum = s.let("h", format("{} + {}", x.name, y.name), x.dims, x.dtype);
  sum.spread = std::max(x.spread, y.spread);
  sum.positive = x.positive && y.positive;
  sum.curved = x.curved && y.curved;
  sum.product = x.product;
  return sum;
}

Value to_type(Sketch& s, const Value& x, const std::string& dtype) {
  if (x.dtype == dtype) return x;
  Value y = x;
  const std::string expression = format("{}({})", dtype, x.name);
  const Value made = s.let("h", expression, x.dims, dtype);
  y.name = made.name;
  y.dtype = dtype;
  return y;
}

Value around(Sketch& s, const Value& x) {
  std::string kind = s.pick("around");
  if (kind == "scale" && x.scaled) kind = "bias";
  if (kind == "abs_power" && (x.positive || x.spread > 3)) kind = "bias";
  if (x.bounded && (kind == "clamp" || kind == "softcap")) kind = "multiply_input";
  const auto made = [&](std::string expression, int spread) {
    Value y = s.let("h", std::move(expression), x.dims, x.dtype);
    y.spread = spread;
    const bool linear = kind == "bias" || kind == "scale" || kind == "channel_gain" || kind == "lerp" || kind == "where_mask" || kind == "dropout";
    y.curved = !linear || x.curved;
    y.product = linear && x.product;
    return y;
  };
  if (kind == "bias") return made(format("{} + {}", x.name, bias_of(s, x).name), std::max(x.spread, 0));
  if (kind == "scale") {
    if (x.spread > 2) return scaled(s, x);
    const std::string_view how = s.one_of({"*", "/"});
    Value y = made(format("{} {} {}", x.name, how, s.one_of({"1.5", "0.75", "2.5"})), x.spread);
    y.positive = x.positive;
    y.scaled = true;
    return y;
  }
  if (kind == "clamp") {
    const int64_t bound = int64_t{1} << std::min(x.spread + 1, 12);
    Value y = made(x.positive ? format("clamp({}, max={})", x.name, bound) : format("clamp({}, min=-{}, max={})", x.name, bound, bound), x.spread);
    y.positive = x.positive;
    return y;
  }
  if (kind == "dropout") {
    const Value keep = s.input("keep", x.dims, "bool");
    s.hint("dropout");
    return made(s.chance(50) ? format("where({}, {} / 0.9, 0.0)", keep.name, x.name) : format("where(logical_not({}), zeros_like({}), {} * 1.25)", keep.name, x.name, x.name), x.spread);
  }
  if (kind == "channel_gain") {
    const Value gain = s.input("gain", {x.last()}, "", "near_one");
    return made(format("{} * {}", x.name, gain.name), x.spread);
  }
  if (kind == "softcap") {
    const int64_t cap = int64_t{1} << std::clamp(x.spread + 1, 1, 10);
    Value y = made(format("{} * tanh({} / {})", cap, x.name, cap), x.spread);
    s.hint("softcap");
    return y;
  }
  if (kind == "abs_power") {
    Value y = made(s.chance(40) ? format("log1p(abs({}))", x.name) : format("sqrt(abs({}) + 0.001)", x.name), 0);
    if (s.chance(40)) y = s.let("h", format("pow({} + 0.01, 0.75) * sign({})", y.name, x.name), x.dims, x.dtype);
    else y.positive = true;
    return y;
  }
  if (kind == "lerp") {
    const Value other = s.input("old", x.dims);
    const Value weight = s.input("mix", {x.last()}, "", "unit");
    return made(format("lerp({}, {}, {})", x.name, other.name, weight.name), x.spread);
  }
  if (kind == "add_input") {
    s.hint("residual");
    return add(s, x, s.input("r", x.dims));
  }
  if (kind == "multiply_input") {
    s.hint("gate");
    const Value gate = s.input("g", x.dims);
    return made(s.chance(50) ? format("{} * {}", x.name, gate.name) : format("{} * sigmoid({})", x.name, gate.name), x.spread);
  }
  if (kind == "where_mask") {
    Extents lead(x.dims.begin(), x.dims.end() - 1);
    lead.push_back("1");
    const Value mask = s.input("valid", lead, "bool");
    s.hint("mask");
    return made(s.chance(40)   ? format("where({}, {}, 0.0)", mask.name, x.name)
                : s.chance(50) ? format("where({}, {}, full_like({}, -1.0))", mask.name, x.name, x.name)
                               : format("{} * {}({})", x.name, x.dtype, mask.name), x.spread);
  }
  if (kind == "round_trip") {
    const Value step = s.input("step", {x.last()}, "f32", "near_one");
    s.hint("fakequant");
    const int down = 4;
    return made(format("{}(clamp(round(f32({}) * {} / {}), -128.0, 127.0) / {} * {})", x.dtype, x.name, 1 << down, step.name, 1 << down, step.name), x.spread);
  }
  if (kind == "finite") {
    s.allow_nan();
    s.hint("guard");
    const std::string test = s.one_of({"isfinite", "isnan", "isinf"}) == "isfinite" ? format("where(isfinite({0}), {0}, 0.0)", x.name)
                             : s.chance(50) ? format("where(isnan({0}), 0.0, {0})", x.name)
                                            : format("where(isinf({0}), 1.0, {0})", x.name);
    return made(test, x.spread);
  }
  if (kind == "recip") {
    Value y = made(format("{} * reciprocal(1.0 + abs({}))", x.name, x.name), 0);
    y.bounded = true;
    return y;
  }
  if (kind == "minmax") {
    const Value other = s.input("bound", {x.last()});
    return made(format("{}({}, {})", s.one_of({"maximum", "minimum"}), x.name, other.name), x.spread);
  }
  return x;
}

Value some_around(Sketch& s, Value x, int most) {
  const int64_t count = s.below(most + 1);
  for (int64_t i = 0; i < count; ++i) x = around(s, x);
  return x;
}

Value norm_rows(Sketch& s, const Value& x) {
  std::string kind = s.pick("norm_rows");
  const std::string& d = x.last();
  const auto done = [&](Value y, bool centred) {
    y.centred = centred;
    y.curved = true;
    return y;
  };
  const auto gain = [&] { return s.input("w", {d}, "", "near_one"); };
  if (kind == "layer" || kind == "plain_layer") {
    s.hint("layernorm");
    if (kind == "plain_layer") return done(s.let("h", format("layer_norm({}, axis=-1)", x.name), x.dims, x.dtype), true);
    const Value w = gain(), b = s.input("b", {d});
    return done(s.let("h", format("layer_norm({}, {}, {})", x.name, w.name, b.name), x.dims, x.dtype), true);
  }
  if (kind == "rms") {
    s.hint("rmsnorm");
    return done(s.let("h", format("rms_norm({}, {})", x.name, gain().name), x.dims, x.dtype), true);
  }
  if (kind == "normalize") {
    s.hint("normalize");
    Value y = s.let("h", format("normalize({}, axis=-1){}", x.name, s.chance(70) ? " * 8.0" : ""), x.dims, x.dtype);
    return done(y, true);
  }
  const std::string wide = x.dtype == "f32" ? x.name : s.let("wide", format("f32({})", x.name), x.dims, "f32").name;
  const auto narrow = [&](const std::string& e) { return x.dtype == "f32" ? e : format("{}({})", x.dtype, e); };
  Extents one = x.dims;
  one.back() = "1";
  if (kind == "rms_by_hand") {
    s.hint("rmsnorm");
    const Value w = gain();
    const Value mean = s.let("ms", format("mean({0} * {0}, axis=-1, keepdims=true)", wide), one, "f32");
    return done(s.let("h", format("{} * {}", narrow(format("{} * rsqrt({} + 1e-6)", wide, mean.name)), w.name), x.dims, x.dtype), true);
  }
  s.hint("layernorm");
  const Value w = gain(), b = s.input("b", {d});
  const Value mean = s.let("mu", format("mean({}, axis=-1, keepdims=true)", wide), one, "f32");
  const Value var = s.let("var", format("var({}, axis=-1, keepdims=true)", wide), one, "f32");
  return done(s.let("h", format("{} * {} + {}", narrow(format("({} - {}) / sqrt({} + 1e-5)", wide, mean.name, var.name)), w.name, b.name), x.dims, x.dtype), true);
}

Value curved(Sketch& s, const Value& x) {
  if (x.curved) return x;
  const Value y = activation(s, x);
  return y.curved ? y : activation(s, x, "gelu");
}

Value calm(Sketch& s, const Value& x, bool channels) {
  if (x.spread <= 2) return x;
  const std::string& kind = s.pick("between");
  if (kind == "scale") return scaled(s, x);
  if (kind == "bounded") return activation(s, x, s.chance(50) ? "tanh" : "softsign");
  return channels ? norm_channels(s, x) : norm_rows(s, x);
}

Value product(Sketch& s, const Value& given, const std::string& out, int bias_percent) {
  // Two products with nothing between them are one.
  const Value x = calm(s, given.product ? curved(s, given) : given);
  std::string kind = s.pick("product");
  const std::string& k = x.last();
  if (kind == "addmm" && x.rank() != 2) kind = "linear";
  Extents dims = x.dims;
  dims.back() = out;
  Extents factors = x.dims;
  factors.push_back(out);
  s.work(factors, x.dtype != "f32");
  s.hint("gemm");
  const bool bias = s.chance(bias_percent);
  Value y;
  if (kind == "linear") {
    const Value w = s.input("w", {out, k}, x.dtype);
    y = s.let("h", bias ? format("linear({}, {}, {})", x.name, w.name, s.input("b", {out}, x.dtype).name) : format("linear({}, {})", x.name, w.name), dims, x.dtype);
  } else if (kind == "addmm") {
    const Value w = s.input("w", {k, out}, x.dtype);
    y = s.let("h", format("addmm({}, {}, {})", s.input("b", {out}, x.dtype).name, x.name, w.name), dims, x.dtype);
  } else {
    const bool transposed = kind == "transposed";
    const Value w = s.input("w", transposed ? Extents{out, k} : Extents{k, out}, x.dtype);
    std::string e = transposed ? format("{} @ {}.T", x.name, w.name) : format("{} @ {}", x.name, w.name);
    if (kind == "einsum") e = format("einsum(\"...k,kn->...n\", {}, {})", x.name, w.name);
    if (bias) e += " + " + s.input("b", {out}, x.dtype).name;
    y = s.let("h", e, dims, x.dtype);
  }
  y.spread = x.spread + 5;
  y.product = true;
  return y;
}

}  // namespace hone::task::drawn
