// How tasks end: as they are, reduced, sorted into classes, quantised, or with a second output.
#include <fmt/format.h>

#include <algorithm>

#include "hone/task/drawn/pieces.h"

namespace hone::task::drawn {
namespace {

using fmt::format;

Extents without(const Extents& dims, size_t axis) {
  Extents rest = dims;
  rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(axis));
  return rest;
}

/// Each row to i8 with its scale, two outputs.
void quantised_rows(Sketch& s, const Value& x) {
  s.hint("quantise");
  Extents one = x.dims;
  one.back() = "1";
  const std::string wide = x.dtype == "f32" ? x.name : format("f32({})", x.name);
  const Value scale = s.let("scale", format("maximum(max(abs({}), axis=-1, keepdims=true), 1e-6) / 127.0", wide), one, "f32");
  const Value q = s.let("q8", format("i8(clamp(round({} / {}), -127.0, 127.0))", wide, scale.name), x.dims, "i8");
  s.output(q);
  s.output(scale);
}

/// An ending that works on any value (no minimum: that of many activations is a constant) along `axis`; false where `kind` is another.
bool reduced(Sketch& s, const Value& x, const std::string& kind, size_t axis) {
  const std::string at = axis + 1 == x.rank() ? "-1" : std::to_string(axis);
  const Extents rest = without(x.dims, axis);
  const std::string wide = x.dtype == "f32" ? x.name : format("f32({})", x.name);
  const auto say = [&](const std::string& word, const std::string& e, const Extents& dims, const std::string& dtype) {
    s.hint(word);
    s.output(s.let("y", e, dims, dtype));
    return true;
  };
  if (kind == "softmax") return say("softmax", format("softmax({}, axis={})", x.name, at), x.dims, x.dtype);
  if (kind == "log_softmax") return say("logsoftmax", format("log_softmax({}, axis={})", x.name, at), x.dims, x.dtype);
  if (kind == "mean") return say("mean", format("mean({}, axis={})", x.name, at), rest, x.dtype);
  if (kind == "sum") return say("sum", format("sum({}, axis={})", wide, at), rest, "f32");
  if (kind == "max") return say("max", format("{}({}, axis={})", s.one_of({"max", "amax"}), x.name, at), rest, x.dtype);
  if (kind == "argmax") return say("argmax", format("{}({}, axis={})", s.one_of({"argmax", "argmax", x.curved ? "argmax" : "argmin"}), x.name, at), rest, "i64");
  if (kind == "logsumexp") return say("logsumexp", format("logsumexp({}, axis={})", wide, at), rest, "f32");
  if (kind == "norm_of_rows") return say("norm", format("norm({}, p={}, axis={})", wide, s.one_of({"2.0", "1.0", "inf"}), at), rest, "f32");
  if (kind == "var") return say("var", format("{}({}, axis={}, correction=1)", s.one_of({"var", "std"}), wide, at), rest, "f32");
  return false;
}

}  // namespace

void finish(Sketch& s, const Value& given) {
  Value x = given;
  std::string kind = s.pick("ending");
  const bool sums = kind == "mean" || kind == "sum" || kind == "var" || kind == "norm_of_rows" || kind == "norm";
  // One number a row says little in half precision where its terms cancel, and nothing where a norm has fixed it.
  if (x.dtype != "f32" && kind == "sum") kind = "mean";
  if (x.dtype != "f32" && kind == "log_softmax") kind = "softmax";
  if (x.dtype != "f32" && (kind == "logsumexp" || kind == "var")) kind = "max";
  if (kind == "logsumexp" && (x.bounded || x.spread > 2)) kind = "max";
  if (x.bounded && kind == "quantise") kind = "nothing";
  if (x.centred && sums) kind = "nothing";
  // A sum of what is linear could be taken before the heavy operation, of its weights.
  if (kind == "mean" || kind == "sum") x = curved(s, x);
  // A softmax of large values is zeros and a one.
  if ((kind == "softmax" || kind == "log_softmax") && x.spread > 0) x = x.spread > 2 ? calm(s, x) : norm_rows(s, x);
  if (kind == "activation") x = activation(s, x);
  if (kind == "norm" && !x.scaled) x = norm_rows(s, x);
  if (kind == "quantise") return quantised_rows(s, x);
  if (kind == "second_output" && !x.centred) {
    s.hint("twooutputs");
    const Extents rest = without(x.dims, x.rank() - 1);
    const Value more = s.let("top", format("max({}, axis=-1)", x.name), rest, x.dtype);
    const Value y = activation(s, x, "tanh");
    s.output(y);
    s.output(more);
    return;
  }
  if (kind == "transpose" && x.rank() >= 2) {
    Extents dims = x.dims;
    std::swap(dims[x.rank() - 1], dims[x.rank() - 2]);
    const std::string e = x.rank() == 2 && s.chance(50) ? x.name + ".T" : format("transpose({}, -1, -2)", x.name);
    return s.output(s.let("y", e, dims, x.dtype));
  }
  if (kind == "widen" && x.dtype != "f32") return s.output(s.let("y", format("f32({})", x.name), x.dims, "f32"));
  if (reduced(s, x, kind, x.rank() - 1)) return;
  s.output(x);
}

void finish_channels(Sketch& s, const Value& given) {
  Value x = given;
  std::string kind = s.pick("ending");
  if (x.dtype != "f32" && kind == "sum") kind = "mean";
  if (x.dtype != "f32" && kind == "log_softmax") kind = "softmax";
  if (x.dtype != "f32" && (kind == "logsumexp" || kind == "var")) kind = "max";
  if (x.centred && (kind == "mean" || kind == "sum" || kind == "var" || kind == "norm_of_rows")) kind = "nothing";
  if (kind == "mean" || kind == "sum") x = curved(s, x);
  if (kind == "activation") x = activation(s, x);
  if (kind == "norm" && !x.scaled) x = norm_channels(s, x);
  if ((kind == "softmax" || kind == "log_softmax" || kind == "logsumexp") && x.spread > 0) x = activation(s, x, "tanh");
  if (kind == "transpose") {
    Extents dims{x.dims[0]};
    dims.insert(dims.end(), x.dims.begin() + 2, x.dims.end());
    dims.push_back(x.dims[1]);
    s.hint("channelslast");
    return s.output(s.let("y", format("movedim({}, 1, -1)", x.name), dims, x.dtype));
  }
  if (reduced(s, x, kind, 1)) return;
  if (kind == "second_output" || kind == "widen") {
    const Value pooled_value = global_pool(s, x);
    s.hint("twooutputs");
    const Value y = activation(s, x, "sigmoid");
    s.output(y);
    return s.output(pooled_value);
  }
  s.output(x);
}

}  // namespace hone::task::drawn
