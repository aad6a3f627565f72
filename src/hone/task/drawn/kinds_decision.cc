// Recommenders, retrieval, samplers and losses.
#include <fmt/format.h>

#include "hone/task/drawn/kinds.h"
#include "hone/task/drawn/pieces.h"

namespace hone::task::drawn {
namespace {

using fmt::format;

/// Rows of a table by index, as one of the operations that do it.
Value looked_up(Sketch& s, const std::string& batch, const std::string& width) {
  const std::string entries = s.extent("V", "table", 2);
  const Value ids = s.input("ids", {batch}, "i64", format("index({})", entries)), table = s.input("table", {entries, width});
  s.hint("embedding");
  const int64_t kind = s.below(4);
  const std::string e = kind == 0   ? format("take({}, {}, axis=0)", table.name, ids.name)
                        : kind == 1 ? format("index_select({}, 0, {})", table.name, ids.name)
                                    : format("embedding({}, {})", ids.name, table.name);
  return s.let("e", e, {batch, width});
}

void recommender(Sketch& s) {
  const std::string batch = s.extent("B", "rows"), width = s.extent("D", "head");
  const int64_t kind = s.below(4);
  if (kind == 0) {
    // Deep and wide: embeddings beside dense features, then a small net.
    const Value user = looked_up(s, batch, width), item = looked_up(s, batch, width);
    const std::string dense = s.extent("F", "several");
    const Value features = s.input("features", {batch, dense});
    const std::string all = format("2*{} + {}", width, dense);
    const Value x = s.let("x", format("concat([{}, {}, {}], axis=1)", user.name, item.name, features.name), {batch, all});
    Value h = activation(s, product(s, x, s.extent("H", "width"), 80), "relu");
    s.hint("recommender");
    if (s.chance(70)) h = activation(s, product(s, h, s.extent("G", "width"), 80), "relu");
    h = product(s, h, "1", 60);
    Value y = s.let("y", format("sigmoid({} * 0.0625).squeeze(1)", h.name), {batch});
    return s.output(y);
  }
  if (kind == 1) {
    // Pairs of fields multiplied (DLRM): products of each with each.
    s.hint("interactions");
    const std::string fields = s.extent("F", "several", 3);
    const Value t = s.input("t", {batch, fields, width});
    const std::string dense = s.extent("N", "width");
    const Value bottom = product(s, s.input("dense", {batch, dense}), width, 70);
    const Value first = activation(s, bottom, "relu");
    const std::string more = fields + " + 1";
    const Value all = s.let("all", format("concat([{}.unsqueeze(1), {}], axis=1)", calm(s, first).name, t.name), {batch, more, width});
    s.work({batch, more, more, width}, s.half());
    const Value pairs = s.let("pairs", format("bmm({}, {}.mT)", all.name, all.name), {batch, more, more});
    Value flat = s.let("flat", format("flatten({}, 1)", s.chance(50) ? format("tril({}, -1)", pairs.name) : pairs.name), {batch, product_text({more, more})});
    flat.spread = 3;
    const Value h = activation(s, product(s, flat, s.extent("H", "width"), 70), "relu");
    return finish(s, h);
  }
  if (kind == 2) {
    // A bag of embeddings: the mean of the rows of each list, padding left out.
    s.hint("embeddingbag");
    const std::string entries = s.extent("V", "table", 3), length = s.extent("L", "several", 3);
    const Value ids = s.input("ids", {batch, length}, "i64", format("index({})", entries)), table = s.input("table", {entries, width});
    const Value e = s.let("e", format("embedding({}, {})", ids.name, table.name), {batch, length, width});
    const Value real = s.let("real", format("({} {} 0).unsqueeze(2)", ids.name, s.one_of({"!=", ">"})), {batch, length, "1"}, "bool");
    const Value sum = s.let("total", format("sum(where({}, {}, 0.0), axis=1)", real.name, e.name), {batch, width});
    const Value count = s.let("count", format("count_nonzero({}, axis=1)", ids.name), {batch}, "i64");
    Value h = s.let("h", format("{} / {}(maximum({}, 1)).unsqueeze(1)", sum.name, s.type(), count.name), {batch, width});
    if (s.chance(75)) h = activation(s, product(s, h, s.extent("H", "width"), 60));
    return finish(s, h);
  }
  // Factorisation machine: the square of the sum less the sum of the squares.
  s.hint("factorisation");
  const Value x = s.input("x", {batch, s.extent("F", "width")});
  const std::string fields = x.last();
  const Value v = s.input("v", {fields, width}), w = s.input("w", {fields});
  s.work({batch, fields, width}, s.half());
  s.work({batch, fields, width}, s.half());
  const Value a = s.let("a", format("({} @ {}) * 0.0625", x.name, v.name), {batch, width}), b = s.let("b", format("(({0} * {0}) @ ({1} * {1})) * 0.00390625", x.name, v.name), {batch, width});
  const Value linear = s.let("linear_part", format("mv({}, {}) * 0.0625", x.name, w.name), {batch});
  s.output(s.let("y", format("{} + 0.5 * mean({} ** 2 - {}, axis=1)", linear.name, a.name, b.name), {batch}));
}

void retrieval(Sketch& s) {
  const std::string queries = s.extent("M", "length", 4), base = s.extent("N", "rows", 9), width = s.extent("D", "width");
  const int64_t kind = s.below(5);
  Value q = s.input("q", {queries, width}), x;
  if (kind != 3) x = s.input("x", {base, width});
  s.hint("retrieval");
  if (kind == 0 || kind == 1) {
    // The nearest few by cosine or by product.
    if (kind == 0) {
      q = s.let("qn", format("normalize({}, axis=1)", q.name), q.dims);
      x = s.let("xn", format("normalize({}, axis=1)", x.name), x.dims);
      s.hint("cosine");
    }
    s.work({queries, base, width}, s.half());
    const Value scores = s.let("scores", s.chance(60) ? format("{} @ {}.T", q.name, x.name) : format("matmul({}, transpose({}, 0, 1))", q.name, x.name), {queries, base});
    s.hint("topk");
    const std::string few = std::to_string(s.one_of({4, 8, 5}));
    const auto best = s.let_all({"best", "found"}, format("topk({}, {})", scores.name, few), {queries, few});
    Value found = best[1];
    found.dtype = "i64";
    s.output(best[0], best[0].name);
    return s.output(found, found.name);
  }
  if (kind == 2) {
    // Squared distances by products, softly assigned (k-means, RBF).
    s.hint("distances");
    s.work({queries, base, width}, s.half());
    const Value wide_q = to_type(s, q, "f32"), wide_x = to_type(s, x, "f32");
    const Value qq = s.let("qq", format("sum({0} * {0}, axis=1, keepdims=true)", wide_q.name), {queries, "1"}, "f32"), xx = s.let("xx", format("sum({0} * {0}, axis=1)", wide_x.name), {base}, "f32");
    const Value d = s.let("d", format("{} + {} - 2.0 * f32({} @ {}.T)", qq.name, xx.name, q.name, x.name), {queries, base}, "f32");
    if (s.chance(40)) {
      s.hint("assign");
      s.output(s.let("nearest", format("argmin({}, axis=1)", d.name), {queries}, "i64"));
      return s.output(s.let("distance", format("sqrt(maximum(min({}, axis=1), 0.0))", d.name), {queries}, "f32"));
    }
    return s.output(s.let("y", format("softmin({} / {}, axis=1)", d.name, s.one_of({"64.0", "128.0"})), {queries, base}, "f32"));
  }
  const Value other = s.input("p", {queries, width});
  if (kind == 3) {
    s.hint("cosine");
    Value a = product(s, q, s.extent("E", "width"), 20), b = product(s, other, a.last(), 20);
    return s.output(s.let("y", format("cosine_similarity({}, {}, axis=-1) @ ({} * 0.0625)", a.name, b.name, s.input("z", {queries, base}).name), {base}));
  }
  s.hint("pairwise");
  const Value mixed = product(s, q, width, 20);
  const Value near = s.let("near", format("pairwise_distance({} * 0.03125, {})", mixed.name, other.name), {queries});
  const Value z = s.input("z", {queries, base});
  s.output(s.let("y", format("exp(-0.0625 * {}).unsqueeze(1) * {}", near.name, z.name), {queries, base}));
  s.output(s.let("norms", format("frobenius_norm({}, axis=-1)", x.name), {base}));
}

/// Logits of a batch of sequences, from a head or given.
Value logits(Sketch& s, const std::string& batch, const std::string& words) {
  if (s.chance(50)) return s.input("logits", {batch, words}, s.chance(60) ? "f32" : "");
  const Value x = s.input("x", {batch, s.extent("D", "width")});
  const Value h = s.chance(50) ? norm_rows(s, x) : x;
  return scaled(s, product(s, h, words, 10));
}

void sampler(Sketch& s) {
  const std::string batch = s.extent("B", "batch"), words = s.extent("V", "vocabulary", 9);
  Value x = to_type(s, logits(s, batch, words), "f32");
  const auto next = [&](std::string e) { return s.let("z", std::move(e), x.dims, "f32"); };
  s.hint("sampler");
  if (s.chance(30)) {
    s.hint("penalty");
    const Value seen = s.input("seen", x.dims, "bool");
    x = next(format("where({0} & ({1} > 0.0), {1} / 1.2, where({0}, {1} * 1.2, {1}))", seen.name, x.name));
  }
  if (s.chance(40)) x = next(format("{} / {}.unsqueeze(1)", x.name, s.input("temperature", {batch}, "f32", "near_one").name));
  const int64_t kind = s.below(6);
  const Extents few{batch, "8"};
  if (kind == 0) {
    s.hint("topk");
    const auto best = s.let_all({"best", "token"}, format("topk({}, 8)", x.name), few, "f32");
    Value token = best[1];
    token.dtype = "i64";
    s.output(s.let("p", format("softmax({}, axis=-1)", best[0].name), few, "f32"), "p");
    return s.output(token);
  }
  if (kind == 1) {
    // Nucleus: what is left of the sorted probabilities up to a sum.
    s.hint("topp");
    const Value p = next(format("sort(softmax({}, axis=-1), axis=-1, descending=true)", x.name));
    const Value c = next(format("cumsum({}, axis=-1{})", p.name, s.chance(50) ? ", exclusive=true" : ""));
    const Value y = next(format("where({} < 0.9, {}, 0.0)", c.name, p.name));
    return s.output(y);
  }
  if (kind == 2) {
    s.hint("best");
    const Value best = s.let("best", format("narrow(sort({}, axis=-1, descending=true), 1, 0, 8)", x.name), few, "f32");
    return s.output(s.let("y", format("softmax({}, axis=-1)", best.name), few, "f32"));
  }
  if (kind == 3) {
    // Gumbel: the largest of logits and noise.
    s.hint("gumbel");
    const Value noise = s.input("u", x.dims, "f32", "unit");
    const Value y = next(format("{} - log(-log({} * 0.998 + 0.001))", x.name, noise.name));
    s.output(s.let("token", format("argmax({}, axis=-1)", y.name), {batch}, "i64"), "token");
    if (s.chance(50)) s.output(s.let("score", format("max({}, axis=-1)", y.name), {batch}, "f32"));
    return;
  }
  if (kind == 4) {
    s.hint("argsort");
    const Value order = s.let("order", format("argsort({}, axis=-1{})", x.name, s.chance(60) ? ", descending=true" : ""), x.dims, "i64");
    if (s.chance(50)) return s.output(order);
    const Value p = next(format("log_softmax({}, axis=-1)", x.name));
    return s.output(next(s.chance(50) ? format("take_along_axis({}, {}, axis=-1)", p.name, order.name) : format("gather({}, -1, {})", p.name, order.name)));
  }
  s.hint("minp");
  const Value p = next(format("softmax({}, axis=-1)", x.name));
  const Value best = s.let("best", format("max({}, axis=-1, keepdims=true)", p.name), {batch, "1"}, "f32");
  const Value kept = next(format("where({} {} 0.1 * {}, {}, 0.0)", p.name, s.one_of({">=", ">"}), best.name, p.name));
  s.output(next(format("{0} / sum({0}, axis=-1, keepdims=true)", kept.name)));
}

void loss(Sketch& s) {
  const std::string batch = s.extent("B", "rows");
  const int64_t kind = s.below(14);
  // A mean over a batch says little in half precision.
  const std::string none = s.half() || s.chance(50) ? ", reduction=\"none\"" : "";
  const Extents each = none.empty() ? Extents{} : Extents{batch};
  s.hint("loss");
  if (kind <= 2) {
    const std::string classes = s.extent("C", kind == 0 ? "vocabulary" : "classes");
    const Value x = s.input("x", {batch, s.extent("D", "width")});
    Value z = s.chance(75) ? product(s, s.chance(40) ? norm_rows(s, x) : x, classes, 40) : s.input("z", {batch, classes});
    if (z.spread == 0) {
      z = s.let("z", format("{} + {} @ {}", z.name, x.name, s.input("w", {x.last(), classes}).name), z.dims);
      s.work({batch, x.last(), classes}, s.half());
      z.spread = 5;
    }
    z = to_type(s, scaled(s, z), "f32");
    const Value t = s.input("t", {batch}, "i64", format("index({})", classes));
    s.hint("crossentropy");
    if (kind == 1) {
      const Value logs = s.let("logs", format("log_softmax({}, axis=1)", z.name), z.dims, "f32");
      return s.output(s.let("y", format("nll_loss({}, {}{})", logs.name, t.name, none), each, "f32"));
    }
    if (kind == 2 && s.chance(50)) {
      // A focal loss.
      s.hint("focal");
      const Value ce = s.let("ce", format("cross_entropy({}, {}, reduction=\"none\")", z.name, t.name), {batch}, "f32");
      return s.output(s.let("y", format("(1.0 - exp(-{})) ** 2 * {}", ce.name, ce.name), {batch}, "f32"));
    }
    return s.output(s.let("y", format("cross_entropy({}, {}{}{})", z.name, t.name, s.chance(30) ? ", label_smoothing=0.1" : "", none), each, "f32"));
  }
  const std::string width = s.extent("D", "width");
  if (kind == 3) {
    // Contrastive: every picture against every text.
    s.hint("contrastive");
    const std::string dim = s.extent("E", "width"), few = s.extent("M", "length", 4);
    const Value a = s.input("a", {few, dim}), b = s.input("b", {few, dim});
    const Value na = s.let("na", format("normalize({}, axis=1)", a.name), a.dims), nb = s.let("nb", format("normalize({}, axis=1)", b.name), b.dims);
    s.work({few, few, dim}, s.half());
    const Value scale = s.input("heat", {}, "", "near_one");
    const Value z = s.let("z", format("f32({} @ {}.T * (10.0 * {}))", na.name, nb.name, scale.name), {few, few}, "f32");
    const Value t = s.input("t", {few}, "i64", format("index({})", few));
    const Value w = s.input("w", {batch, dim});
    s.work({batch, few, dim}, s.half());
    s.output(s.let("loss", format("cross_entropy({}, {}, reduction=\"none\") + cross_entropy({}.T, {}, reduction=\"none\")", z.name, t.name, z.name, t.name), {few}, "f32"), "loss");
    return s.output(s.let("queue", format("{} @ {}.T", w.name, na.name), {batch, few}));
  }
  if (kind == 4) {
    // Distillation: the student's distribution against the teacher's.
    s.hint("distillation");
    const std::string classes = s.extent("C", "classes");
    const Value x = s.input("x", {batch, width}), teacher = s.input("teacher", {batch, classes});
    Value z = to_type(s, scaled(s, product(s, x, classes, 40)), "f32");
    const Value logs = s.let("logs", format("log_softmax({} / 2.0, axis=1)", z.name), z.dims, "f32");
    const bool log_target = s.chance(50);
    const Value p = s.let("p", format("{}(f32({}) / 2.0, axis=1)", log_target ? "log_softmax" : "softmax", teacher.name), z.dims, "f32");
    return s.output(s.let("y", format("sum(kl_div({}, {}{}, reduction=\"none\"), axis=1) * 4.0", logs.name, p.name, log_target ? ", log_target=true" : ""), {batch}, "f32"));
  }
  if (kind == 5) {
    s.hint("triplet");
    const std::string dim = s.extent("E", "width");
    const Value w = s.input("w", {dim, width});
    std::vector<Value> ends;
    for (const char* name : {"anchor", "positive", "negative"}) {
      const Value x = s.input(name, {batch, width});
      s.work({batch, width, dim}, s.half());
      ends.push_back(s.let("e", format("linear({}, {}) * 0.03125", x.name, w.name), {batch, dim}));
    }
    return s.output(s.let("y", format("triplet_margin_loss({}, {}, {}, margin=1.0{})", ends[0].name, ends[1].name, ends[2].name, none), each));
  }
  // Regression and classification of every element, behind a product.
  const std::string out = s.extent("O", "width");
  const Value x = s.input("x", {batch, width});
  const Value h = scaled(s, product(s, x, out, 50));
  const Extents all{batch, out};
  const std::string mean_rows = s.chance(60) ? "mean({}, axis=1)" : "{}";
  const Extents left = mean_rows == "{}" ? all : Extents{batch};
  if (kind == 6 || kind >= 11) {
    const Value t = s.input("t", all);
    const std::string_view name = s.one_of({"mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"});
    s.hint(name == "mse_loss" ? "mse" : name == "l1_loss" ? "l1" : "huber");
    return s.output(s.let("y", format(fmt::runtime(mean_rows), format("{}({}, {}, reduction=\"none\")", name, h.name, t.name)), left));
  }
  if (kind == 7 || kind == 8) {
    const Value t = s.input("t", all, "", "sign");
    s.hint("hinge");
    return s.output(s.let("y", format(fmt::runtime(mean_rows), format("hinge_loss({}, {}, reduction=\"none\")", h.name, t.name)), left));
  }
  const Value t = s.input("t", all, "", "unit");
  s.hint("bce");
  if (kind == 9) return s.output(s.let("y", format(fmt::runtime(mean_rows), format("bce_with_logits({}, {}, reduction=\"none\")", h.name, t.name)), left));
  const Value p = s.let("p", format("sigmoid({})", h.name), all);
  s.output(s.let("y", format(fmt::runtime(mean_rows), format("bce_loss({} * 0.98 + 0.01, {}, reduction=\"none\")", p.name, t.name)), left));
}

}  // namespace

Kinds decision_kinds() { return {{"recommender", recommender}, {"retrieval", retrieval}, {"sampler", sampler}, {"loss", loss}}; }

}  // namespace hone::task::drawn
