// Picking by indices, and order.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "hone/program/aten.h"

namespace hone::program {
namespace {

Written embedded(const Site& site, std::string_view) { return written(fmt::format("embedding({}, {})", site.text("indices"), site.text("weight"))); }

Written taken(const Site& site, std::string_view) {
  return written(fmt::format("take({}, {}, axis={})", site.text("self"), site.text("index"), site.axis("dim", "self", 0)));
}

/// Along other axes than that of the indices there may be fewer of them than elements.
Written gathered(const Site& site, std::string_view) {
  const task::Shape &from = site.type_of("self").shape, &index = site.type_of("index").shape;
  if (from.empty()) return no_word(site, "of one number");
  const int64_t axis = site.axis("dim", "self", 0);
  std::string text = site.text("self");
  for (size_t i = 0; i < from.size(); ++i)
    if (static_cast<int64_t>(i) != axis && from[i] != index.at(i)) text = fmt::format("narrow({}, {}, 0, {})", text, i, index[i]);
  return written(fmt::format("take_along_axis({}, {}, axis={})", text, site.text("index"), axis));
}

/// Indices and elements broadcast against each other, but for the axis.
Written taken_along(const Site& site, std::string_view) {
  if (!site.has("dim")) return no_word(site, "without dim");
  const auto axis = static_cast<size_t>(site.axis("dim", "self", 0));
  task::Shape from = site.type_of("self").shape, index = site.type_of("indices").shape;
  std::string self = site.text("self"), indices = site.text("indices");
  for (size_t i = 0; i < from.size(); ++i)
    if (i != axis) from[i] = index.at(i) = std::max(from[i], index.at(i));
  if (from != site.type_of("self").shape) self = fmt::format("broadcast_to({}, {})", self, list_text(from));
  if (index != site.type_of("indices").shape) indices = fmt::format("broadcast_to({}, {})", indices, list_text(index));
  return written(fmt::format("take_along_axis({}, {}, axis={})", self, indices, axis));
}

/// Of all elements in a row.
Written taken_of_all(const Site& site, std::string_view) {
  const int64_t count = task::element_count(site.type_of("self").shape);
  const Ref* index = site.node().find("index") == nullptr ? nullptr : site.node().find("index")->ref();
  const bool from_0 = index != nullptr && never_negative(site.program(), index->node);
  return written(fmt::format("take(reshape({}, [{}]), {}{}, axis=0)", site.text("self"), count, site.text("index"), from_0 ? "" : fmt::format(" % {}", count)));
}

/// x[:, i] and x[:, i, j]: with several tensors their axes are one, and i * extent + j picks from it. Where they are apart, their axes go to the front.
Written indexed(const Site& site, std::string_view detail) {
  const Argument::List& indices = site.list("indices");
  task::Shape from = site.type_of("self").shape;
  std::vector<int64_t> order;   // of axes: those that are indexed in a row, at `first`
  size_t first = 0, last = 0;
  std::string text, self = site.text("self");
  int64_t picked = 1;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (indices[i].is_none()) continue;
    if (order.empty()) first = i;
    last = i;
    order.push_back(static_cast<int64_t>(i));
    const Ref* ref = indices[i].ref();
    std::string index = site.term(indices[i]);
    if (detail != "from 0" && (ref == nullptr || !never_negative(site.program(), ref->node))) index = fmt::format("{} % {}", index, from.at(i));
    text = text.empty() ? index : fmt::format("({}) * {} + ({})", text, from.at(i), index);
    picked *= from.at(i);
  }
  if (text.empty()) return written(std::move(self));
  const size_t count = order.size();
  if (count == 1) return written(fmt::format("take({}, {}, axis={})", self, text, first));
  if (last + 1 != first + count) {
    for (size_t i = 0; i < from.size(); ++i)
      if (i >= indices.size() || indices[i].is_none()) order.push_back(static_cast<int64_t>(i));
    task::Shape moved;
    for (const int64_t axis : order) moved.push_back(from.at(static_cast<size_t>(axis)));
    self = fmt::format("permute({}, {})", self, list_text(order));
    from = std::move(moved);
    first = 0;
  }
  task::Shape shape(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(first));
  shape.push_back(picked);
  shape.insert(shape.end(), from.begin() + static_cast<std::ptrdiff_t>(first + count), from.end());
  return written(fmt::format("take(reshape({}, {}), {}, axis={})", self, list_text(shape), text, first));
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

/// Of what is put in order along `dim`, or of all elements: the text in order, and the axis.
struct Ordered {
  std::string from;
  int64_t axis = 0, extent = 1;
  [[nodiscard]] std::string at(std::string_view operation, int64_t place) const { return fmt::format("select({}({}, axis={}), {}, {})", operation, from, axis, axis, place); }
  /// `text`, or what stands for it where any element is NaN: those are last in order.
  [[nodiscard]] std::string unless_nan(const Site& site, const std::string& text, const std::string& instead) const {
    const auto& type = site.type_of("self").dtype;
    return type && task::is_float(*type) ? fmt::format("where(isnan({}), {}, {})", at("sort", extent - 1), instead, text) : text;
  }
};

Result<Ordered> ordered(const Site& site) {
  const task::Shape& shape = site.type_of("self").shape;
  Ordered all{site.text("self")};
  if (!site.has("dim") || shape.empty()) {
    all.extent = task::element_count(shape);
    all.from = fmt::format("reshape({}, [{}])", all.from, all.extent);
  } else {
    all.axis = site.axis("dim", "self", -1);
    all.extent = shape.at(static_cast<size_t>(all.axis));
  }
  if (all.extent == 0) return no_word(site, "of no elements");
  return all;
}

/// In the shape that `keepdim` asks for.
std::string kept(const Site& site, const std::string& text, const ValueType& type) { return site.flag("keepdim") ? fmt::format("reshape({}, {})", text, list_text(type.shape)) : text; }

/// The k-th in order, and where it was; "median": the lower of those in the middle, NaN where there is one.
Written in_order(const Site& site, std::string_view detail) {
  HONE_TRY(const Ordered all, ordered(site));
  const bool middle = detail == "median";
  const int64_t place = middle ? (all.extent - 1) / 2 : site.integer("k", 1) - 1;
  if (place < 0 || place >= all.extent) return no_word(site, "beyond the elements");
  std::string value = all.at("sort", place), index = all.at("argsort", place);
  if (middle) {
    value = all.unless_nan(site, value, "nan");
    index = all.unless_nan(site, index, fmt::format("argmax(cast(isnan({}), i32), axis={})", all.from, all.axis));
  }
  if (!site.node().several) return written(std::move(value));
  const auto& types = site.node().types;
  return std::vector<std::string>{kept(site, value, types.at(0)), kept(site, index, types.at(1))};
}

/// Between two in order; the place is computed in the element type, as PyTorch does.
Written quantile(const Site& site, std::string_view) {
  HONE_TRY(const Ordered all, ordered(site));
  const Argument* given = site.node().find("q");
  const Ref* ref = given == nullptr ? nullptr : given->ref();
  if (ref != nullptr && site.program().nodes[static_cast<size_t>(ref->node)].number) given = &*site.program().nodes[static_cast<size_t>(ref->node)].number;
  if (given == nullptr || !given->number()) return no_word(site, "whose q is no number");
  double place = *given->number() * static_cast<double>(all.extent - 1);
  if (site.type().dtype == task::DType::kF32) place = static_cast<double>(static_cast<float>(*given->number()) * static_cast<float>(all.extent - 1));
  if (!(place >= 0) || place > static_cast<double>(all.extent - 1)) return no_word(site, "beyond the elements");
  const std::string mode = site.word("interpolation");
  const auto below = static_cast<int64_t>(std::floor(place)), above = static_cast<int64_t>(std::ceil(place));
  std::string text;
  if (below == above || mode == "lower") text = all.at("sort", below);
  else if (mode == "higher") text = all.at("sort", above);
  else if (mode == "nearest") text = all.at("sort", static_cast<int64_t>(std::nearbyint(place)));
  else if (mode == "linear" || mode == "midpoint") text = fmt::format("lerp({}, {}, {})", all.at("sort", below), all.at("sort", above), number_text(mode == "linear" ? place - static_cast<double>(below) : 0.5));
  else return no_word(site, "interpolation=" + mode);
  return written(kept(site, all.unless_nan(site, text, "nan"), site.type()));
}

/// How many elements of an ordered row are below each value. All are compared: a vector at a time that is faster than halving the row, as long as it is no long one.
Written searched(const Site& site, std::string_view detail) {
  constexpr int64_t kMostCompared = 256;
  const bool buckets = detail == "buckets";
  const std::string_view row = buckets ? "boundaries" : "sorted_sequence";
  const task::Shape& in_order = site.type_of(row).shape;
  if (site.has("sorter")) return no_word(site, "with a sorter");
  if (in_order.empty() || in_order.back() > kMostCompared) return no_word(site, "of a long row");
  const Argument* value = site.node().find("self");
  task::Shape values = value != nullptr && value->ref() != nullptr ? site.type_of("self").shape : task::Shape();
  const size_t axis = values.size();
  values.push_back(1);
  std::string rows = site.text(row);
  if (in_order.size() > 1) {
    if (in_order.size() != axis) return no_word(site, "called as nobody calls it");
    task::Shape shape = in_order;
    shape.insert(shape.end() - 1, 1);
    rows = fmt::format("reshape({}, {})", rows, list_text(shape));
  }
  const std::string each = value != nullptr && value->ref() != nullptr ? fmt::format("reshape({}, {})", site.text("self"), list_text(values)) : site.text("self");
  const bool right = site.flag("right") || site.word("side") == "right";
  std::string text = fmt::format("sum(logical_not({} {} {}), axis={})", rows, right ? ">" : ">=", each, axis);   // NaN is behind all
  if (site.type().dtype != task::DType::kI64) {
    if (!site.type().dtype) return no_word(site, "of an element type that the language lacks");
    text = fmt::format("cast({}, {})", text, task::name_of(*site.type().dtype));
  }
  return written(std::move(text));
}

constexpr Row kIndices[] = {
    {"aten.embedding.default", embedded},
    {"aten.index_select.default", taken},
    {"aten.gather.default", gathered},
    {"aten.index.Tensor", indexed}, {"aten._unsafe_index.Tensor", indexed, "from 0"},
    {"aten.take_along_dim.default", taken_along},
    {"aten.take.default", taken_of_all},
    {"aten.embedding_bag.default", bagged},
    {"aten.embedding_bag.padding_idx", bagged},
    {"aten.topk.default", best, {}, false, true},
    {"aten.sort.default", sorted, {}, false, true},
    {"aten.sort.stable", sorted, {}, false, true},
    {"aten.argsort.default", order, {}, false, true},
    {"aten.argsort.stable", order, {}, false, true},
    {"aten.median.default", in_order, "median", false, true},
    {"aten.median.dim", in_order, "median", false, true},
    {"aten.kthvalue.default", in_order, {}, false, true},
    {"aten.quantile.scalar", quantile, {}, false, true},
    {"aten.quantile.default", quantile, {}, false, true},
    {"aten.searchsorted.Tensor", searched},
    {"aten.searchsorted.Scalar", searched},
    {"aten.bucketize.Tensor", searched, "buckets"},
    {"aten.bucketize.Scalar", searched, "buckets"},
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
    return node.find("index")->integer() == 1 && is_one_of(name(program.nodes[static_cast<size_t>(node.find("source")->ref()->node)]), {"aten.topk", "aten.sort", "aten.max", "aten.min", "aten.kthvalue", "aten.median", "aten.cummax", "aten.cummin"});
  const std::string_view op = name(node);
  if (is_one_of(op, {"aten.argmax", "aten.argmin", "aten.argsort", "aten.searchsorted", "aten.bucketize"})) return true;
  if (op == "aten.arange") return (node.find("start") == nullptr || never({"start"})) && (node.find("step") == nullptr || never({"step"}));
  if (op == "aten.clamp" || op == "aten.clamp_min") return never({"min"});
  if (op == "aten.remainder" || op == "aten.__and__" || op == "aten.bitwise_and") return never({"other"});
  if (op == "aten.add" || op == "aten.mul" || op == "aten.floor_divide" || op == "aten.where") return never({"self", "other"});
  return is_one_of(op, {"aten._to_copy", "aten.to", "aten.reshape", "aten.view", "aten.unsqueeze", "aten.squeeze", "aten.expand", "aten.permute", "aten.transpose", "aten.t", "aten.slice", "aten.select",
                        "aten.flatten", "aten.clone", "aten.repeat", "aten.flip", "aten.roll"}) &&
         never({"self"});
}

std::optional<int64_t> largest_of(const Program& program, int id) {
  constexpr int64_t kMost = int64_t{1} << 31;
  const Node& node = program.nodes[static_cast<size_t>(id)];
  if (node.is_input()) return node.largest;
  const auto whole = [&](std::string_view name, int64_t fallback) {
    const Argument* value = node.find(name);
    return value == nullptr || value->is_none() ? std::optional(fallback) : value->integer();
  };
  if (node.op.starts_with("aten.arange.")) {
    const auto start = whole("start", 0), step = whole("step", 1);
    if (!start || !step || *start < 0 || *step < 1 || *start > kMost || *step > kMost || node.type().shape.empty()) return std::nullopt;
    return *start + (node.type().shape[0] - 1) * *step;
  }
  const Argument* self = node.find("self");
  constexpr std::string_view kSame[] = {"aten.unsqueeze.default", "aten.reshape.default", "aten._to_copy.default", "aten.slice.Tensor", "aten.select.int", "aten.expand.default"};
  if (std::find(std::begin(kSame), std::end(kSame), node.op) == std::end(kSame) || self == nullptr || self->ref() == nullptr) return std::nullopt;
  return largest_of(program, self->ref()->node);
}

}  // namespace hone::program
