// Elements put into a tensor where indices say.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/program/aten.h"

namespace hone::program {
namespace {

/// So many that one after the other costs less than a kernel of its own.
constexpr int64_t kFew = 8;

/// The indices of one axis, from 0 on. PyTorch counts some of them from the end.
std::string from_start(const Site& site, const Argument& index, int64_t extent) {
  const Ref* ref = index.ref();
  return ref != nullptr && never_negative(site.program(), ref->node) ? site.term(index) : fmt::format("{} % {}", site.term(index), extent);
}

/// What is put where along an axis of `into`.
struct Put {
  std::string self;    ///< of the shape `into`
  task::Shape into;
  size_t axis = 0;
  std::string index;   ///< `count` of them in one dimension, from 0 on
  int64_t count = 0;
};

/// Each place is compared with each index: no more comparisons than elements that are moved anyway, or few.
bool is_affordable(const Put& put) { return put.count <= std::max(kFew, task::element_count(put.into) / std::max<int64_t>(put.into.at(put.axis), 1)); }

std::string compared(const Put& put) {
  return fmt::format("reshape({}, [{}, 1]) == iota([{}, {}], 1)", put.index, put.count, put.count, put.into[put.axis]);
}

std::string along_axis(const Put& put, const std::string& text) {
  task::Shape shape(put.into.size(), 1);
  shape[put.axis] = put.into[put.axis];
  return fmt::format("reshape({}, {})", text, list_text(shape));
}

/// Slices of `source`, which has `count` of them: the last one where several have the same place. Which one that is, is the largest of their numbers.
std::string replaced(const Put& put, std::string_view source) {
  const std::string last = is_affordable(put) ? fmt::format("max(where({}, iota([{}, {}], 0) + 1, 0), axis=0)", compared(put), put.count, put.into[put.axis])
                                              : fmt::format("scatter_max(full([{}], 0, i64), 0, {}, iota([{}], 0) + 1)", put.into[put.axis], put.index, put.count);
  return fmt::format("where({}, take({}, maximum({} - 1, 0), axis={}), {})", along_axis(put, fmt::format("({}) > 0", last)), source, last, put.axis, put.self);
}

/// One value, or what broadcasts to the slices.
std::string set_to(const Put& put, std::string_view value) {
  const std::string any = is_affordable(put) ? fmt::format("any({}, axis=0)", compared(put))
                                             : fmt::format("scatter_max(full([{0}], 0, i32), 0, {1}, full([{2}], 1, i32)) > 0", put.into[put.axis], put.index, put.count);
  return fmt::format("where({}, {}, {})", along_axis(put, any), value, put.self);
}

/// Along an axis of self, by an index of one dimension.
Result<Put> put_along(const Site& site, bool from_end) {
  Put put;
  put.self = site.text("self");
  put.into = site.type_of("self").shape;
  if (put.into.empty()) return no_word(site, "of one number");
  put.axis = static_cast<size_t>(site.axis("dim", "self", 0));
  put.count = task::element_count(site.type_of("index").shape);
  if (put.count == 0) return no_word(site, "of no elements");
  put.index = from_end ? from_start(site, *site.node().find("index"), put.into.at(put.axis)) : site.text("index");
  return put;
}

Written copied_by_index(const Site& site, std::string_view) {
  HONE_TRY(const Put put, put_along(site, false));
  task::Shape slices = put.into;
  slices[put.axis] = put.count;
  return written(replaced(put, fmt::format("reshape({}, {})", site.text("source"), list_text(slices))));
}

Written filled_by_index(const Site& site, std::string_view) {
  HONE_TRY(const Put put, put_along(site, true));
  return written(set_to(put, site.text("value")));
}

/// What is done to the first elements of the axes but one, as far as an index reaches; all others stay as they are.
template <typename Do>
std::string within(const Site& site, const task::Shape& index, size_t axis, Do&& change) {
  std::vector<std::string> selves{site.text("self")};
  std::vector<size_t> cut;
  const task::Shape& into = site.type_of("self").shape;
  for (size_t i = 0; i < into.size(); ++i) {
    if (i == axis || index.at(i) == into[i]) continue;
    selves.push_back(fmt::format("narrow({}, {}, 0, {})", selves.back(), i, index[i]));
    cut.push_back(i);
  }
  std::string text = change(selves.back());
  for (size_t k = cut.size(); k-- > 0;)
    text = fmt::format("concat([{}, narrow({}, {}, {}, {})], axis={})", text, selves[k], cut[k], index[cut[k]], into[cut[k]] - index[cut[k]], cut[k]);
  return text;
}

/// An argument as far as the index reaches.
std::string part_of(const Site& site, std::string_view name, const task::Shape& index) {
  std::string text = site.text(name);
  const task::Shape& shape = site.type_of(name).shape;
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] != index.at(i)) text = fmt::format("narrow({}, {}, 0, {})", text, i, index[i]);
  return text;
}

/// A few elements put in one after another, the last one where several have the same place; of more, the largest of the numbers of those that have it.
Written put(const Site& site, std::string_view) {
  const task::Shape &into = site.type_of("self").shape, &index = site.type_of("index").shape;
  if (into.empty()) return no_word(site, "of one number");
  if (site.has("reduce")) return no_word(site, "with a reduction");
  const auto axis = static_cast<size_t>(site.axis("dim", "self", 0));
  if (task::element_count(index) == 0) return written(site.text("self"));
  const std::string_view given = site.has("src") ? "src" : "value";
  const Argument* value = site.node().find(given);
  const bool is_tensor = value != nullptr && value->ref() != nullptr && !site.type_of(given).shape.empty();
  task::Shape part = index;
  part[axis] = into[axis];
  return written(within(site, index, axis, [&](std::string text) {
    if (index[axis] > kFew) {
      const std::string last = fmt::format("scatter_max(full({}, 0, i64), {}, {}, iota({}, {}) + 1)", list_text(part), axis, site.text("index"), list_text(index), axis);
      const std::string source = is_tensor ? fmt::format("take_along_axis({}, maximum({} - 1, 0), axis={})", part_of(site, given, index), last, axis) : site.text(given);
      return fmt::format("where({} > 0, {}, {})", last, source, text);
    }
    for (int64_t i = 0; i < index[axis]; ++i) {
      const auto one = [&](const std::string& of) { return fmt::format("narrow({}, {}, {}, 1)", of, axis, i); };
      text = fmt::format("where(iota({}, {}) == {}, {}, {})", list_text(part), axis, one(site.text("index")), is_tensor ? one(part_of(site, given, index)) : site.text(given), text);
    }
    return text;
  }));
}

Written scattered(const Site& site, std::string_view) {
  const task::Shape &into = site.type_of("self").shape, &index = site.type_of("index").shape;
  if (into.empty()) return no_word(site, "of one number");
  if (task::element_count(index) == 0) return written(site.text("self"));
  const auto axis = static_cast<size_t>(site.axis("dim", "self", 0));
  return written(within(site, index, axis, [&](const std::string& self) { return fmt::format("scatter_add({}, {}, {}, {})", self, axis, site.text("index"), part_of(site, "src", index)); }));
}

/// The least that an element of `source` is along the axis, or less: what a largest of some of them is taken from.
std::string below_all(const std::string& source, size_t axis, task::DType type, bool largest) {
  if (task::is_float(type)) return largest ? "(-inf)" : "inf";
  return fmt::format("{}({}, axis={}, keepdims=true)", largest ? "min" : "max", source, axis);
}

/// Sums, means, the largest and the smallest of what is put in one place, with what was there or without.
std::string reduced_into(const std::string& self, const std::string& index, const std::string& source, std::string_view reduce, bool with_self, size_t axis, const task::Shape& into, const task::Shape& from, task::DType type) {
  const std::string counts = fmt::format("scatter_add(full({}, 0, i64), {}, {}, full({}, 1, i64))", list_text(into), axis, index, list_text(from));
  if (reduce == "amax" || reduce == "amin") {
    const bool largest = reduce == "amax";
    const std::string start = with_self ? self : fmt::format("where({} > 0, broadcast_to({}, {}), {})", counts, task::is_float(type) ? fmt::format("full([], {}, {})", below_all(source, axis, type, largest), task::name_of(type)) : below_all(source, axis, type, largest), list_text(into), self);
    return fmt::format("scatter_{}({}, {}, {}, {})", largest ? "max" : "min", start, axis, index, source);
  }
  const std::string sum = fmt::format("scatter_add({}, {}, {}, {})", with_self ? self : fmt::format("where({} > 0, 0, {})", counts, self), axis, index, source);
  if (reduce == "sum") return sum;
  return fmt::format("{} {} {}", sum, task::is_float(type) ? "/" : "//", with_self ? fmt::format("({} + 1)", counts) : fmt::format("maximum({}, 1)", counts));
}

Written scattered_reduced(const Site& site, std::string_view) {
  const task::Shape &into = site.type_of("self").shape, &index = site.type_of("index").shape;
  const std::string reduce = site.word("reduce");
  if (reduce != "sum" && reduce != "mean" && reduce != "amax" && reduce != "amin") return no_word(site, "reduce=" + reduce);
  if (!site.type().dtype || (reduce == "mean" && !task::is_float(*site.type().dtype))) return no_word(site, "of integers");
  if (into.empty() || task::element_count(index) == 0) return no_word(site, "of one number or none");
  const auto axis = static_cast<size_t>(site.axis("dim", "self", 0));
  task::Shape part = index;
  part[axis] = into[axis];
  return written(within(site, index, axis, [&](const std::string& self) {
    return reduced_into(self, site.text("index"), part_of(site, "src", index), reduce, site.integer("include_self", 1) != 0, axis, part, index, *site.type().dtype);
  }));
}

/// The same of slices.
Written reduced_by_index(const Site& site, std::string_view) {
  const task::Shape &into = site.type_of("self").shape, &source = site.type_of("source").shape;
  const std::string reduce = site.word("reduce");
  if (reduce != "mean" && reduce != "amax" && reduce != "amin") return no_word(site, "reduce=" + reduce);
  if (!site.type().dtype || (reduce == "mean" && !task::is_float(*site.type().dtype))) return no_word(site, "of integers");
  if (into.empty() || task::element_count(source) == 0) return no_word(site, "of one number or none");
  const auto axis = static_cast<size_t>(site.axis("dim", "self", 0));
  task::Shape line(into.size(), 1);
  line[axis] = source.at(axis);
  const std::string index = fmt::format("broadcast_to(reshape({}, {}), {})", site.text("index"), list_text(line), list_text(source));
  return written(reduced_into(site.text("self"), index, site.text("source"), reduce, site.integer("include_self", 1) != 0, axis, into, source, *site.type().dtype));
}

/// self with the elements of `source`, in their order, where the mask is: how many it has let through before says which.
Written masked_scattered(const Site& site, std::string_view) {
  const task::Shape& shape = site.type().shape;
  const int64_t count = task::element_count(shape), given = task::element_count(site.type_of("source").shape);
  if (count == 0 || given == 0) return no_word(site, "of no elements");
  const auto flat = [&](std::string_view name) {
    const bool whole = site.type_of(name).shape == shape;
    return fmt::format("reshape({}, [{}])", whole ? site.text(name) : fmt::format("broadcast_to({}, {})", site.text(name), list_text(shape)), count);
  };
  const std::string mask = flat("mask");
  return written(fmt::format("reshape(where({0}, take(reshape({1}, [{2}]), clamp(cumsum(cast({0}, i64), axis=0) - 1, 0, {3}), axis=0), {4}), {5})", mask, site.text("source"), given, given - 1, flat("self"), list_text(shape)));
}

Written added_by_index(const Site& site, std::string_view) {
  const double alpha = site.number("alpha", 1);
  return written(fmt::format("index_add({}, {}, {}, {}{})", site.text("self"), site.axis("dim", "self", 0), site.text("index"), site.text("source"),
                             alpha == 1 ? "" : " * " + number_text(alpha)));
}

/// self[mask] = values, where one value, or one for what the mask's axes leave, is the same for all places.
Written put_by_mask(const Site& site, size_t first, const Argument& mask) {
  const task::Shape &into = site.type_of("self").shape, &where = site.program().nodes[static_cast<size_t>(mask.ref()->node)].type().shape, &values = site.type_of("values").shape;
  task::Shape shape(first, 1);
  shape.insert(shape.end(), where.begin(), where.end());
  if (where.empty() || shape.size() > into.size()) return no_word(site, "called as nobody calls it");
  const size_t rest = into.size() - shape.size();
  shape.resize(into.size(), 1);
  task::Shape slice = values;
  if (task::element_count(values) == 1) slice.clear();
  else if (slice.size() == rest + 1 && slice.front() == 1) slice.erase(slice.begin());
  if (slice.size() > rest || (first > 0 && !slice.empty())) return no_word(site, "with a mask and a value for each place");
  const std::string text = slice == values ? site.text("values") : fmt::format("reshape({}, {})", site.text("values"), list_text(slice));
  return written(fmt::format("where(reshape({}, {}), {}, {})", site.term(mask), list_text(shape), site.flag("accumulate") ? fmt::format("{} + {}", site.text("self"), text) : text, site.text("self")));
}

/// self[:, i, j] = values: axes that are indexed side by side are one.
Written put_by_indices(const Site& site, std::string_view) {
  const Argument::List& indices = site.list("indices");
  const task::Shape& from = site.type_of("self").shape;
  const auto type_of = [&](const Argument& index) -> const ValueType& { return site.program().nodes[static_cast<size_t>(index.ref()->node)].type(); };
  size_t first = indices.size(), last = 0;
  task::Shape picked;   // what the indices are together, broadcast
  for (size_t i = 0; i < indices.size(); ++i) {
    if (indices[i].is_none()) continue;
    if (indices[i].ref() == nullptr) return no_word(site, "called as nobody calls it");
    if (first == indices.size()) first = i;
    else if (last + 1 != i) return no_word(site, "with tensors of indices that are apart");
    last = i;
    const task::Shape& shape = type_of(indices[i]).shape;
    while (picked.size() < shape.size()) picked.insert(picked.begin(), 1);
    for (size_t k = 0; k < shape.size(); ++k)
      if (int64_t& extent = picked[picked.size() - shape.size() + k]; extent == 1) extent = shape[k];
  }
  if (first == indices.size()) return no_word(site, "without indices");
  for (size_t i = first; i <= last; ++i)
    if (type_of(indices[i]).dtype == task::DType::kBool)
      return first == last ? put_by_mask(site, first, indices[i]) : no_word(site, "with a mask beside other indices");
  Put put;
  for (size_t i = first; i <= last; ++i) {
    const std::string index = from_start(site, indices[i], from.at(i));
    put.index = put.index.empty() ? index : fmt::format("({}) * {} + ({})", put.index, from.at(i), index);
  }
  put.axis = first;
  put.count = task::element_count(picked);
  if (put.count == 0) return written(site.text("self"));
  put.index = fmt::format("reshape(broadcast_to({}, {}), [{}])", put.index, list_text(picked), put.count);
  put.into.assign(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(first));
  put.into.push_back(1);
  for (size_t i = first; i <= last; ++i) put.into.back() *= from.at(i);
  put.into.insert(put.into.end(), from.begin() + static_cast<std::ptrdiff_t>(last) + 1, from.end());
  put.self = fmt::format("reshape({}, {})", site.text("self"), list_text(put.into));
  task::Shape slices(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(first)), flat = put.into;
  slices.insert(slices.end(), picked.begin(), picked.end());
  slices.insert(slices.end(), from.begin() + static_cast<std::ptrdiff_t>(last) + 1, from.end());
  flat[first] = put.count;
  const std::string values = fmt::format("reshape(broadcast_to({}, {}), {})", site.text("values"), list_text(slices), list_text(flat));
  const std::string text = site.flag("accumulate") ? fmt::format("index_add({}, {}, {}, {})", put.self, put.axis, put.index, values) : replaced(put, values);
  return written(fmt::format("reshape({}, {})", text, list_text(from)));
}

/// Into all elements in a row.
Written put_in_row(const Site& site, std::string_view) {
  const task::Shape& shape = site.type().shape;
  Put put;
  put.into = {task::element_count(shape)};
  put.count = task::element_count(site.type_of("index").shape);
  if (put.count == 0) return written(site.text("self"));
  put.self = fmt::format("reshape({}, {})", site.text("self"), list_text(put.into));
  put.index = fmt::format("reshape({}, [{}])", from_start(site, *site.node().find("index"), put.into[0]), put.count);
  const std::string source = fmt::format("reshape({}, [{}])", site.text("source"), put.count);
  return written(fmt::format("reshape({}, {})", site.flag("accumulate") ? fmt::format("index_add({}, 0, {}, {})", put.self, put.index, source) : replaced(put, source), list_text(shape)));
}

/// self with `src` in place of a diagonal of its last two axes.
Written put_on_diagonal(const Site& site, std::string_view) {
  const task::Shape& shape = site.type().shape;
  const int64_t rank = site.rank("self"), offset = site.integer("offset", 0);
  if (rank < 2 || site.axis("dim1", "self", 0) != rank - 2 || site.axis("dim2", "self", 1) != rank - 1) return no_word(site, "of other axes than the last");
  task::Shape source = site.type_of("src").shape;
  if (source.size() + 1 != shape.size()) return no_word(site, "called as nobody calls it");
  const int64_t extent = offset >= 0 ? shape[static_cast<size_t>(rank) - 2] : shape[static_cast<size_t>(rank) - 1];   // an element of it for each row, or for each column
  std::vector<int64_t> low(source.size(), 0), high(source.size(), 0);
  high.back() = extent - source.back();
  std::string text = high.back() > 0 ? fmt::format("pad({}, {}, {})", site.text("src"), list_text(low), list_text(high)) : site.text("src");
  source.back() = extent;
  source.insert(source.end() - (offset >= 0 ? 0 : 1), 1);
  return written(fmt::format("where(iota({0}, {1}) - iota({0}, {2}) == {3}, reshape({4}, {5}), {6})", list_text(shape), rank - 1, rank - 2, offset, text, list_text(source), site.text("self")));
}

constexpr Row kScatters[] = {
    {"aten.scatter_add.default", scattered},
    {"aten.scatter_reduce.two", scattered_reduced},
    {"aten.index_reduce.default", reduced_by_index},
    {"aten.masked_scatter.default", masked_scattered},
    {"aten.scatter.src", put},
    {"aten.scatter.value", put},
    {"aten.index_add.default", added_by_index},
    {"aten.index_copy.default", copied_by_index},
    {"aten.index_fill.int_Scalar", filled_by_index},
    {"aten.index_fill.int_Tensor", filled_by_index},
    {"aten.index_put.default", put_by_indices},
    {"aten.put.default", put_in_row},
    {"aten.diagonal_scatter.default", put_on_diagonal},
};

}  // namespace

std::span<const Row> scatter_rows() { return kScatters; }

}  // namespace hone::program
