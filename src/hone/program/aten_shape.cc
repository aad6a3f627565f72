// Views, concatenation, padding, creation.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/program/aten.h"

namespace hone::program {
namespace {

Written reshaped(const Site& site, std::string_view) { return written(fmt::format("reshape({}, {})", site.text("self"), list_text(site.type().shape))); }

Written permuted(const Site& site, std::string_view) {
  std::vector<int64_t> axes = site.integers("dims");
  for (int64_t& axis : axes)
    if (axis < 0) axis += site.rank("self");
  return written(fmt::format("permute({}, {})", site.text("self"), list_text(axes)));
}

Written transposed(const Site& site, std::string_view) {
  if (site.rank("self") == 0) return written(site.text("self"));
  return written(fmt::format("transpose({}, {}, {})", site.text("self"), site.axis("dim0", "self", 0), site.axis("dim1", "self", 1)));
}

Written reversed_axes(const Site& site, std::string_view) {
  std::vector<int64_t> axes(static_cast<size_t>(site.rank("self")));
  std::iota(axes.rbegin(), axes.rend(), 0);
  return axes.size() < 2 ? written(site.text("self")) : written(fmt::format("permute({}, {})", site.text("self"), list_text(axes)));
}

Written expanded(const Site& site, std::string_view) { return written(fmt::format("broadcast_to({}, {})", site.text("self"), list_text(site.type().shape))); }

Written repeated(const Site& site, std::string_view) {
  const auto repeats = site.integers("repeats");
  std::string text = site.text("self");
  if (const auto rank = static_cast<size_t>(site.rank("self")); rank < repeats.size()) {
    task::Shape shape(repeats.size() - rank, 1);
    shape.insert(shape.end(), site.type_of("self").shape.begin(), site.type_of("self").shape.end());
    text = fmt::format("reshape({}, {})", text, list_text(shape));
  }
  return written(fmt::format("tile({}, {})", text, list_text(repeats)));
}

/// Every element, or every slice of an axis, so many times side by side.
Written spread(const Site& site, std::string_view) {
  std::string text = site.text("self");
  int64_t axis = 0;
  if (site.has("dim")) axis = site.axis("dim", "self", 0);
  else text = fmt::format("reshape({}, [{}])", text, task::element_count(site.type_of("self").shape));
  return written(fmt::format("repeat_interleave({}, {}, {})", text, site.integer("repeats", 1), axis));
}

Written concatenated(const Site& site, std::string_view) {
  std::vector<std::string> all;
  for (const Argument& tensor : site.list("tensors")) all.push_back(site.term(tensor));
  const auto rank = static_cast<int64_t>(site.type().shape.size());
  int64_t axis = site.integer("dim", 0);
  if (axis < 0) axis += rank;
  return written(fmt::format("concat([{}], axis={})", fmt::join(all, ", "), axis));
}

Written stacked(const Site& site, std::string_view) {
  int64_t axis = site.integer("dim", 0);
  if (axis < 0) axis += static_cast<int64_t>(site.type().shape.size());
  return written(fmt::format("stack({}, axis={})", site.text("tensors"), axis));
}

Written sliced(const Site& site, std::string_view) {
  const task::Shape& shape = site.type_of("self").shape;
  const auto axis = static_cast<size_t>(site.axis("dim", "self", 0));
  const int64_t step = site.integer("step", 1);
  int64_t start = site.integer("start", 0);
  if (start < 0) start += shape.at(axis);
  start = std::clamp<int64_t>(start, 0, shape.at(axis));
  const int64_t extent = site.type().shape.at(axis);
  if (extent == 0) return no_word(site, "of nothing");
  if (step == 1) return written(fmt::format("narrow({}, {}, {}, {})", site.text("self"), axis, start, extent));
  std::vector<int64_t> starts(shape.size(), 0), steps(shape.size(), 1);
  starts[axis] = start;
  steps[axis] = step;
  return written(fmt::format("slice({}, {}, {}, {})", site.text("self"), list_text(starts), list_text(site.type().shape), list_text(steps)));
}

Written selected(const Site& site, std::string_view) {
  const int64_t axis = site.axis("dim", "self", 0);
  int64_t index = site.integer("index", 0);
  if (index < 0) index += site.type_of("self").shape.at(static_cast<size_t>(axis));
  return written(fmt::format("select({}, {}, {})", site.text("self"), axis, index));
}

/// Part `index` of split() and the like; a whole tuple of them has as many texts.
Written parted(const Site& site, std::string_view detail) {
  const int64_t axis = site.axis("dim", "self", 0);
  std::vector<std::string> all;
  int64_t at = 0;
  for (const ValueType& type : site.node().types) {
    if (detail == "unbind") {
      all.push_back(fmt::format("select({}, {}, {})", site.text("self"), axis, at++));
      continue;
    }
    const int64_t extent = type.shape.at(static_cast<size_t>(axis));
    all.push_back(fmt::format("narrow({}, {}, {}, {})", site.text("self"), axis, at, extent));
    at += extent;
  }
  return all;
}

Written padded(const Site& site, std::string_view) {
  if (const std::string mode = site.word("mode"); !mode.empty() && mode != "constant") return no_word(site, "mode=" + mode);
  const auto pad = site.integers("pad");
  const auto rank = static_cast<size_t>(site.rank("self"));
  std::vector<int64_t> low(rank, 0), high(rank, 0);
  std::string text = site.text("self");
  for (size_t i = 0; i < pad.size() / 2; ++i) {  // what is below 0 cuts off
    const size_t axis = rank - 1 - i;
    low.at(axis) = std::max<int64_t>(pad[2 * i], 0);
    high.at(axis) = std::max<int64_t>(pad[2 * i + 1], 0);
    const int64_t begin = std::max<int64_t>(-pad[2 * i], 0), end = site.type_of("self").shape.at(axis) - std::max<int64_t>(-pad[2 * i + 1], 0);
    if (begin >= end) return no_word(site, "that leaves nothing");
    if (pad[2 * i] < 0 || pad[2 * i + 1] < 0) text = fmt::format("narrow({}, {}, {}, {})", text, axis, begin, end - begin);
  }
  if (std::none_of(pad.begin(), pad.end(), [](int64_t n) { return n > 0; })) return written(std::move(text));
  return written(fmt::format("pad({}, {}, {}, {})", text, list_text(low), list_text(high), number_text(site.number("value", 0))));
}

Written rolled(const Site& site, std::string_view) {
  const auto axes = site.integers("dims"), shifts = site.integers("shifts");
  if (axes.empty())
    return written(fmt::format("reshape(roll(reshape({}, [{}]), {}, [0]), {})", site.text("self"), task::element_count(site.type().shape), list_text(shifts), list_text(site.type().shape)));
  return written(fmt::format("roll({}, {}, {})", site.text("self"), list_text(shifts), list_text(axes)));
}

Written flipped(const Site& site, std::string_view) {
  std::vector<int64_t> axes = site.integers("dims");
  for (int64_t& axis : axes)
    if (axis < 0) axis += site.rank("self");
  return written(fmt::format("flip({}, {})", site.text("self"), list_text(axes)));
}

/// Every `step`-th from `begin` on. With the elements behind it each is a short row; behind the last there may be too few for one.
Written put_by_steps(const Site& site, size_t axis, int64_t begin, int64_t end, int64_t step) {
  const task::Shape& shape = site.type().shape;
  const int64_t count = (end - begin + step - 1) / step, whole = begin + count * step <= shape[axis] ? count : count - 1;
  const auto part = [&](std::string_view of, int64_t from, int64_t extent) { return fmt::format("narrow({}, {}, {}, {})", site.text(of), axis, from, extent); };
  std::vector<std::string> all;
  if (begin > 0) all.push_back(part("self", 0, begin));
  if (whole > 0) {
    task::Shape rows = shape, one = shape;
    rows[axis] = one[axis] = whole;
    rows.insert(rows.begin() + static_cast<std::ptrdiff_t>(axis) + 1, step);
    one.insert(one.begin() + static_cast<std::ptrdiff_t>(axis) + 1, 1);
    task::Shape flat = shape;
    flat[axis] = whole * step;
    all.push_back(fmt::format("reshape(concat([reshape({}, {}), narrow(reshape({}, {}), {}, 1, {})], axis={}), {})", whole == count ? site.text("src") : part("src", 0, whole), list_text(one),
                              part("self", begin, whole * step), list_text(rows), axis + 1, step - 1, axis + 1, list_text(flat)));
  }
  int64_t at = begin + whole * step;
  if (whole < count) {
    all.push_back(part("src", whole, 1));
    ++at;
  }
  if (at < shape[axis]) all.push_back(part("self", at, shape[axis] - at));
  return written(all.size() == 1 ? all.front() : fmt::format("concat([{}], axis={})", fmt::join(all, ", "), axis));
}

/// self with `src` in place of elements from `start` to `end` of an axis, or of the one at `index`.
Written put_in(const Site& site, std::string_view detail) {
  const task::Shape& shape = site.type().shape;
  const auto axis = static_cast<size_t>(site.axis("dim", "self", 0));
  const int64_t extent = shape.at(axis);
  const auto place = [&](std::string_view name, int64_t fallback) {
    const int64_t at = site.integer(name, fallback);
    return std::clamp<int64_t>(at < 0 ? at + extent : at, 0, extent);
  };
  const int64_t step = site.integer("step", 1);
  const bool one = detail == "index";
  const int64_t begin = place(one ? "index" : "start", 0), end = one ? begin + 1 : std::max(begin, place("end", extent));
  task::Shape part = shape;
  part[axis] = end - begin;
  if (end == begin) return written(site.text("self"));
  if (step < 1) return no_word(site, "called as nobody calls it");
  if (step > 1) return put_by_steps(site, axis, begin, end, step);
  std::vector<std::string> all;
  if (begin > 0) all.push_back(fmt::format("narrow({}, {}, 0, {})", site.text("self"), axis, begin));
  all.push_back(fmt::format("reshape({}, {})", site.text("src"), list_text(part)));
  if (end < extent) all.push_back(fmt::format("narrow({}, {}, {}, {})", site.text("self"), axis, end, extent - end));
  return written(all.size() == 1 ? all.front() : fmt::format("concat([{}], axis={})", fmt::join(all, ", "), axis));
}

/// All elements of a tensor's one.
Written overwritten(const Site& site, std::string_view) {
  if (!site.type().dtype) return no_word(site, "of an element type that the language lacks");
  return written(fmt::format("broadcast_to(cast({}, {}), {})", site.text("value"), task::name_of(*site.type().dtype), list_text(site.type().shape)));
}

Written triangle(const Site& site, std::string_view operation) {
  return written(fmt::format("{}({}, {})", operation, site.text("self"), site.integer("diagonal", 0)));
}

/// Of any two axes, with an offset: those of a square of the last two.
Written diagonal(const Site& site, std::string_view) {
  const int64_t rank = site.rank("self"), offset = site.integer("offset", 0);
  const int64_t a = site.axis("dim1", "self", 0), b = site.axis("dim2", "self", 1);
  const int64_t extent = site.type().shape.empty() ? 0 : site.type().shape.back();
  if (extent == 0 || rank < 2) return no_word(site, "of nothing");
  std::vector<int64_t> order;
  for (int64_t i = 0; i < rank; ++i)
    if (i != a && i != b) order.push_back(i);
  order.insert(order.end(), {a, b});
  std::string text = site.text("self");
  if (!std::is_sorted(order.begin(), order.end())) text = fmt::format("permute({}, {})", text, list_text(order));
  const task::Shape& shape = site.type_of("self").shape;
  const auto cut = [&](int64_t axis, int64_t at, int64_t of) {
    if (of != extent) text = fmt::format("narrow({}, {}, {}, {})", text, axis, at, extent);
  };
  cut(rank - 2, std::max<int64_t>(-offset, 0), shape.at(static_cast<size_t>(a)));
  cut(rank - 1, std::max<int64_t>(offset, 0), shape.at(static_cast<size_t>(b)));
  return written(fmt::format("diagonal({})", text));
}

/// Columns put together to an image, added where they overlap: side by side they are a view, else each goes through a transposed convolution with ones.
Written put_together(const Site& site, std::string_view) {
  if (site.rank("self") != 3) return no_word(site, "of a sample without a batch axis");
  const auto size = site.integers("output_size", 2), kernel = site.integers("kernel_size", 2), dilation = site.integers("dilation", 2), padding = site.integers("padding", 2), stride = site.integers("stride", 2);
  const task::Shape& shape = site.type_of("self").shape;
  const int64_t window = kernel.at(0) * kernel.at(1), channels = window > 0 ? shape.at(1) / window : 0;
  if (channels == 0) return no_word(site, "of nothing");
  std::vector<int64_t> count, more;
  bool is_view = true;
  for (size_t i = 0; i < 2; ++i) {
    const int64_t covered = dilation.at(i) * (kernel.at(i) - 1) + 1, space = size.at(i) + 2 * padding.at(i) - covered;
    if (stride.at(i) < 1 || space < 0) return no_word(site, "called as nobody calls it");
    count.push_back(space / stride[i] + 1);
    more.push_back(space % stride[i]);
    is_view = is_view && stride[i] == kernel[i] && dilation[i] == 1 && padding[i] == 0 && more[i] == 0;
  }
  if (is_view)
    return written(fmt::format("reshape(permute(reshape({}, [{}, {}, {}, {}, {}, {}]), [0, 1, 4, 2, 5, 3]), {})", site.text("self"), shape.at(0), channels, kernel[0], kernel[1], count[0], count[1],
                               list_text(site.type().shape)));
  if (!site.type().dtype || !task::is_float(*site.type().dtype)) return no_word(site, "of integers");
  const std::string weight = fmt::format("tile(reshape(eye({0}, {0}, {1}), [{0}, 1, {2}, {3}]), [{4}, 1, 1, 1])", window, task::name_of(*site.type().dtype), kernel[0], kernel[1], channels);
  return written(fmt::format("conv_transpose2d(reshape({}, [{}, {}, {}, {}]), {}, none, stride={}, padding={}, output_padding={}, groups={}, dilation={})", site.text("self"), shape.at(0), channels * window,
                             count[0], count[1], weight, list_text(stride), list_text(padding), list_text(more), channels, list_text(dilation)));
}

Written columns(const Site& site, std::string_view) {
  if (site.rank("self") != 4) return no_word(site, "of a sample without a batch axis");
  return written(fmt::format("unfold({}, {}, dilation={}, padding={}, stride={})", site.text("self"), list_text(site.integers("kernel_size", 2)), list_text(site.integers("dilation", 2)),
                             list_text(site.integers("padding", 2)), list_text(site.integers("stride", 2))));
}

/// Windows, whose axis goes to the end; side by side they are a view.
Written unfolded(const Site& site, std::string_view) {
  if (site.integer("size", 0) != site.integer("step", 0))
    return written(fmt::format("windows({}, {}, {}, {})", site.text("self"), site.axis("dimension", "self", 0), site.integer("size", 1), site.integer("step", 1)));
  task::Shape shape = site.type_of("self").shape;
  const auto axis = static_cast<size_t>(site.axis("dimension", "self", 0));
  const int64_t size = site.integer("size", 1);
  if (size <= 0) return no_word(site, "of no elements");
  const int64_t count = shape.at(axis) / size;
  std::string text = site.text("self");
  if (count * size != shape[axis]) text = fmt::format("narrow({}, {}, 0, {})", text, axis, count * size);
  shape[axis] = count;
  shape.insert(shape.begin() + static_cast<int64_t>(axis) + 1, size);
  std::vector<int64_t> order;
  for (size_t i = 0; i < shape.size(); ++i)
    if (i != axis + 1) order.push_back(static_cast<int64_t>(i));
  order.push_back(static_cast<int64_t>(axis) + 1);
  return written(fmt::format("permute(reshape({}, {}), {})", text, list_text(shape), list_text(order)));
}

Written filled(const Site& site, std::string_view detail) {
  if (!site.type().dtype) return no_word(site, "of an element type that the language lacks");
  std::string value(detail);
  if (detail == "value") {
    const Argument* given = site.node().find(site.has("fill_value") ? "fill_value" : "s");
    if (given == nullptr || !given->number()) return no_word(site, "with a tensor's value");
    value = number_text(*given->number());
  }
  return written(fmt::format("full({}, {}, {})", list_text(site.type().shape), value, task::name_of(*site.type().dtype)));
}

/// Whole numbers, or real ones by whole steps.
Written counted(const Site& site, std::string_view) {
  if (!site.type().dtype) return no_word(site, "of an element type that the language lacks");
  const auto whole = [&](std::string_view name, double fallback) -> std::optional<int64_t> {
    const double value = site.number(name, fallback);
    return value == std::floor(value) && std::abs(value) < 1e15 ? std::optional(static_cast<int64_t>(value)) : std::nullopt;
  };
  const auto start = whole("start", 0), step = whole("step", 1);
  if (!start || !step || *step == 0) return no_word(site, "by steps that are no whole numbers");
  const int64_t count = site.type().shape.at(0);
  if (std::abs(static_cast<double>(*step)) * static_cast<double>(count) > 1e15) return no_word(site, "up to numbers that large");
  return written(fmt::format("cast(arange({}, {}, {}), {})", *start, *start + count * *step, *step, task::name_of(*site.type().dtype)));
}

Written unit(const Site& site, std::string_view) {
  if (!site.type().dtype) return no_word(site, "of an element type that the language lacks");
  return written(fmt::format("eye({}, {}, {})", site.type().shape.at(0), site.type().shape.at(1), task::name_of(*site.type().dtype)));
}

/// Blocks of channels as squares of the picture, and back.
Written shuffled(const Site& site, std::string_view detail) {
  const task::Shape &from = site.type_of("self").shape, &to = site.type().shape;
  const bool apart = detail == "apart";   // squares become channels
  const int64_t by = site.integer(apart ? "downscale_factor" : "upscale_factor", 1);
  const size_t at = from.size() - 3;
  if (from.size() < 3 || by < 1) return no_word(site, "called as nobody calls it");
  const task::Shape& wide = apart ? from : to;
  task::Shape parts(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(at));
  std::vector<int64_t> order;
  for (size_t i = 0; i < at; ++i) order.push_back(static_cast<int64_t>(i));
  const auto first = static_cast<int64_t>(at);
  const int64_t channels = wide[at], high = wide[at + 1] / by, broad = wide[at + 2] / by;
  if (apart) {
    parts.insert(parts.end(), {channels, high, by, broad, by});
    order.insert(order.end(), {first, first + 2, first + 4, first + 1, first + 3});
  } else {
    parts.insert(parts.end(), {channels, by, by, high, broad});
    order.insert(order.end(), {first, first + 3, first + 1, first + 4, first + 2});
  }
  return written(fmt::format("reshape(permute(reshape({}, {}), {}), {})", site.text("self"), list_text(parts), list_text(order), list_text(to)));
}

/// Groups of channels dealt out in turn.
Written dealt_out(const Site& site, std::string_view) {
  const task::Shape& shape = site.type().shape;
  const int64_t groups = site.integer("groups", 1);
  if (shape.size() < 2 || groups < 1 || shape[1] % groups != 0) return no_word(site, "called as nobody calls it");
  const int64_t rest = task::element_count(shape) / std::max<int64_t>(shape[0] * shape[1], 1);
  return written(fmt::format("reshape(permute(reshape({}, [{}, {}, {}, {}]), [0, 2, 1, 3]), {})", site.text("self"), shape[0], groups, shape[1] / groups, rest, list_text(shape)));
}

constexpr Row kShapes[] = {
    {"aten.reshape.default", reshaped},
    {"aten.flatten.using_ints", reshaped},
    {"aten.unflatten.int", reshaped},
    {"aten.squeeze.default", reshaped},
    {"aten.squeeze.dim", reshaped},
    {"aten.squeeze.dims", reshaped},
    {"aten.unsqueeze.default", reshaped},
    {"aten.permute.default", permuted},
    {"aten.transpose.int", transposed},
    {"aten.swapaxes.default", transposed},
    {"aten.t.default", reversed_axes},
    {"aten.numpy_T.default", reversed_axes},
    {"aten.expand.default", expanded},
    {"aten.expand_as.default", expanded},
    {"aten.repeat.default", repeated},
    {"aten.repeat_interleave.self_int", spread},
    {"aten.cat.default", concatenated},
    {"aten.concat.default", concatenated},
    {"aten.stack.default", stacked},
    {"aten.slice.Tensor", sliced},
    {"aten.select.int", selected},
    {"aten.split.Tensor", parted, "split"},
    {"aten.split_with_sizes.default", parted, "split"},
    {"aten.chunk.default", parted, "split"},
    {"aten.unbind.int", parted, "unbind"},
    {"aten.pad.default", padded},
    {"aten.constant_pad_nd.default", padded},
    {"aten.roll.default", rolled},
    {"aten.flip.default", flipped},
    {"aten.pixel_shuffle.default", shuffled},
    {"aten.pixel_unshuffle.default", shuffled, "apart"},
    {"aten.channel_shuffle.default", dealt_out},
    {"aten.slice_scatter.default", put_in, "slice"},
    {"aten.select_scatter.default", put_in, "index"},
    {"aten.fill.Tensor", overwritten},
    {"aten.triu.default", triangle, "triu"},
    {"aten.tril.default", triangle, "tril"},
    {"aten.diagonal.default", diagonal},
    {"aten.unfold.default", unfolded},
    {"aten.im2col.default", columns},
    {"aten.col2im.default", put_together, {}, true},
    {"aten.zeros.default", filled, "0"},
    {"aten.zeros_like.default", filled, "0"},
    {"aten.new_zeros.default", filled, "0"},
    {"aten.ones.default", filled, "1"},
    {"aten.ones_like.default", filled, "1"},
    {"aten.new_ones.default", filled, "1"},
    {"aten.full.default", filled, "value"},
    {"aten.full_like.default", filled, "value"},
    {"aten.new_full.default", filled, "value"},
    {"aten.scalar_tensor.default", filled, "value"},
    {"aten.arange.default", counted},
    {"aten.arange.start", counted},
    {"aten.arange.start_step", counted},
    {"aten.eye.default", unit},
    {"aten.eye.m", unit},
};

}  // namespace

std::span<const Row> shape_rows() { return kShapes; }

}  // namespace hone::program
