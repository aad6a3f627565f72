// Picking by indices, and order.
#include <algorithm>

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

/// x[:, i] and x[:, i, j]: with several tensors their axes are one, and i * extent + j picks from it.
Written indexed(const Site& site, std::string_view detail) {
  const Argument::List& indices = site.list("indices");
  const task::Shape& from = site.type_of("self").shape;
  task::Shape shape(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(std::min(from.size(), indices.size())));
  size_t first = indices.size(), last = 0;
  std::string text;
  int64_t picked = 1;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (indices[i].is_none()) continue;
    if (first == indices.size()) first = i;
    else if (last + 1 != i) return no_word(site, "with tensors of indices that are apart");
    last = i;
    const Ref* ref = indices[i].ref();
    std::string index = site.term(indices[i]);
    if (detail != "from 0" && (ref == nullptr || !never_negative(site.program(), ref->node))) index = fmt::format("{} % {}", index, from.at(i));
    text = text.empty() ? index : fmt::format("({}) * {} + ({})", text, from.at(i), index);
    picked *= from.at(i);
  }
  if (text.empty()) return written(site.text("self"));
  if (last == first) return written(fmt::format("take({}, {}, axis={})", site.text("self"), text, first));
  shape.assign(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(first));
  shape.push_back(picked);
  shape.insert(shape.end(), from.begin() + static_cast<std::ptrdiff_t>(last) + 1, from.end());
  return written(fmt::format("take(reshape({}, {}), {}, axis={})", site.text("self"), list_text(shape), text, first));
}

Written sorted(const Site& site, std::string_view) {
  const std::string arguments = fmt::format("{}, axis={}, descending={}", site.text("self"), site.axis("dim", "self", -1), site.flag("descending"));
  return std::vector<std::string>{fmt::format("sort({})", arguments), fmt::format("argsort({})", arguments)};
}

/// In order or not: the language gives them in order, which is one of the orders that PyTorch may give. So it is with equal elements.
Written best(const Site& site, std::string_view) {
  const auto first = [&](std::string_view operation) {
    return fmt::format("narrow({0}({1}, axis={2}, descending={3}), {2}, 0, {4})", operation, site.text("self"), site.axis("dim", "self", -1), site.flag("largest"), site.integer("k", 1));
  };
  return std::vector<std::string>{first("sort"), first("argsort")};
}

Written order(const Site& site, std::string_view) {
  return written(fmt::format("argsort({}, axis={}, descending={})", site.text("self"), site.axis("dim", "self", -1), site.flag("descending")));
}

/// A few elements put in one after another, the last one where several have the same place. More would cost more than a kernel of its own.
Written put(const Site& site, std::string_view) {
  constexpr int64_t kFew = 8;
  const task::Shape &into = site.type_of("self").shape, &index = site.type_of("index").shape;
  if (into.empty()) return no_word(site, "of one number");
  if (site.has("reduce")) return no_word(site, "with a reduction");
  const auto axis = static_cast<size_t>(site.axis("dim", "self", 0));
  for (size_t i = 0; i < into.size(); ++i)
    if (i != axis && into.at(i) != index.at(i)) return no_word(site, "with fewer indices than elements along other axes");
  if (index.at(axis) > kFew) return no_word(site, "of many elements");
  const std::string_view given = site.has("src") ? "src" : "value";
  const Argument* value = site.node().find(given);
  const bool is_tensor = value != nullptr && value->ref() != nullptr && !site.type_of(given).shape.empty();
  std::string text = site.text("self");
  for (int64_t i = 0; i < index.at(axis); ++i) {
    const auto one = [&](std::string_view name) { return fmt::format("narrow({}, {}, {}, 1)", site.text(name), axis, i); };
    text = fmt::format("where(iota({}, {}) == {}, {}, {})", list_text(into), axis, one("index"), is_tensor ? one(given) : site.text(given), text);
  }
  return written(std::move(text));
}

/// Bags of as many elements each: where they begin is counted.
Written bagged(const Site& site, std::string_view) {
  const Argument* offsets = site.node().find("offsets");
  const Node* begins = offsets == nullptr || offsets->ref() == nullptr ? nullptr : &site.program().nodes[static_cast<size_t>(offsets->ref()->node)];
  const task::Shape& index = site.type_of("indices").shape;
  if (begins == nullptr || begins->op != "aten.arange.start_step" || index.size() != 1) return no_word(site, "of bags whose sizes are no constant");
  const auto integer = [&](std::string_view name, int64_t fallback) {
    const Argument* value = begins->find(name);
    return value == nullptr ? fallback : value->integer().value_or(-1);
  };
  const int64_t bags = begins->type().shape.at(0), each = bags > 0 ? index[0] / bags : 0;
  if (integer("start", 0) != 0 || integer("step", 1) != each || bags * each != index[0] || each == 0) return no_word(site, "of bags whose sizes are no constant");
  if (site.integer("padding_idx", -1) >= 0 || site.flag("include_last_offset")) return no_word(site, "with what is left out");
  std::string text = fmt::format("embedding(reshape({}, [{}, {}]), {})", site.text("indices"), bags, each, site.text("weight"));
  if (site.has("per_sample_weights")) text += fmt::format(" * reshape({}, [{}, {}, 1])", site.text("per_sample_weights"), bags, each);
  constexpr std::string_view kModes[] = {"sum", "mean", "max"};
  const int64_t mode = site.integer("mode", 0);
  if (mode < 0 || mode > 2) return no_word(site, "of an unknown mode");
  return std::vector<std::string>{fmt::format("{}({}, axis=1)", kModes[mode], text), "", "", ""};
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
    {"aten.index.Tensor", indexed}, {"aten._unsafe_index.Tensor", indexed, "from 0"},
    {"aten.take_along_dim.default", taken_along},
    {"aten.scatter_add.default", scattered},
    {"aten.scatter.src", put},
    {"aten.scatter.value", put},
    {"aten.embedding_bag.default", bagged},
    {"aten.embedding_bag.padding_idx", bagged},
    {"aten.index_add.default", added_by_index},
    {"aten.topk.default", best, {}, false, true},
    {"aten.sort.default", sorted, {}, false, true},
    {"aten.sort.stable", sorted, {}, false, true},
    {"aten.argsort.default", order, {}, false, true},
    {"aten.argsort.stable", order, {}, false, true},
};

}  // namespace

std::span<const Row> index_rows() { return kIndices; }

bool never_negative(const Program& program, int id) {
  const Node& node = program.nodes[static_cast<size_t>(id)];
  const auto never = [&](std::initializer_list<std::string_view> arguments) {
    return std::all_of(arguments.begin(), arguments.end(), [&](std::string_view name) {
      const Argument* value = node.find(name);
      if (value == nullptr) return false;
      return value->ref() != nullptr ? never_negative(program, value->ref()->node) : value->number().value_or(-1) >= 0;
    });
  };
  if (node.is_input()) return node.largest.has_value();
  const auto name = [](const Node& of) { return std::string_view(of.op).substr(0, of.op.rfind('.')); };
  const auto is_one_of = [](std::string_view op, std::initializer_list<std::string_view> all) { return std::find(all.begin(), all.end(), op) != all.end(); };
  if (is_tuple_part(node))  // of values and where they were
    return node.find("index")->integer() == 1 && is_one_of(name(program.nodes[static_cast<size_t>(node.find("source")->ref()->node)]), {"aten.topk", "aten.sort", "aten.max", "aten.min", "aten.kthvalue"});
  const std::string_view op = name(node);
  if (is_one_of(op, {"aten.argmax", "aten.argmin", "aten.argsort"})) return true;
  if (op == "aten.arange") return (node.find("start") == nullptr || never({"start"})) && (node.find("step") == nullptr || never({"step"}));
  if (op == "aten.clamp" || op == "aten.clamp_min") return never({"min"});
  if (op == "aten.remainder") return never({"other"});
  if (op == "aten.add" || op == "aten.mul" || op == "aten.floor_divide" || op == "aten.where") return never({"self", "other"});
  return is_one_of(op, {"aten._to_copy", "aten.to", "aten.reshape", "aten.view", "aten.unsqueeze", "aten.squeeze", "aten.expand", "aten.permute", "aten.transpose", "aten.t", "aten.slice", "aten.select",
                        "aten.flatten", "aten.clone", "aten.repeat", "aten.flip", "aten.roll"}) &&
         never({"self"});
}

}  // namespace hone::program
