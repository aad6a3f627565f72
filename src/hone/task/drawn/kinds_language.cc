// Transformers: feed-forward blocks, gated pairs, attention with what stands around it, experts.
#include <fmt/format.h>

#include "hone/task/drawn/kinds.h"
#include "hone/task/drawn/pieces.h"

namespace hone::task::drawn {
namespace {

using fmt::format;

Value maybe_norm(Sketch& s, const Value& x, int percent) { return s.chance(percent) ? norm_rows(s, x) : x; }

Value residual(Sketch& s, const Value& h, const Value& x) {
  s.hint("residual");
  return add(s, h, x);
}

/// A low-rank correction beside a product (LoRA).
Value with_low_rank(Sketch& s, const Value& x, const Value& y) {
  s.hint("lora");
  const std::string rank = s.extent("R", "several");
  const Value a = s.input("la", {rank, x.last()}), b = s.input("lb", {y.last(), rank});
  Extents thin = x.dims;
  thin.back() = rank;
  s.work([&] { Extents f = thin; f.push_back(x.last()); return f; }(), x.dtype != "f32");
  s.work([&] { Extents f = thin; f.push_back(y.last()); return f; }(), x.dtype != "f32");
  const Value low = s.let("low", format("linear({}, {})", x.name, a.name), thin, x.dtype);
  Value out = s.let("h", format("{} + linear({}, {}) * 0.0625", y.name, low.name, b.name), y.dims, x.dtype);
  out.spread = y.spread;
  return out;
}

void mlp(Sketch& s) {
  const std::string width = s.extent("D", "width");
  const Value x = rows(s, width);
  Value h = maybe_norm(s, x, 55);
  const std::string inner = s.extent("F", "inner");
  const Value first = product(s, h, inner);
  h = s.chance(15) ? with_low_rank(s, h, first) : first;
  h = some_around(s, activation(s, h), 1);
  if (s.chance(82)) {
    const bool back = s.chance(75);
    h = product(s, h, back ? width : s.extent("O", "width"));
    if (back && s.chance(60)) h = residual(s, h, x);
  }
  h = some_around(s, h, 2);
  finish(s, s.chance(30) ? maybe_norm(s, h, 100) : h);
}

/// The gate of a pair: silu for SwiGLU, gelu for GeGLU, …
std::string gate_text(Sketch& s, const std::string& gate) {
  switch (s.below(5)) {
    case 0:
    case 1: s.hint("swiglu"); return format("silu({})", gate);
    case 2: s.hint("geglu"); return format("gelu({})", gate);
    case 3: s.hint("glu"); return format("sigmoid({})", gate);
    default: s.hint("reglu"); return format("relu({})", gate);
  }
}

void gated(Sketch& s) {
  const std::string width = s.extent("D", "width"), inner = s.extent("F", "inner");
  const Value x = rows(s, width);
  const Value n = maybe_norm(s, x, 50);
  Value h;
  if (s.chance(65)) {
    const Value gate = product(s, n, inner, 15), up = product(s, n, inner, 15);
    h = s.let("h", format("{} * {}", gate_text(s, gate.name), up.name), up.dims);
    h.spread = 9;
  } else {
    // One product for both halves.
    const Value both = product(s, n, "2*" + inner, 15);
    Extents half = both.dims;
    half.back() = inner;
    if (s.chance(40)) {
      s.hint("glu");
      h = s.let("h", format("glu({}, axis=-1)", both.name), half);
    } else if (s.chance(50)) {
      const Value gate = s.let("gate", format("{}[..., :{}]", both.name, inner), half), up = s.let("up", format("{}[..., {}:]", both.name, inner), half);
      h = s.let("h", format("{} * {}", gate_text(s, gate.name), up.name), half);
    } else {
      s.hint("chunk");
      const auto parts = s.let_all({"gate", "up"}, format("chunk({}, 2, axis=-1)", both.name), half);
      h = s.let("h", format("{} * {}", gate_text(s, parts[0].name), parts[1].name), half);
    }
    h.spread = 9;
  }
  h = some_around(s, h, 1);
  if (s.chance(80)) {
    h = product(s, h, width, 20);
    if (s.chance(65)) h = residual(s, h, x);
  }
  finish(s, some_around(s, h, 1));
}

/// Queries, keys and values of one input, projected together or apart.
Heads projected_heads(Sketch& s, const Value& x, const std::string& heads, const std::string& head) {
  const std::string width = x.last();
  Heads h;
  if (s.chance(40)) {
    const Value all = product(s, x, product_text({"3", width}), 40);
    const Extents third{x.dims[0], x.dims[1], width};
    const int64_t way = s.below(3);
    Value q, k, v;
    if (way == 0) {
      const auto parts = s.let_all({"qs", "ks", "vs"}, format("chunk({}, 3, axis=-1)", all.name), third);
      q = parts[0], k = parts[1], v = parts[2];
    } else if (way == 1) {
      const auto parts = s.let_all({"qs", "ks", "vs"}, format("split({}, [{}, {}, {}], axis=-1)", all.name, width, width, width), third);
      q = parts[0], k = parts[1], v = parts[2];
    } else {
      const Value five = s.let("all", format("{}.reshape({}, {}, 3, {}, {}).permute([2, 0, 3, 1, 4])", all.name, x.dims[0], x.dims[1], heads, head), {"3", x.dims[0], heads, x.dims[1], head});
      const Extents dims{x.dims[0], heads, x.dims[1], head};
      h.q = s.let("q", s.chance(50) ? format("{}[0]", five.name) : format("select({}, 0, 0)", five.name), dims);
      h.k = s.let("k", five.name + "[1]", dims);
      h.v = s.let("v", five.name + "[2]", dims);
      h.q.spread = h.k.spread = h.v.spread = all.spread;
      return h;
    }
    h.q = split_heads(s, q, heads, head);
    h.k = split_heads(s, k, heads, head);
    h.v = split_heads(s, v, heads, head);
    h.q.spread = h.k.spread = h.v.spread = all.spread;
    return h;
  }
  const Value q = product(s, x, width, 20);
  const bool cross = s.chance(25);
  if (cross) s.hint("cross");
  const Value context = cross ? s.input("c", {x.dims[0], s.extent("K", "length", 4), width}) : x;
  const Value k = product(s, context, width, 20), v = product(s, context, width, 20);
  h.q = split_heads(s, q, heads, head);
  h.k = split_heads(s, k, heads, head);
  h.v = split_heads(s, v, heads, head);
  return h;
}

void attention_block(Sketch& s) {
  const bool rope = s.chance(40);
  const std::string heads = s.extent("H", "heads"), unit = rope ? s.extent("P", "pair") : s.extent("E", "head");
  const std::string head = rope ? "2*" + unit : unit;
  const std::string width = product_text({heads, head});
  const Value x = tokens(s, width);
  Heads h = projected_heads(s, maybe_norm(s, x, 65), heads, head);
  // Scores of unscaled products would be one-hot: queries and keys are normed or scaled.
  h.q = calm(s, h.q);
  h.k = calm(s, h.k);
  if (rope) h.q = rotated(s, h.q, unit);
  if (rope) h.k = rotated(s, h.k, unit);
  Value o = merged_heads(s, s.chance(55) ? attend(s, h) : attend_by_hand(s, h));
  o.spread = 2;
  if (s.chance(65)) {
    o = product(s, o, width, 30);
    if (s.chance(70)) o = residual(s, o, x);
  }
  finish(s, some_around(s, o, 1));
}

Heads given_heads(Sketch& s, const std::string& head) {
  const std::string batch = s.extent("B", "batch");
  const bool grouped = s.chance(35);
  const std::string keys = grouped ? s.extent("K", "several") : s.extent("H", "heads");
  const std::string heads = grouped ? keys + "*" + s.extent("G", "group") : keys;
  const std::string length = s.extent("S", "length", 4);
  const int64_t kind = s.below(10);
  const std::string queries = kind == 0 ? "1" : kind < 3 ? s.extent("Q", "length", 4) : length;
  Heads h;
  h.grouped = grouped;
  h.q = s.input("q", {batch, heads, queries, head});
  h.k = s.input("k", {batch, keys, length, head});
  h.v = s.input("v", {batch, keys, length, head});
  return h;
}

Value behind_attention(Sketch& s, Value o) {
  if (s.chance(35)) return activation(s, o);
  if (s.chance(60)) {
    o = merged_heads(s, o);
    if (s.chance(60)) o = product(s, o, s.extent("D", "width"), 30);
  }
  return o;
}

void attention(Sketch& s) {
  const bool rope = s.chance(35);
  const std::string unit = rope ? s.extent("P", "pair") : s.extent("E", "head");
  Heads h = given_heads(s, rope ? "2*" + unit : unit);
  if (s.chance(30)) h.q = norm_rows(s, h.q);
  if (s.chance(25)) h.k = norm_rows(s, h.k);
  if (rope && h.q.dims[2] == h.k.dims[2]) {
    h.q = rotated(s, h.q, unit);
    h.k = rotated(s, h.k, unit);
  }
  finish(s, some_around(s, behind_attention(s, attend(s, h)), 1));
}

void attention_by_hand(Sketch& s) {
  Heads h = given_heads(s, s.extent("E", "head"));
  if (s.chance(20)) h.q = norm_rows(s, h.q);
  finish(s, some_around(s, behind_attention(s, attend_by_hand(s, h)), 1));
}

/// Products of a batch of experts, and what chooses and adds them.
void experts(Sketch& s) {
  const std::string width = s.extent("D", "width"), several = s.extent("E", "several", 3);
  const int64_t kind = s.below(4);
  if (kind == 0) {
    // The router: scores, the best few, their weights.
    const Value x = s.input("x", {s.extent("T", "rows"), width});
    const Value scores = product(s, maybe_norm(s, x, 50), several, 20);
    s.hint("router");
    const Extents few{x.dims[0], "2"};
    Value all = to_type(s, scores, "f32");
    const bool gates = s.chance(50);
    if (gates) all = s.let("gates", format("softmax({}, axis=-1)", scaled(s, all).name), all.dims, "f32");
    const auto best = s.let_all({"best", "expert"}, format("topk({}, 2)", all.name), few, "f32");
    Value expert = best[1];
    expert.dtype = "i64";
    const Value w = s.let("weights", !gates ? format("softmax({}, axis=-1)", best[0].name) : format("{0} / (sum(abs({0}), axis=-1, keepdims=true) + 0.01)", best[0].name), few, "f32");
    s.output(w, "weights");
    s.output(expert);
    return;
  }
  const std::string tokens_each = s.extent("T", "length"), inner = s.extent("F", "width");
  Value x;
  if (kind == 1) x = s.input("x", {several, tokens_each, width});
  // All experts see the same tokens: a product with broadcast.
  else x = s.input("x", {"1", tokens_each, width});
  const bool shared = kind != 1;
  const Value up = s.input("up", {several, width, inner});
  const Extents dims{several, tokens_each, inner};
  s.work({several, tokens_each, width, inner}, s.half());
  s.hint("experts");
  Value h = s.let("h", shared || s.chance(40) ? format("{} @ {}", x.name, up.name) : format("bmm({}, {})", x.name, up.name), dims);
  h.spread = 5;
  h = activation(s, h);
  const Value down = s.input("down", {several, inner, width});
  s.work({several, tokens_each, width, inner}, s.half());
  h = calm(s, h);
  Value y = s.let("h", s.chance(50) ? format("einsum(\"etf,efd->etd\", {}, {})", h.name, down.name) : format("{} @ {}", h.name, down.name), {several, tokens_each, width});
  y.spread = h.spread + 5;
  if (s.chance(50)) {
    const Value weights = s.input("weights", {tokens_each, several}, "f32", "simplex");
    s.hint("combine");
    y = s.let("h", format("{}(sum(f32({}) * {}.T.unsqueeze(2), axis=0))", s.type(), y.name, weights.name), {tokens_each, width});
  } else if (s.chance(30)) {
    y = s.let("h", format("baddbmm({}, {}, {}, beta=0.5)", s.input("b", {several, "1", width}).name, h.name, down.name), {several, tokens_each, width});
  }
  finish(s, some_around(s, y, 1));
}

}  // namespace

Kinds language_kinds() {
  return {{"mlp", mlp}, {"gated", gated}, {"attention_block", attention_block}, {"attention", attention},
          {"attention_by_hand", attention_by_hand}, {"experts", experts}};
}

}  // namespace hone::task::drawn
