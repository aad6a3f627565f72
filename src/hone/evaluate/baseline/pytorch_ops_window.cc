// Convolutions and pooling.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/evaluate/baseline/pytorch_emit.h"

namespace hone::evaluate {
namespace {

/// detail: the function.
Result<Term> conv(const Site& site, std::string_view detail) {
  const auto bias = site.find("bias");
  const std::string output_padding = site.has("output_padding") ? site.keyword_ints("output_padding", 0) : "";
  return call_term(
      fmt::format("{}({}, {}{}{}{}{}{}{})", detail, site.in_result_type(0).text, site.in_result_type(1).text,
                  bias ? ", bias=" + site.in_result_type(*bias).text : "", site.keyword_ints("stride", 1),
                  site.has("padding_high") ? ", padding=\"same\"" : site.keyword_ints("padding", 0), output_padding, site.keyword_ints("dilation", 1),
                  site.keyword_ints("groups", 1)));
}

/// PyTorch pools [N, C, s…] and [C, s…]: more leading dimensions are folded into N. `spatial` is the
/// number of dimensions pooled; `call` a format with a place for x.
Result<Term> pool(const Site& site, std::string x, size_t spatial, std::string_view function,
                  const std::string& options) {
  const auto rank = static_cast<size_t>(site.rank(0));
  if (rank <= spatial + 2) return call_term(fmt::format("{}({}{})", function, x, options));
  return call_term(fmt::format("{}({}.flatten(0, {}){}).reshape({})", function,
                               bracket(site.operand(0), Binding::kPrimary), rank - spatial - 2, options,
                               fmt::join(site.result_shape(), ", ")));
}

/// detail: the function.
Result<Term> plain_pool(const Site& site, std::string_view detail) {
  const std::vector<int64_t> kernel = site.integers("kernel"), stride = site.integers("stride");
  std::string options = ", " + one_or_tuple(kernel);
  if (stride != kernel) options += ", stride=" + one_or_tuple(stride);
  options += site.keyword_ints("padding", 0);
  if (site.has("dilation")) options += site.keyword_ints("dilation", 1);
  if (site.flag("ceil_mode")) options += ", ceil_mode=True";
  if (site.has("count_include_pad") && !site.flag("count_include_pad"))
    options += ", count_include_pad=False";
  return pool(site, site.tensor(0), kernel.size(), detail, options);
}

/// detail: the function.
Result<Term> adaptive_pool(const Site& site, std::string_view detail) {
  const std::vector<int64_t> size = site.integers("output_size");
  const bool mean = detail.find("avg") != std::string_view::npos;
  return pool(site, mean ? site.real(0) : site.tensor(0), size.size(), detail, ", " + one_or_tuple(size));
}

constexpr WriterRow kWindowWriters[] = {
    {"conv1d", conv, "F.conv1d"},
    {"conv2d", conv, "F.conv2d"},
    {"conv3d", conv, "F.conv3d"},
    {"conv_transpose1d", conv, "F.conv_transpose1d"},
    {"conv_transpose2d", conv, "F.conv_transpose2d"},
    {"conv_transpose3d", conv, "F.conv_transpose3d"},
    {"max_pool1d", plain_pool, "F.max_pool1d"},
    {"max_pool2d", plain_pool, "F.max_pool2d"},
    {"max_pool3d", plain_pool, "F.max_pool3d"},
    {"avg_pool1d", plain_pool, "F.avg_pool1d"},
    {"avg_pool2d", plain_pool, "F.avg_pool2d"},
    {"avg_pool3d", plain_pool, "F.avg_pool3d"},
    {"adaptive_avg_pool1d", adaptive_pool, "F.adaptive_avg_pool1d"},
    {"adaptive_avg_pool2d", adaptive_pool, "F.adaptive_avg_pool2d"},
    {"adaptive_avg_pool3d", adaptive_pool, "F.adaptive_avg_pool3d"},
    {"adaptive_max_pool1d", adaptive_pool, "F.adaptive_max_pool1d"},
    {"adaptive_max_pool2d", adaptive_pool, "F.adaptive_max_pool2d"},
    {"adaptive_max_pool3d", adaptive_pool, "F.adaptive_max_pool3d"},
};

}  // namespace

std::span<const WriterRow> window_writers() { return kWindowWriters; }

}  // namespace hone::evaluate
