// Selecting elements, triangles, sorting.
#pragma once
#include "hone/evaluate/baseline/testing/random_shape.h"

namespace hone::evaluate::testing {
namespace index {

inline size_t normal(int64_t axis, size_t rank) {
  return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
}

/// x[a:b:c, ...]: Python's own; or the call with start, extent and step.
inline void slice(Draft& d) {
  const Shape s = shape::any(d, 1, 4);
  std::vector<int64_t> start(s.size()), extent(s.size()), step(s.size());
  std::vector<std::string> parts, python;
  for (size_t i = 0; i < s.size(); ++i) {
    start[i] = d.between(0, s[i] - 1);
    step[i] = d.between(1, 3);
    extent[i] = d.between(1, (s[i] - 1 - start[i]) / step[i] + 1);
    const int64_t end = std::min(s[i], start[i] + (extent[i] - 1) * step[i] + d.between(1, step[i]));
    python.push_back(fmt::format("{}:{}:{}", start[i], end, step[i]));
    std::string text = start[i] == 0 && d.chance() ? "" : std::to_string(start[i]);
    text += ":";
    if (end != s[i] || d.chance()) text += std::to_string(end != s[i] && d.chance(0.3) ? end - s[i] : end);
    if (step[i] != 1 || d.chance(0.2)) text += fmt::format(":{}", step[i]);
    parts.push_back(text);
  }
  const std::string torch = fmt::format("x[{}]", fmt::join(python, ", "));
  if (d.chance(0.3))
    return d.compare(fmt::format("slice(x, {}, {}, {})", list(start), list(extent), list(step)), torch);
  d.compare(fmt::format("x[{}]", fmt::join(parts, ", ")), torch);
}

inline void narrow(Draft& d) {
  const Shape s = shape::any(d, 1, 4);
  const int64_t axis = d.axis(s.size()), extent = s[normal(axis, s.size())];
  const int64_t start = d.between(0, extent - 1), length = d.between(1, extent - start);
  d.compare(fmt::format("narrow(x, {}, {}, {})", axis, start, length),
            fmt::format("torch.narrow(x, {}, {}, {})", axis, start, length));
}

inline void select(Draft& d) {
  const Shape s = shape::any(d, 1, 4);
  const int64_t axis = d.axis(s.size()), extent = s[normal(axis, s.size())],
                i = d.between(-extent, extent - 1);
  d.compare(fmt::format("select(x, {}, {})", axis, i), fmt::format("torch.select(x, {}, {})", axis, i));
}

/// "r0, r1, …"
inline std::string targets(size_t count) {
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i) names.push_back(fmt::format("r{}", i));
  return fmt::format("{}", fmt::join(names, ", "));
}

inline void split(Draft& d) {
  Shape s = d.shape(1, 4);
  const int64_t axis = d.chance(0.2) ? 0 : d.axis(s.size());
  const bool even = d.op() == "chunk" || d.chance(0.4);
  std::vector<int64_t> sizes(static_cast<size_t>(d.between(2, 4)), d.between(1, 3));
  if (!even)
    for (int64_t& size : sizes) size = d.between(1, 3);
  int64_t& extent = s[normal(axis, s.size())] = 0;
  for (const int64_t size : sizes) extent += size;
  d.tensor("x", d.any(), s);
  const std::string where = axis == 0 && d.chance() ? "" : fmt::format(", axis={}", axis);
  const std::string torch = fmt::format("torch.split(x, {}, {})", list(sizes), axis);
  if (d.op() == "chunk")
    return d.compare(targets(sizes.size()), fmt::format("chunk(x, {}{})", sizes.size(), where), torch);
  const std::string given = even && sizes.size() > 1 && d.chance() ? fmt::format("[{}]", sizes[0])
                                                                   : list(sizes);
  d.compare(targets(sizes.size()), fmt::format("split(x, {}{})", given, where), torch);
}

inline void take(Draft& d) {
  const Shape s = shape::any(d, 1, 3);
  const int64_t axis = d.axis(s.size());
  const bool select = d.op() == "index_select", first = normal(axis, s.size()) == 0;
  d.tensor("i", d.whole(), d.shape(select ? 1 : 0, select ? 1 : 3, 4), Domain::kIndex,
           s[normal(axis, s.size())]);
  const std::string torch = fmt::format("take(x, i, {})", axis);
  if (select) return d.compare(fmt::format("index_select(x, {}, i)", axis), torch);
  if (first && d.chance(0.4)) return d.compare("x[i]", torch);
  d.compare(first && d.chance() ? "take(x, i)" : fmt::format("take(x, i, axis={})", axis), torch);
}

inline void embedding(Draft& d) {
  const int64_t rows = d.extent(9);
  d.tensor("i", d.whole(), d.shape(0, 3, 4), Domain::kIndex, rows);
  d.tensor("w", d.real(), {rows, d.extent(9)});
  d.compare("embedding(i, w)", "w[i.long()]");
}

inline void along(Draft& d) {
  const Shape s = shape::any(d, 1, 4);
  const int64_t axis = d.axis(s.size());
  Shape picked = s;
  picked[normal(axis, s.size())] = d.extent(6);
  d.tensor("i", d.whole(), picked, Domain::kIndex, s[normal(axis, s.size())]);
  const std::string torch = fmt::format("torch.gather(x, {}, i.long())", axis);
  d.compare(d.op() == "gather" ? fmt::format("gather(x, {}, i)", axis)
                               : fmt::format("take_along_axis(x, i, axis={})", axis),
            torch);
}

inline void one_hot(Draft& d) {
  const int64_t classes = d.extent(7);
  d.tensor("i", d.whole(), d.shape(0, 3, 4), Domain::kIndex, classes);
  std::string type;
  const std::string option = shape::type_option(d, type, "i64");
  d.keep_types();
  d.compare(fmt::format("one_hot(i, {}{})", classes, option),
            fmt::format("(i.unsqueeze(-1) == torch.arange({})).to({})", classes, type));
}

inline void triangle(Draft& d) {
  shape::any(d, 2, 4);
  const int64_t k = d.between(-4, 4);
  const std::string kept = d.op() == "triu" ? "j - i >= k" : "j - i <= k";
  d.before(fmt::format("k = {}", k));
  d.before("i, j = torch.arange(x.shape[-2]).reshape(-1, 1), torch.arange(x.shape[-1])");
  d.compare(k == 0 && d.chance() ? fmt::format("{}(x)", d.op())
                                 : fmt::format("{}(x, {}{})", d.op(), d.chance() ? "" : "k=", k),
            fmt::format("torch.where({}, x, torch.zeros((), dtype=x.dtype))", kept));
}

inline void diag(Draft& d) {
  shape::any(d, 1, 1);
  d.compare("diag(x)", "torch.diag(x)");
}
inline void diagonal(Draft& d) {
  shape::any(d, 2, 4);
  d.compare("diagonal(x)", "torch.diagonal(x, 0, -2, -1)");
}

/// Order statistics, with ties in most families of inputs.
inline void sort(Draft& d) {
  const Shape s = d.shape(1, 4);
  d.tensor("x", d.numeric(), s);
  const int64_t axis = d.chance(0.3) ? -1 : d.axis(s.size());
  const bool descending = d.chance();
  std::string hone = d.op() + "(x";
  if (axis != -1 || d.chance()) hone += fmt::format(", axis={}", axis);
  if (descending) hone += ", descending=True";
  d.compare(hone + ")", fmt::format("torch.{}(x, dim={}, descending={}, stable=True){}", d.op(), axis,
                                    Draft::word(descending), d.op() == "sort" ? ".values" : ""));
}

inline void topk(Draft& d) {
  const Shape s = d.shape(1, 4);
  d.tensor("x", d.numeric(), s);
  const int64_t axis = d.chance(0.3) ? -1 : d.axis(s.size()), k = d.between(1, s[normal(axis, s.size())]);
  const bool largest = d.chance(0.6);
  std::string hone = fmt::format("topk(x, {}", k);
  if (axis != -1 || d.chance()) hone += fmt::format(", axis={}", axis);
  if (!largest) hone += ", largest=False";
  d.compare("r0, r1", hone + ")", fmt::format("torch.topk(x, {}, {}, {})", k, axis, Draft::word(largest)));
}

inline void scatter(Draft& d) {
  const DType type = d.real();
  const Shape x = d.shape(1, 4);
  const int64_t axis = d.axis(x.size());
  const size_t at = normal(axis, x.size());
  Shape source = x;
  source[at] = d.extent(9);
  const bool slices = d.op() == "index_add";
  d.tensor("x", type, x);
  d.tensor("s", type, source);
  d.tensor("i", d.whole(), slices ? Shape{source[at]} : source, Domain::kIndex, x[at]);
  const bool extreme = d.op() == "scatter_max" || d.op() == "scatter_min";
  const std::string torch = extreme ? "scatter_reduce" : std::string(d.op()), how = extreme ? fmt::format(", 'a{}'", d.op().substr(8)) : "";
  d.compare(fmt::format("{}(x, {}, i, s)", d.op(), axis), fmt::format("torch.{}(x, {}, i.long(), s{})", torch, axis, how));
}

inline constexpr Generator kRows[] = {
    {"slice", slice},           {"narrow", narrow}, {"select", select},     {"split", split},
    {"chunk", split},           {"take", take},     {"index_select", take}, {"embedding", embedding},
    {"take_along_axis", along}, {"gather", along},  {"one_hot", one_hot},   {"triu", triangle},
    {"tril", triangle},         {"diag", diag},     {"diagonal", diagonal}, {"sort", sort},
    {"argsort", sort},          {"topk", topk},     {"scatter_add", scatter}, {"index_add", scatter},
    {"scatter_max", scatter},   {"scatter_min", scatter},
};

}  // namespace index
}  // namespace hone::evaluate::testing
