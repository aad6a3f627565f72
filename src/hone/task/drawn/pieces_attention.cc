// Attention on heads [B, H, S, E], as an operation and written out, and what stands around it.
#include <fmt/format.h>

#include "hone/task/drawn/pieces.h"

namespace hone::task::drawn {
namespace {

using fmt::format;

void attention_work(Sketch& s, const Heads& h) {
  Extents scores = h.q.dims;
  scores.push_back(h.k.dims[2]);
  s.work(scores, h.q.dtype != "f32");
  scores[3] = h.v.dims[3];
  s.work(scores, h.q.dtype != "f32");
}

/// The scores, masked and capped as one of the ways that models have.
Value with_bias(Sketch& s, const Value& scores) {
  const std::string &b = scores.dims[0], &heads = scores.dims[1], &q = scores.dims[2], &k = scores.dims[3];
  const bool self = q == k;
  const auto next = [&](std::string e) { return s.let("a", std::move(e), scores.dims, scores.dtype); };
  switch (s.below(self ? 9 : 5)) {
    case 0: return next(format("{} + {}", scores.name, s.input("m", {b, "1", q, k}).name));
    case 1: {
      const Value last = s.input("last", {b}, "i64", format("index({})", k));
      return next(format("where((arange({}) <= {}.unsqueeze(1)).reshape({}, 1, 1, {}), {}, -30000.0)", k, last.name, b, k, scores.name));
    }
    case 2: {
      s.hint("softcap");
      return next(format("30.0 * tanh({} / 30.0)", scores.name));
    }
    case 3: {
      s.hint("relpos");
      return next(format("{} + {}", scores.name, s.input("bias", {heads, q, k}).name));
    }
    case 4: return scores;
    case 5: {
      s.hint("causal");
      return next(format("where(iota([{0}, {0}], axis=0) >= iota([{0}, {0}], axis=1), {1}, -inf)", q, scores.name));
    }
    case 6: {
      s.hint("alibi");
      const Value slope = s.input("slope", {heads}, "", "unit");
      const Value away = s.let("away", format("{}(iota([{}, {}], axis=1) - iota([{}, {}], axis=0))", scores.dtype, q, k, q, k), {q, k}, scores.dtype);
      const Value low = next(format("{} + {}.reshape({}, 1, 1) * {}", scores.name, slope.name, heads, away.name));
      return next(format("where(tril(ones_like({0}, dtype=bool)), {1}, -inf)", away.name, low.name));
    }
    case 7: {
      // A prefix that all may see, causal behind it.
      s.hint("prefix");
      const Value i = s.let("i", format("arange({}).unsqueeze(1)", q), {q, "1"}, "i64");
      return next(format("where(logical_or(arange({}) <= {}, arange({}) < 4), {}, -30000.0)", k, i.name, k, scores.name));
    }
    default: {
      s.hint("window");
      const std::string wide = "7";
      const Value i = s.let("i", format("arange({}).unsqueeze(1)", q), {q, "1"}, "i64");
      return next(format("where((arange({}) <= {}) & (arange({}) > {} - {}), {}, -30000.0)", k, i.name, k, i.name, wide, scores.name));
    }
  }
}

}  // namespace

Value attend(Sketch& s, const Heads& h) {
  attention_work(s, h);
  s.hint("attention");
  const bool self = h.q.dims[2] == h.k.dims[2];
  std::string more;
  const int64_t kind = s.below(self ? 5 : 3);
  if (kind == 0) more = ", mask=" + s.input("m", {h.q.dims[0], "1", h.q.dims[2], h.k.dims[2]}, h.q.dtype).name;
  if (kind == 1 && s.chance(50)) {
    const Value last = s.input("last", {h.q.dims[0]}, "i64", format("index({})", h.k.dims[2]));
    const Value seen = s.let("seen", format("(arange({}) <= {}.unsqueeze(1)).reshape({}, 1, 1, {})", h.k.dims[2], last.name, h.q.dims[0], h.k.dims[2]), {h.q.dims[0], "1", "1", h.k.dims[2]}, "bool");
    more = ", mask=" + seen.name;
  }
  if (kind >= 3) more = ", causal=true";
  if (kind >= 3) s.hint("causal");
  if (s.chance(15)) more += ", scale=0.125";
  if (h.grouped) more += ", enable_gqa=true";
  if (h.grouped) s.hint("gqa");
  Extents dims = h.q.dims;
  dims.back() = h.v.dims.back();
  return s.let("o", format("attention({}, {}, {}{})", h.q.name, h.k.name, h.v.name, more), dims, h.q.dtype);
}

Value attend_by_hand(Sketch& s, const Heads& given) {
  Heads h = given;
  attention_work(s, h);
  s.hint("attentionbyhand");
  if (h.grouped) {
    // Key heads are repeated for their queries, as many programs write it.
    s.hint("gqa");
    const std::string& heads = h.q.dims[1];
    const std::string groups = heads.substr(heads.find('*') + 1);
    for (Value* side : {&h.k, &h.v}) {
      Extents dims = side->dims;
      dims[1] = heads;
      *side = s.let("wide", format("repeat_interleave({}, {}, axis=1)", side->name, groups), dims, side->dtype);
    }
  }
  const Extents dims{h.q.dims[0], h.q.dims[1], h.q.dims[2], h.k.dims[2]};
  const std::string transposed = s.chance(60) ? h.k.name + ".mT" : format("transpose({}, -1, -2)", h.k.name);
  const int64_t way = s.below(3);
  Value scores;
  if (way == 0) scores = s.let("a", format("{} @ {} * 0.125", h.q.name, transposed), dims, h.q.dtype);
  if (way == 1) scores = s.let("a", format("({} * 0.125) @ {}", h.q.name, transposed), dims, h.q.dtype);
  if (way == 2) scores = s.let("a", format("einsum(\"bhqe,bhke->bhqk\", {}, {}) / 8.0", h.q.name, h.k.name), dims, h.q.dtype);
  scores = with_bias(s, scores);
  std::string p = format("softmax({}, axis=-1)", scores.name);
  if (scores.dtype != "f32" && s.chance(40)) p = format("{}(softmax(f32({}), axis=-1))", scores.dtype, scores.name);
  Value weights = s.let("p", p, dims, h.q.dtype);
  if (s.chance(15)) {
    const Value keep = s.input("keep", dims, "bool");
    s.hint("dropout");
    weights = s.let("p", format("where({}, {} / 0.9, 0.0)", keep.name, weights.name), dims, h.q.dtype);
  }
  Extents out = h.q.dims;
  out.back() = h.v.dims.back();
  const bool einsum = way == 2;
  return s.let("o", einsum ? format("einsum(\"bhqk,bhke->bhqe\", {}, {})", weights.name, h.v.name) : format("{} @ {}", weights.name, h.v.name), out, h.q.dtype);
}

Value rotated(Sketch& s, const Value& x, const std::string& pairs) {
  s.hint("rope");
  const Value cos = s.input("cos", {x.dims[2], pairs}, "", "unit"), sin = s.input("sin", {x.dims[2], pairs}, "", "unit");
  Extents half = x.dims;
  half.back() = pairs;
  Value y;
  switch (s.below(3)) {
    case 0: {
      const Value a = s.let("lo", format("{}[..., :{}]", x.name, pairs), half, x.dtype), b = s.let("hi", format("{}[..., {}:]", x.name, pairs), half, x.dtype);
      y = s.let("r", format("concat([{0} * {2} - {1} * {3}, {1} * {2} + {0} * {3}], axis=-1)", a.name, b.name, cos.name, sin.name), x.dims, x.dtype);
      break;
    }
    case 1: {
      // Even and odd features are a pair.
      const Value a = s.let("even", format("{}[..., ::2]", x.name), half, x.dtype), b = s.let("odd", format("{}[..., 1::2]", x.name), half, x.dtype);
      y = s.let("r", format("stack([{0} * {2} - {1} * {3}, {1} * {2} + {0} * {3}], axis=-1).reshape({4}, {5}, {6}, {7})", a.name, b.name, cos.name, sin.name, x.dims[0], x.dims[1], x.dims[2], x.dims[3]), x.dims, x.dtype);
      break;
    }
    default: {
      const Value a = s.let("lo", format("narrow({}, -1, 0, {})", x.name, pairs), half, x.dtype), b = s.let("hi", format("narrow({}, -1, {}, {})", x.name, pairs, pairs), half, x.dtype);
      const Value turned = s.let("turned", format("concat([-{}, {}], axis=-1)", b.name, a.name), x.dims, x.dtype);
      y = s.let("r", format("{} * tile({}, [1, 2]) + {} * tile({}, [1, 2])", x.name, cos.name, turned.name, sin.name), x.dims, x.dtype);
    }
  }
  y.spread = x.spread;
  return y;
}

Value split_heads(Sketch& s, const Value& x, const std::string& heads, const std::string& head) {
  const Extents out{x.dims[0], heads, x.dims[1], head};
  const std::string parts = format("{}.reshape({}, {}, {}, {})", x.name, x.dims[0], x.dims[1], heads, head);
  Value y = s.let("q", s.chance(60) ? format("transpose({}, 1, 2)", parts) : format("permute({}, [0, 2, 1, 3])", parts), out, x.dtype);
  y.spread = x.spread;
  return y;
}

Value merged_heads(Sketch& s, const Value& x) {
  const std::string width = product_text({x.dims[1], x.dims[3]});
  Value y = s.let("h", format("transpose({}, 1, 2).reshape({}, {}, {})", x.name, x.dims[0], x.dims[2], width), {x.dims[0], x.dims[2], width}, x.dtype);
  y.spread = x.spread;
  return y;
}

}  // namespace hone::task::drawn
