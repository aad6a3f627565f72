// Operations that select elements: slices, gathers, triangles, sorting.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "hone/evaluate/baseline/pytorch_emit.h"

namespace hone::evaluate {
namespace {

/// x[...] with the given subscript: a view; one that cuts the first axis only is dense.
Term subscripted(const Site& site, std::string_view subscript, bool dense) {
  Term term = call_term(fmt::format("{}[{}]", bracket(site.operand(0), Binding::kPrimary), subscript));
  term.alias = site.operand(0).alias;
  term.strided = !dense;
  return term;
}

Result<Term> slice(const Site& site, std::string_view) {
  const std::vector<int64_t> shape = site.shape(0), start = site.integers("start"),
                             extent = site.integers("extent"), step = site.integers("step");
  std::vector<std::string> parts;
  size_t used = 1;
  bool dense = step[0] == 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (extent[i] == shape[i]) {
      parts.emplace_back(":");
      continue;
    }
    used = i + 1;
    if (i > 0) dense = false;
    std::string part = start[i] == 0 ? ":" : fmt::format("{}:", start[i]);
    if (start[i] + extent[i] * step[i] < shape[i])
      part += std::to_string(start[i] + (extent[i] - 1) * step[i] + 1);
    if (step[i] != 1) part += fmt::format(":{}", step[i]);
    parts.push_back(std::move(part));
  }
  parts.resize(used);
  return subscripted(site, fmt::format("{}", fmt::join(parts, ", ")), dense);
}

/// One axis from `start` to `end`.
Term narrowed(const Site& site, int64_t axis, int64_t start, int64_t length) {
  std::string subscript;
  for (int64_t i = 0; i < axis; ++i) subscript += ":, ";
  if (axis != 0 && axis == site.rank(0) - 1) subscript = "..., ";
  const bool to_end = start + length == site.shape(0)[static_cast<size_t>(axis)];
  subscript += fmt::format("{}:{}", start == 0 ? "" : std::to_string(start),
                           to_end ? "" : std::to_string(start + length));
  return subscripted(site, subscript, axis == 0);
}

Result<Term> narrow(const Site& site, std::string_view) {
  return narrowed(site, site.integer("axis"), site.integer("start"), site.integer("length"));
}

/// One part of split or chunk: a view, so that taking the parts one by one costs nothing more.
Result<Term> part(const Site& site, std::string_view) {
  const int64_t axis = site.integer("axis");
  return narrowed(site, axis, site.integer("start"), site.result_shape()[static_cast<size_t>(axis)]);
}

Result<Term> select(const Site& site, std::string_view) {
  const int64_t axis = site.integer("axis");
  std::string subscript;
  for (int64_t i = 0; i < axis; ++i) subscript += ":, ";
  return subscripted(site, subscript + std::to_string(site.integer("index")), axis == 0);
}

/// Operand i as indices: int64, or int32 where that will do.
Term indices(const Site& site, size_t i, bool narrow_too) {
  const task::DType type = site.type(i).dtype;
  if (type == task::DType::kI64 || (narrow_too && type == task::DType::kI32)) return site.operand(i);
  return call_term(bracket(site.operand(i), Binding::kPrimary) + ".to(torch.int64)");
}

Result<Term> take(const Site& site, std::string_view) {
  const Term index = indices(site, 1, true);
  const int64_t axis = site.axis("axis");
  if (site.rank(1) == 1)
    return call_term(fmt::format("torch.index_select({}, {}, {})", site.argument(0), axis, index.text));
  if (site.rank(1) > 1 && site.rank(0) == 2 && axis == 0)
    return call_term(fmt::format("F.embedding({}, {})", index.text, site.argument(0)));
  return call_term(fmt::format("torch.index_select({}, {}, {}.flatten()).reshape({})", site.argument(0), axis,
                               bracket(index, Binding::kPrimary), extents(site.result_shape())));
}

Result<Term> embedding(const Site& site, std::string_view) {
  return call_term(fmt::format("F.embedding({}, {})", indices(site, 0, true).text, site.argument(1)));
}

Result<Term> gather(const Site& site, std::string_view) {
  return call_term(fmt::format("torch.gather({}, {}, {})", site.argument(0), site.axis("axis"),
                               indices(site, 1, false).text));
}

/// detail: the method, or how scatter_reduce reduces.
Result<Term> scatter(const Site& site, std::string_view detail) {
  const bool extreme = detail == "amax" || detail == "amin";
  const Term x = site.in_result_type(0), source = site.in_result_type(2);
  const bool narrow = task::is_float(site.node().type.dtype) && task::size_of(site.node().type.dtype) == 2;
  const auto wide = [&](const Term& term) { return narrow ? bracket(term, Binding::kPrimary) + ".float()" : term.text; };
  return call_term(fmt::format("torch.{}({}, {}, {}, {}{}){}", extreme ? "scatter_reduce" : detail, wide(x), site.axis("axis"), indices(site, 1, false).text, wide(source), extreme ? fmt::format(", \"{}\"", detail) : "",
                               narrow ? fmt::format(".to(torch.{})", task::numpy_name_of(site.node().type.dtype)) : ""));
}

Result<Term> one_hot(const Site& site, std::string_view) {
  Term term = call_term(
      fmt::format("F.one_hot({}, num_classes={})", indices(site, 0, false).text, site.integer("classes")));
  if (site.node().type.dtype != task::DType::kI64)
    term.text += fmt::format(".to(torch.{})", task::numpy_name_of(site.node().type.dtype));
  return term;
}

/// detail: the function.
Result<Term> triangle(const Site& site, std::string_view detail) {
  const int64_t k = site.integer("k");
  return call_term(
      fmt::format("{}({}{})", detail, site.tensor(0), k == 0 ? "" : fmt::format(", diagonal={}", k)));
}

Result<Term> diag(const Site& site, std::string_view) {
  return call_term(fmt::format("torch.diag({})", site.tensor(0)));
}

Result<Term> diagonal(const Site& site, std::string_view) {
  Term term = call_term(fmt::format("torch.diagonal({}, dim1=-2, dim2=-1)", site.tensor(0)));
  term.alias = site.operand(0).alias;
  term.strided = true;
  return term;
}

Result<Term> sort(const Site& site, std::string_view) {
  return call_term(fmt::format("torch.sort({}, dim={}{}).values", site.tensor(0), site.axis("axis"),
                               site.flag("descending") ? ", descending=True" : ""));
}

Result<Term> argsort(const Site& site, std::string_view) {
  return call_term(fmt::format("torch.argsort({}, dim={}{}, stable=True)", site.tensor(0), site.axis("axis"),
                               site.flag("descending") ? ", descending=True" : ""));
}

Result<Term> topk(const Site& site, std::string_view) {
  return call_term(fmt::format("torch.topk({}, {}, dim={}{})", site.tensor(0), site.integer("k"),
                               site.axis("axis"), site.flag("largest") ? "" : ", largest=False"));
}

constexpr std::string_view kValuesAndIndices[] = {"values", "indices"};

constexpr WriterRow kIndexWriters[] = {
    {"slice", slice},
    {"narrow", narrow},
    {"select", select},
    {"split", part},
    {"chunk", part},
    {"take", take},
    {"index_select", take},
    {"embedding", embedding},
    {"take_along_axis", gather},
    {"gather", gather},
    {"scatter_add", scatter, "scatter_add"},
    {"index_add", scatter, "index_add"},
    {"scatter_max", scatter, "amax"},
    {"scatter_min", scatter, "amin"},
    {"one_hot", one_hot},
    {"triu", triangle, "torch.triu"},
    {"tril", triangle, "torch.tril"},
    {"diag", diag},
    {"diagonal", diagonal},
    {"sort", sort},
    {"argsort", argsort},
    {"topk", topk, {}, kValuesAndIndices},
};

}  // namespace

std::span<const WriterRow> index_writers() { return kIndexWriters; }

}  // namespace hone::evaluate
