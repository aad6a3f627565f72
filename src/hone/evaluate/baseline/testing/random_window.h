// Convolutions and pooling.
#pragma once
#include "hone/evaluate/baseline/testing/random_case.h"

namespace hone::evaluate::testing {
namespace window {

/// "conv2d": 2.
inline size_t rank_of(const Draft& d) { return static_cast<size_t>(d.op()[d.op().rfind('d') - 1] - '0'); }

/// A number for each spatial dimension; the same one half the time.
inline std::vector<int64_t> each(Draft& d, size_t rank, int64_t low, int64_t high) {
  std::vector<int64_t> values(rank, d.between(low, high));
  if (d.chance())
    for (int64_t& v : values) v = d.between(low, high);
  return values;
}

/// ", key=3" or ", key=(1, 2)"; nothing, sometimes, where the value is the default.
inline void add(Draft& d, Options& options, std::string_view key, const std::vector<int64_t>& values,
                int64_t fallback) {
  const bool equal = std::all_of(values.begin(), values.end(), [&](int64_t v) { return v == values[0]; });
  if (equal && values[0] == fallback && d.chance(0.8)) return;
  options.add(key, equal && d.chance() ? std::to_string(values[0]) : tuple_text(values));
}

inline void conv(Draft& d) {
  const size_t rank = rank_of(d);
  const bool transposed = d.op().find("transpose") != std::string::npos;
  const DType type = d.real();
  const int64_t groups = d.chance(0.5) ? 1 : d.between(1, 3);
  const int64_t in = d.extent(3), out = d.extent(3);  // per group
  const std::vector<int64_t> kernel = each(d, rank, 1, 3), stride = each(d, rank, 1, 3),
                             dilation = each(d, rank, 1, d.chance() ? 1 : 3);
  std::vector<int64_t> padding = each(d, rank, 0, d.chance() ? 0 : 2), extra(rank, 0);
  Shape x{d.extent(3), in * groups}, w{out * groups, in};
  if (transposed) w = {in * groups, out};
  for (size_t i = 0; i < rank; ++i) {
    const int64_t span = dilation[i] * (kernel[i] - 1) + 1;
    if (transposed) {
      if (d.chance(0.4)) extra[i] = d.between(0, std::max(stride[i], dilation[i]) - 1);
      // The result has an element at least.
      const int64_t short_by = 1 + 2 * padding[i] - span - extra[i];
      const int64_t least = short_by <= 0 ? 1 : 1 + (short_by + stride[i] - 1) / stride[i];
      x.push_back(least + d.between(0, rank == 3 ? 2 : 4));
    } else {
      x.push_back(std::max<int64_t>(1, span - 2 * padding[i]) + d.between(0, rank == 3 ? 3 : 6));
    }
    w.push_back(kernel[i]);
  }
  const bool same = !transposed && stride == std::vector<int64_t>(rank, 1) && d.chance();
  d.tensor("x", type, x);
  d.tensor("w", type, w);
  const bool bias = d.chance();
  if (bias) d.tensor("b", type, {out * groups});
  Options options;
  add(d, options, "stride", stride, 1);
  if (same) options.add("padding", "\"same\"");
  else add(d, options, "padding", padding, 0);
  if (transposed) add(d, options, "output_padding", extra, 0);
  add(d, options, "dilation", dilation, 1);
  if (groups != 1 || d.chance(0.2)) options.add("groups", std::to_string(groups));
  d.compare(
      fmt::format("{}(x, w{}{})", d.name(), bias ? (d.chance() ? ", b" : ", bias=b") : "", options.hone),
      fmt::format("F.{}(x, w{}{})", d.op(), bias ? ", b" : "", options.torch));
}

/// [..., C, spatial]; PyTorch takes one leading dimension at most, folded() brings others in.
inline void pool(Draft& d) {
  const size_t rank = rank_of(d);
  const bool largest = d.op().find("max") != std::string::npos;
  const std::vector<int64_t> kernel = each(d, rank, 1, 4), stride = each(d, rank, 1, 4),
                             dilation = largest ? each(d, rank, 1, d.chance() ? 1 : 3)
                                                : std::vector<int64_t>(rank, 1);
  std::vector<int64_t> padding(rank, 0);
  if (d.chance())
    for (size_t i = 0; i < rank; ++i) padding[i] = d.between(0, kernel[i] / 2);
  Shape x = d.shape(1, 3, 3);
  for (size_t i = 0; i < rank; ++i) {
    const int64_t span = dilation[i] * (kernel[i] - 1) + 1;
    // avg_pool3d of PyTorch's wants the whole window inside x without padding.
    const int64_t least = d.op() == "avg_pool3d" ? span : std::max<int64_t>(1, span - 2 * padding[i]);
    x.push_back(least + d.between(0, rank == 3 ? 3 : 7));
  }
  d.tensor("x", d.real(), x);
  Options options;
  const bool equal = std::all_of(kernel.begin(), kernel.end(), [&](int64_t k) { return k == kernel[0]; });
  const std::string size = equal && d.chance() ? std::to_string(kernel[0]) : tuple_text(kernel);
  options.hone = ", " + size;
  options.torch = ", " + size;
  const bool stepped = d.chance(0.7);
  if (stepped) options.add("stride", tuple_text(stride));
  add(d, options, "padding", padding, 0);
  if (largest) add(d, options, "dilation", dilation, 1);
  if (d.chance(0.4)) options.add("ceil_mode", "True");
  if (!largest && d.chance(0.4)) options.add("count_include_pad", "False");
  d.compare(fmt::format("{}(x{})", d.name(), options.hone),
            fmt::format("folded(lambda v: F.{}(v{}), x, {})", d.op(), options.torch, rank));
}

inline void adaptive(Draft& d) {
  const size_t rank = rank_of(d);
  const std::vector<int64_t> size = each(d, rank, 1, 3);
  Shape x = d.shape(1, 3, 3);
  const bool even = d.chance();
  for (size_t i = 0; i < rank; ++i) x.push_back(even ? size[i] * d.between(1, 4) : d.between(1, 9));
  d.tensor("x", d.real(), x);
  Options options;
  add(d, options, "output_size", size, -1);
  d.compare(fmt::format("{}(x{})", d.name(), options.hone),
            fmt::format("folded(lambda v: F.{}(v{}), x, {})", d.op(), options.torch, rank));
}

inline constexpr Generator kConvRows[] = {
    {"conv1d", conv},           {"conv2d", conv},           {"conv3d", conv},
    {"conv_transpose1d", conv}, {"conv_transpose2d", conv}, {"conv_transpose3d", conv},
};
inline constexpr Generator kPoolRows[] = {
    {"max_pool1d", pool},
    {"max_pool2d", pool},
    {"max_pool3d", pool},
    {"avg_pool1d", pool},
    {"avg_pool2d", pool},
    {"avg_pool3d", pool},
    {"adaptive_avg_pool1d", adaptive},
    {"adaptive_avg_pool2d", adaptive},
    {"adaptive_avg_pool3d", adaptive},
    {"adaptive_max_pool1d", adaptive},
    {"adaptive_max_pool2d", adaptive},
    {"adaptive_max_pool3d", adaptive},
};

}  // namespace window
}  // namespace hone::evaluate::testing
