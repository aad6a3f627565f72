// Matrix products, einsum and attention.
#pragma once
#include "hone/evaluate/baseline/testing/random_case.h"

namespace hone::evaluate::testing {
namespace product {

/// Operands of a matrix product: matrices, or vectors, or batches that broadcast.
inline void operands(Draft& d, const char* a, const char* b, bool vectors, DType type) {
  const int64_t m = d.extent(7), k = d.chance(0.1) ? d.between(20, 90) : d.extent(7), n = d.extent(7);
  const int64_t how = d.between(0, vectors ? 5 : 2);
  Shape left{m, k}, right{k, n};
  if (how == 1 || how == 2) {
    const Shape batch = d.shape(0, 2, 3);
    const Shape x = d.part_of(batch), y = x == batch ? d.part_of(batch) : batch;
    left.insert(left.begin(), x.begin(), x.end());
    right.insert(right.begin(), y.begin(), y.end());
  }
  if (how == 3 || how == 5) left = {k};
  if (how == 4 || how == 5) right = {k};
  d.tensor(a, type, left);
  d.tensor(b, type, right);
}

inline void matmul(Draft& d) {
  operands(d, "x", "y", true, d.numeric());
  d.compare(d.chance() ? "x @ y" : "matmul(x, y)", "x @ y");
}

inline void bmm(Draft& d) {
  const DType type = d.numeric();
  const int64_t b = d.extent(), m = d.extent(7), k = d.extent(9), n = d.extent(7);
  d.tensor("x", type, {b, m, k});
  d.tensor("y", type, {b, k, n});
  d.compare("bmm(x, y)", "torch.einsum('bik,bkj->bij', x, y)");
}

inline void linear(Draft& d) {
  const DType type = d.real();
  Shape shape = d.shape(1, 4);
  const int64_t out = d.extent(7);
  d.tensor("x", type, shape);
  d.tensor("w", type, {out, shape.back()});
  const bool bias = d.chance();
  if (bias) d.tensor("b", type, {out});
  d.compare(bias ? "linear(x, w, b)" : "linear(x, w)", bias ? "x @ w.T + b" : "x @ w.T");
}

inline void addmm(Draft& d) {
  const DType type = d.real();
  const int64_t m = d.extent(), k = d.extent(9), n = d.extent();
  Shape result{m, n}, left{m, k}, right{k, n};
  if (d.chance(0.4)) {
    const int64_t batch = d.extent(3);
    for (Shape* shape : {&result, &left, &right}) shape->insert(shape->begin(), batch);
  }
  d.tensor("x", type, d.part_of(result));
  d.tensor("a", type, left);
  d.tensor("b", type, right);
  std::string beta = "1", alpha = "1", hone = d.name() + "(x, a, b";
  if (d.chance()) hone += ", beta=" + (beta = d.number(-2, 2));
  if (d.chance()) hone += ", alpha=" + (alpha = d.number(-2, 2));
  d.compare(hone + ")", fmt::format("{} * x + {} * (a @ b)", beta, alpha));
}

inline void outer(Draft& d) {
  const DType type = d.numeric();
  d.tensor("x", type, {d.extent(20)});
  d.tensor("y", type, {d.extent(20)});
  d.compare("outer(x, y)", "x.reshape(-1, 1) * y");
}

inline void vecdot(Draft& d) {
  const DType type = d.numeric();
  const Shape shape = d.shape(1, 4);
  const bool swap = d.chance(0.3);
  d.tensor("x", type, swap ? d.part_of(shape) : shape);
  d.tensor("y", type, swap ? shape : d.part_of(shape));
  const int64_t axis = d.axis(shape.size());
  const bool given = axis != -1 || d.chance();
  d.compare(given ? fmt::format("vecdot(x, y, axis={})", axis) : "vecdot(x, y)",
            fmt::format("(x * y).sum({})", axis));
}

/// One to three operands over a few letters, sometimes with leading dimensions that all share.
inline void einsum(Draft& d) {
  const DType type = d.numeric();
  const std::string letters = "abcde";
  std::vector<int64_t> extents;
  for (size_t i = 0; i < letters.size(); ++i) extents.push_back(d.extent(4));
  const int64_t count = d.between(1, 3);
  const Shape leading = d.chance(0.25) ? d.shape(1, 2, 3) : Shape{};
  std::string spec, used;
  std::vector<std::string> names;
  for (int64_t i = 0; i < count; ++i) {
    const std::string name(1, static_cast<char>('x' + i));
    Shape shape = leading;
    if (i > 0) spec += ",";
    if (!leading.empty()) spec += "...";
    std::vector<int64_t> order = d.permutation(letters.size());
    order.resize(static_cast<size_t>(d.between(leading.empty() ? 1 : 0, 3)));
    for (const int64_t k : order) {
      const char letter = letters[static_cast<size_t>(k)];
      spec += letter;
      if (used.find(letter) == std::string::npos) used += letter;
      shape.push_back(extents[static_cast<size_t>(k)]);
    }
    d.tensor(name, type, shape);
    names.push_back(name);
  }
  if (d.chance(0.8)) {
    spec += leading.empty() ? "->" : "->...";
    for (const int64_t k : d.permutation(used.size()))
      if (d.chance(0.6)) spec += used[static_cast<size_t>(k)];
  }
  const std::string operands = fmt::format("{}", fmt::join(names, ", "));
  d.compare(fmt::format("einsum(\"{}\", {})", spec, operands),
            fmt::format("torch.einsum('{}', [integers(v) for v in ({},)])", spec, operands));
}

inline void attention(Draft& d) {
  const DType type = d.real();
  const int64_t queries = d.extent(6), keys = d.extent(6), features = d.extent(6), values = d.extent(6);
  Shape batch = d.shape(0, 2, 3);
  Shape heads = batch;
  if (!batch.empty() && d.chance(0.4)) heads.back() *= d.between(2, 3);
  const auto with = [](Shape shape, int64_t a, int64_t b) {
    shape.insert(shape.end(), {a, b});
    return shape;
  };
  d.tensor("q", type, with(heads, queries, features));
  d.tensor("k", type, with(batch, keys, features));
  d.tensor("v", type, with(batch, keys, values));
  std::string hone = d.name() + "(q, k, v", mask = "None", scale = "None";
  const bool causal = d.chance(0.4);
  if (d.chance(0.5)) {
    const bool truth = d.chance();
    const Shape shape = d.part_of(with(heads, queries, keys));
    d.tensor("m", truth ? DType::kBool : type, shape);
    // A query that may see no key has no answer: with m at key 0 true there is always one.
    mask = truth ? "m | (torch.arange(m.shape[-1]) == 0)" : "m";
    hone += truth ? fmt::format(", mask=m | (arange({}) == 0)", shape.empty() ? 1 : shape.back()) : ", m";
    if (shape.empty() && truth) mask = "m | True";
  }
  if (causal) hone += ", causal=True";
  if (d.chance(0.4)) hone += ", scale=" + (scale = d.number(0.05, 2));
  if (heads != batch && d.chance()) hone += ", enable_gqa=True";
  d.compare(hone + ")", fmt::format("attention(q, k, v, {}, {}, {})", mask, Draft::word(causal), scale));
}

inline constexpr Generator kRows[] = {
    {"matmul", matmul}, {"bmm", bmm},       {"linear", linear}, {"addmm", addmm},
    {"outer", outer},   {"vecdot", vecdot}, {"einsum", einsum},
};
inline constexpr Generator kAttentionRows[] = {{"attention", attention}};

}  // namespace product
}  // namespace hone::evaluate::testing
