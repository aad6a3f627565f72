// Laws that hold whatever the shapes: a program whose two outputs must agree. On small integers linear
// operations are exact in fp64 in any order, so there equal means equal. Fixed seeds.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "hone/base/random.h"
#include "hone/evaluate/oracle/testing.h"

namespace hone::evaluate::property_cases {
namespace {

using testing::Case;

constexpr int kTrials = 60;

class Property : public ::testing::Test {
 protected:
  int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(rng_.below(static_cast<uint64_t>(high - low + 1)));
  }
  static std::string input(const char* name, const task::Shape& shape) {
    return fmt::format("{}=f64[{}]", name, fmt::join(shape, ","));
  }
  /// The first two outputs, element by element: to `tolerance` of the first one's scale.
  void agree(const std::string& compute, const std::vector<std::string>& inputs, Family family,
             double tolerance) {
    SCOPED_TRACE(fmt::format("{} of {}", compute, fmt::join(inputs, " ")));
    Case c(compute, inputs);
    ASSERT_EQ(c.task.outputs.size(), 2U);
    ASSERT_EQ(c.output_shape(0), c.output_shape(1));
    c.draw_all(family, rng_.next_u64());
    const Answer a = c.answer(Arithmetic::kExact, 0), b = c.answer(Arithmetic::kExact, 1);
    for (size_t i = 0; i < a.value.size(); ++i)
      ASSERT_LE(std::abs(a.value[i] - b.value[i]), tolerance * a.scale[i]) << "element " << i;
  }

  base::Rng rng_{20240229};
};

TEST_F(Property, products_are_linear) {
  for (int t = 0; t < kTrials; ++t) {
    const int64_t m = between(1, 9), k = between(1, 40), n = between(1, 9);
    agree("a = (3 * x - 2 * z) @ w; b = 3 * (x @ w) - 2 * (z @ w)",
          {input("x", {m, k}), input("z", {m, k}), input("w", {k, n})}, Family::kInteger, 0);
  }
}

struct Window {
  int64_t kernel, stride, padding, dilation, extent, count;
};

class ConvProperty : public Property {
 protected:
  Window window() {
    Window w{between(1, 3), between(1, 3), between(0, 2), between(1, 2), 0, 0};
    const int64_t span = w.dilation * (w.kernel - 1) + 1;
    w.extent = std::max<int64_t>(1, span - 2 * w.padding) + between(0, 5);
    w.count = (w.extent + 2 * w.padding - span) / w.stride + 1;
    return w;
  }
  static std::string options(const Window& i, const Window& j) {
    return fmt::format("stride=({}, {}), padding=({}, {}), dilation=({}, {})", i.stride, j.stride, i.padding,
                       j.padding, i.dilation, j.dilation);
  }
};

TEST_F(ConvProperty, convolutions_are_linear) {
  for (int t = 0; t < kTrials; ++t) {
    const Window i = window(), j = window();
    const int64_t c = between(1, 3), g = between(1, 2);
    const std::string f = options(i, j) + fmt::format(", groups={}", g);
    const std::string x = input("x", {2, c * g, i.extent, j.extent}), z = "z" + x.substr(1);
    agree(fmt::format("a = conv2d(3 * x - z, w, {0}); b = 3 * conv2d(x, w, {0}) - conv2d(z, w, {0})", f),
          {x, z, input("w", {2 * g, c, i.kernel, j.kernel})}, Family::kInteger, 0);
  }
}

/// Every window as a column: slices of the padded image, one a kernel element.
TEST_F(ConvProperty, convolution_is_a_product_with_the_windows) {
  for (int t = 0; t < kTrials; ++t) {
    const Window i = window(), j = window();
    const int64_t c = between(1, 3), o = between(1, 3);
    std::vector<std::string> columns;
    for (int64_t p = 0; p < i.kernel; ++p)
      for (int64_t q = 0; q < j.kernel; ++q) {
        const int64_t row = p * i.dilation, column = q * j.dilation;
        columns.push_back(fmt::format("v[:, :, {}:{}:{}, {}:{}:{}]", row, row + (i.count - 1) * i.stride + 1,
                                      i.stride, column, column + (j.count - 1) * j.stride + 1, j.stride));
      }
    agree(fmt::format("a = conv2d(x, w, {}); v = pad(x, [0, 0, {}, {}], [0, 0, {}, {}]); "
                      "b = einsum(\"ncpij,ocp->noij\", stack([{}], axis=2), reshape(w, [{}, {}, {}]))",
                      options(i, j), i.padding, j.padding, i.padding, j.padding, fmt::join(columns, ", "), o,
                      c, i.kernel * j.kernel),
          {input("x", {2, c, i.extent, j.extent}), input("w", {o, c, i.kernel, j.kernel})}, Family::kInteger,
          0);
  }
}

/// sum(conv(x) * y) = sum(x * conv_transpose(y)) with one weight for both.
TEST_F(ConvProperty, the_transposed_convolution_is_the_adjoint) {
  for (int t = 0; t < kTrials; ++t) {
    const Window i = window(), j = window();
    const int64_t c = between(1, 3), g = between(1, 2), o = between(1, 2);
    const auto rest = [](const Window& w) {
      return (w.extent + 2 * w.padding - w.dilation * (w.kernel - 1) - 1) % w.stride;
    };
    const std::string f = options(i, j) + fmt::format(", groups={}", g);
    agree(fmt::format("a = sum(conv2d(x, w, {0}) * y); "
                      "b = sum(x * conv_transpose2d(y, w, {0}, output_padding=({1}, {2})))",
                      f, rest(i), rest(j)),
          {input("x", {2, c * g, i.extent, j.extent}), input("w", {o * g, c, i.kernel, j.kernel}),
           input("y", {2, o * g, i.count, j.count})},
          Family::kInteger, 0);
  }
}

TEST_F(Property, softmax_knows_no_shift) {
  for (int t = 0; t < kTrials; ++t) {
    const task::Shape shape{between(1, 5), between(1, 90), between(1, 5)};
    const int64_t axis = between(0, 2);
    agree(fmt::format("a = softmax(x, axis={0}); b = softmax(x + 37.25, axis={0})", axis),
          {input("x", shape)}, Family::kNormal, 1e-13);
    agree(fmt::format("a = log_softmax(x, axis={0}); b = log_softmax(x - 5.5, axis={0})", axis),
          {input("x", shape)}, Family::kNormal, 1e-13);
  }
}

TEST_F(Property, scans_are_prefix_sums) {
  for (int t = 0; t < kTrials; ++t) {
    const task::Shape shape{between(1, 6), between(1, 200), between(1, 3)};
    const std::vector<std::string> inputs{input("x", shape)};
    agree("a = cumsum(x, 1) - x; b = cumsum(x, 1, exclusive=True)", inputs, Family::kInteger, 0);
    agree("a = cumsum(x, 1, reverse=True); b = flip(cumsum(flip(x, 1), 1), 1)", inputs, Family::kInteger, 0);
    agree("a = cumsum(x, 1)[:, -1]; b = sum(x, axis=1)", inputs, Family::kInteger, 0);
    agree(fmt::format("a = cumsum(x, 1); b = einsum(\"ijk,jl->ilk\", x, triu(ones([{0}, {0}], dtype=f64)))",
                      shape[1]),
          inputs, Family::kInteger, 0);
    agree("a = cummax(x, 1)[:, -1]; b = max(x, axis=1)", inputs, Family::kSparse, 0);
  }
}

std::vector<double> column(const std::vector<double>& values, int64_t n, int64_t width, int64_t at) {
  std::vector<double> picked;
  for (int64_t i = 0; i < n; ++i) picked.push_back(values[static_cast<size_t>(i * width + at)]);
  return picked;
}

/// Down the columns of [n, width], ties among the values.
TEST_F(Property, sorts_are_order_statistics) {
  for (int t = 0; t < kTrials; ++t) {
    const int64_t n = between(1, 120), width = between(1, 4), k = between(1, n);
    Case c(fmt::format("s = sort(x, axis=0); d = sort(x, axis=0, descending=True); "
                       "v, i = topk(x, {}, axis=0); m = min(x, axis=0, keepdims=True)",
                       k),
           {input("x", {n, width})});
    c.draw_all(t % 2 == 0 ? Family::kInteger : Family::kNormal, rng_.next_u64());
    std::vector<double> x(static_cast<size_t>(n * width));
    load_doubles(task::DType::kF64, c.data[0].data(), 0, n * width, x.data());
    std::vector<std::vector<double>> outputs;
    for (int k_out = 0; k_out < 5; ++k_out) outputs.push_back(c.answer(Arithmetic::kExact, k_out).value);
    for (int64_t j = 0; j < width; ++j) {
      const std::vector<double> given = column(x, n, width, j);
      std::vector<double> sorted = given;
      std::sort(sorted.begin(), sorted.end());
      EXPECT_EQ(column(outputs[0], n, width, j), sorted);
      EXPECT_EQ(outputs[4][static_cast<size_t>(j)], sorted[0]);
      std::reverse(sorted.begin(), sorted.end());
      EXPECT_EQ(column(outputs[1], n, width, j), sorted);
      sorted.resize(static_cast<size_t>(k));
      EXPECT_EQ(column(outputs[2], k, width, j), sorted);
      std::vector<double> named;
      for (const double at : column(outputs[3], k, width, j)) named.push_back(given[static_cast<size_t>(at)]);
      EXPECT_EQ(named, sorted);
    }
  }
}

}  // namespace
}  // namespace hone::evaluate::property_cases
