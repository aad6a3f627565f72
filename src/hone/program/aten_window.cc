// Pooling and resizing.
#include <algorithm>

#include <fmt/format.h>

#include "hone/program/aten.h"

namespace hone::program {
namespace {

/// "max2" is of two dimensions.
size_t dimensions_of(std::string_view detail) { return static_cast<size_t>(detail.back() - '0'); }

/// ceil_mode windows that begin in the padding behind the input do not count, in PyTorch as in the language.
std::string window(const Site& site, size_t dimensions) {
  const auto kernel = site.integers("kernel_size", dimensions);
  auto stride = site.integers("stride", dimensions);
  if (stride.empty()) stride = kernel;
  return fmt::format("{}, stride={}, padding={}", list_text(kernel), list_text(stride), list_text(site.integers("padding", dimensions)));
}

/// A sample without a batch axis gets one.
struct Batched {
  Batched(const Site& site, size_t dimensions) : text(site.text("self")), shape(site.type().shape), single(static_cast<size_t>(site.rank("self")) == dimensions + 1) {
    task::Shape with = site.type_of("self").shape;
    with.insert(with.begin(), 1);
    if (single) text = fmt::format("reshape({}, {})", text, list_text(with));
  }
  [[nodiscard]] std::string back(std::string result) const { return single ? fmt::format("reshape({}, {})", result, list_text(shape)) : result; }
  std::string text;
  task::Shape shape;
  bool single;
};

Written max_pool(const Site& site, std::string_view detail) {
  const size_t dimensions = dimensions_of(detail);
  const Batched x(site, dimensions);
  std::string text = x.back(fmt::format("max_pool{}d({}, {}, dilation={}, ceil_mode={})", dimensions, x.text, window(site, dimensions), list_text(site.integers("dilation", dimensions)), site.flag("ceil_mode")));
  return site.node().several ? Written(std::vector<std::string>{std::move(text), ""}) : written(std::move(text));
}

Written avg_pool(const Site& site, std::string_view detail) {
  const size_t dimensions = dimensions_of(detail);
  const Batched x(site, dimensions);
  const bool divisor = site.has("divisor_override");   // of all windows, cut off or not
  if (divisor && site.flag("ceil_mode")) return no_word(site, "divisor_override with ceil_mode");
  std::string text = fmt::format("avg_pool{}d({}, {}, ceil_mode={}, count_include_pad={})", dimensions, x.text, window(site, dimensions), site.flag("ceil_mode"), divisor || site.flag("count_include_pad"));
  if (divisor) {
    double count = 1;
    for (const int64_t extent : site.integers("kernel_size", dimensions)) count *= static_cast<double>(extent);
    text = fmt::format("({} * {})", text, number_text(count / site.number("divisor_override", 1)));
  }
  return written(x.back(std::move(text)));
}

Written adaptive_pool(const Site& site, std::string_view detail) {
  const size_t dimensions = dimensions_of(detail);
  const std::string_view kind = detail.substr(0, detail.size() - 1);
  const Batched x(site, dimensions);
  const auto size = site.integers("output_size", dimensions);
  if (std::any_of(size.begin(), size.end(), [](int64_t n) { return n <= 0; })) return no_word(site, "of no elements");
  std::string text = x.back(fmt::format("adaptive_{}_pool{}d({}, {})", kind, dimensions, x.text, list_text(size)));
  return site.node().several ? Written(std::vector<std::string>{std::move(text), ""}) : written(std::move(text));
}

Written nearest(const Site& site, std::string_view detail) {
  const size_t dimensions = dimensions_of(detail);
  const std::string_view name = site.has("input") ? "input" : "self";
  const task::Shape &from = site.type_of(name).shape, &to = site.type().shape;
  std::string text = site.text(name);
  for (size_t i = 2; i < dimensions + 2; ++i) {
    if (from.at(i) == 0 || to.at(i) % from.at(i) != 0) return no_word(site, "by no whole factor");
    if (to[i] != from[i]) text = fmt::format("repeat_interleave({}, {}, {})", text, to[i] / from[i], i);
  }
  return written(std::move(text));
}

constexpr Row kWindows[] = {
    {"aten.max_pool1d.default", max_pool, "max1"},
    {"aten.max_pool2d.default", max_pool, "max2"},
    {"aten.max_pool3d.default", max_pool, "max3"},
    {"aten.max_pool2d_with_indices.default", max_pool, "max2"},
    {"aten.max_pool3d_with_indices.default", max_pool, "max3"},
    {"aten.avg_pool1d.default", avg_pool, "avg1"},
    {"aten.avg_pool2d.default", avg_pool, "avg2"},
    {"aten.avg_pool3d.default", avg_pool, "avg3"},
    {"aten.adaptive_avg_pool1d.default", adaptive_pool, "avg1"},
    {"aten.adaptive_avg_pool2d.default", adaptive_pool, "avg2"},
    {"aten.adaptive_avg_pool3d.default", adaptive_pool, "avg3"},
    {"aten._adaptive_avg_pool2d.default", adaptive_pool, "avg2"},
    {"aten._adaptive_avg_pool3d.default", adaptive_pool, "avg3"},
    {"aten.adaptive_max_pool1d.default", adaptive_pool, "max1"},
    {"aten.adaptive_max_pool2d.default", adaptive_pool, "max2"},
    {"aten.adaptive_max_pool3d.default", adaptive_pool, "max3"},
    {"aten.upsample_nearest1d.vec", nearest, "1"},
    {"aten.upsample_nearest2d.vec", nearest, "2"},
    {"aten.upsample_nearest3d.vec", nearest, "3"},
    {"aten.upsample_nearest1d.default", nearest, "1"},
    {"aten.upsample_nearest2d.default", nearest, "2"},
    {"aten.upsample_nearest3d.default", nearest, "3"},
};

}  // namespace

std::span<const Row> window_rows() { return kWindows; }

}  // namespace hone::program
