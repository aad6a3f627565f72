// Picking by indices, and order.
#include <fmt/format.h>

#include "hone/program/aten.h"

namespace hone::program {
namespace {

Written embedded(const Site& site, std::string_view) { return written(fmt::format("embedding({}, {})", site.text("indices"), site.text("weight"))); }

Written taken(const Site& site, std::string_view) {
  return written(fmt::format("take({}, {}, axis={})", site.text("self"), site.text("index"), site.axis("dim", "self", 0)));
}

Written gathered(const Site& site, std::string_view) {
  const task::Shape &from = site.type_of("self").shape, &index = site.type_of("index").shape;
  const int64_t axis = site.axis("dim", "self", 0);
  for (size_t i = 0; i < from.size(); ++i)
    if (static_cast<int64_t>(i) != axis && from.at(i) != index.at(i)) return no_word(site, "with fewer indices than elements along other axes");
  return written(fmt::format("take_along_axis({}, {}, axis={})", site.text("self"), site.text("index"), axis));
}

Written taken_along(const Site& site, std::string_view) {
  if (!site.has("dim")) return no_word(site, "without dim");
  const task::Shape &from = site.type_of("self").shape, &index = site.type_of("indices").shape;
  const int64_t axis = site.axis("dim", "self", 0);
  for (size_t i = 0; i < from.size(); ++i)
    if (static_cast<int64_t>(i) != axis && from.at(i) != index.at(i)) return no_word(site, "with indices that broadcast");
  return written(fmt::format("take_along_axis({}, {}, axis={})", site.text("self"), site.text("indices"), axis));
}

/// x[:, indices]
Written indexed(const Site& site, std::string_view) {
  const Argument::List& indices = site.list("indices");
  int found = -1;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (indices[i].is_none()) continue;
    if (found >= 0) return no_word(site, "with several tensors of indices");
    found = static_cast<int>(i);
  }
  if (found < 0) return written(site.text("self"));
  const Argument& index = indices[static_cast<size_t>(found)];
  return written(fmt::format("take({}, {}, axis={})", site.text("self"), site.term(index), found));
}

Written sorted(const Site& site, std::string_view) {
  const int64_t axis = site.axis("dim", "self", -1);
  const std::string arguments = fmt::format("{}, axis={}, descending={}", site.text("self"), axis, site.flag("descending"));
  return std::vector<std::string>{fmt::format("sort({})", arguments), site.flag("stable") ? fmt::format("argsort({})", arguments) : std::string()};
}

/// In order or not: the language gives them in order, which is one of the orders that PyTorch may give.
Written best(const Site& site, std::string_view) {
  if (!site.flag("sorted")) return no_word(site, "without an order");
  return std::vector<std::string>{fmt::format("narrow(sort({0}, axis={1}, descending={2}), {1}, 0, {3})", site.text("self"), site.axis("dim", "self", -1), site.flag("largest"), site.integer("k", 1)), ""};
}

Written scattered(const Site& site, std::string_view) {
  const task::Shape &to = site.type_of("self").shape, &index = site.type_of("index").shape, &source = site.type_of("src").shape;
  const int64_t axis = site.axis("dim", "self", 0);
  for (size_t i = 0; i < to.size(); ++i)
    if (index.at(i) != source.at(i) || (static_cast<int64_t>(i) != axis && to.at(i) != index.at(i))) return no_word(site, "of a part of what is added, or to a part of a tensor");
  return written(fmt::format("scatter_add({}, {}, {}, {})", site.text("self"), axis, site.text("index"), site.text("src")));
}

Written added_by_index(const Site& site, std::string_view) {
  const double alpha = site.number("alpha", 1);
  return written(fmt::format("index_add({}, {}, {}, {}{})", site.text("self"), site.axis("dim", "self", 0), site.text("index"), site.text("source"),
                             alpha == 1 ? "" : " * " + number_text(alpha)));
}

constexpr Row kIndices[] = {
    {"aten.embedding.default", embedded},
    {"aten.index_select.default", taken},
    {"aten.gather.default", gathered},
    {"aten.index.Tensor", indexed}, {"aten._unsafe_index.Tensor", indexed},
    {"aten.take_along_dim.default", taken_along},
    {"aten.scatter_add.default", scattered},
    {"aten.index_add.default", added_by_index},
    {"aten.topk.default", best},
    {"aten.sort.default", sorted},
    {"aten.sort.stable", sorted},
};

}  // namespace

std::span<const Row> index_rows() { return kIndices; }

}  // namespace hone::program
