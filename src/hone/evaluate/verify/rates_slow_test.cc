// How often the gate refuses honest kernels and lets wrong ones through, by simulation: the table in
// docs/accuracy.md. Kernels are plain C++ with the rounding of what they stand for.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <functional>

#include "hone/evaluate/oracle/testing.h"
#include "hone/evaluate/verify/bounds.h"

namespace hone::evaluate::rates_slow_cases {
namespace {

using testing::Case;
using Inputs = std::vector<std::vector<float>>;
using Kernel = std::function<std::vector<float>(const Inputs&)>;

/// Draws on which some family refuses the kernel, of `draws`.
int refused(const std::string& label, const std::string& compute, const std::vector<std::string>& inputs,
            int draws, const Kernel& kernel) {
  Case c(compute, inputs);
  int count = 0;
  for (int draw = 0; draw < draws; ++draw) {
    // The anchor's own draws may be lucky, too.
    Bounds bounds(c.task, c.graph, 1 + static_cast<uint64_t>(draw), 1);
    bool accepted = true;
    for (const Family family : kAllFamilies) {
      c.draw_all(family, 1000 + static_cast<uint64_t>(draw));
      const Reference reference =
          make_reference(c.graph, c.oracle(), task::Track::kStrict, 0, {whole(c.output_shape())}, 1);
      Inputs values;
      for (const auto& bytes : c.data) {
        const auto* begin = reinterpret_cast<const float*>(bytes.data());
        values.emplace_back(begin, begin + bytes.size() / sizeof(float));
      }
      const std::vector<float> out = kernel(values);
      const OutputError error = compare_output(c.graph, 0, reference, out.data(), 1);
      accepted &= !judge(error, bounds.of(0, family, reference.anchor), "y");
    }
    count += !accepted;
  }
  std::printf("| %s | %d of %d |\n", label.c_str(), count, draws);
  return count;
}

float to_tf32(float v) { return static_cast<float>(round_bits(v, 11, -126)); }

/// The addition of matrix units: towards zero.
float truncated(double v) {
  const auto nearest = static_cast<float>(v);
  return std::fabs(static_cast<double>(nearest)) > std::fabs(v) ? std::nextafterf(nearest, 0) : nearest;
}

using Dot = std::function<float(const float* a, const float* b, size_t depth)>;

Kernel matmul(size_t m, size_t n, size_t depth, const Dot& dot) {
  return [=](const Inputs& in) {
    std::vector<float> y(m * n), column(depth);
    for (size_t j = 0; j < n; ++j) {
      for (size_t k = 0; k < depth; ++k) column[k] = in[1][k * n + j];
      for (size_t i = 0; i < m; ++i) y[i * n + j] = dot(&in[0][i * depth], column.data(), depth);
    }
    return y;
  };
}

float sequential(const float* a, const float* b, size_t depth) {
  float sum = 0;
  for (size_t k = 0; k < depth; ++k) {
    const volatile float product = a[k] * b[k];
    sum += product;
  }
  return sum;
}

float split_k(const float* a, const float* b, size_t depth) {
  float sum[4] = {};
  for (size_t k = 0; k < depth; ++k) sum[4 * k / depth] = std::fma(a[k], b[k], sum[4 * k / depth]);
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/// TF32 products, eight at a time, in `terms` parts; running sums are added to fp32 ones every
/// `promoted` products.
Dot matrix_unit(int terms, size_t promoted) {
  return [=](const float* a, const float* b, size_t depth) {
    float total = 0, sum = 0;
    for (size_t k = 0; k < depth; k += 8) {
      double large = 0, small = 0;
      for (size_t q = k; q < k + 8; ++q) {
        const float ah = to_tf32(a[q]), bh = to_tf32(b[q]);
        const float al = to_tf32(a[q] - ah), bl = to_tf32(b[q] - bh);
        large += static_cast<double>(ah) * bh;
        small += static_cast<double>(ah) * bl + static_cast<double>(al) * bh;
      }
      if (terms == 3) sum = truncated(sum + small);
      sum = truncated(sum + large);
      if ((k + 8) % promoted == 0) total += std::exchange(sum, 0.0F);
    }
    return total + sum;
  };
}

TEST(Rates, matrix_products) {
  for (const size_t depth : {64, 512}) {
    const std::string k = std::to_string(depth);
    const std::vector<std::string> inputs{"x=f32[16," + k + "]", "w=f32[" + k + ",16]"};
    const auto run = [&](const std::string& label, const Dot& dot) {
      return refused("x @ w, K = " + k + ": " + label, "y = x @ w", inputs, 20, matmul(16, 16, depth, dot));
    };
    EXPECT_EQ(run("fp32, one running sum", sequential), 0);
    EXPECT_EQ(run("fp32, split in four", split_k), 0);
    EXPECT_EQ(run("three TF32 products, promoted every 32", matrix_unit(3, 32)), 0);
    EXPECT_EQ(run("one TF32 product", matrix_unit(1, 32)), 20);
    if (depth == 64) continue;
    EXPECT_EQ(run("three TF32 products, never promoted", matrix_unit(3, 1 << 30)), 20);
  }
}

/// A sum in `lanes` running sums, then pairwise.
template <class F>
float sum_of(const float* x, size_t n, size_t lanes, F f) {
  std::vector<float> sum(lanes, 0.0F);
  for (size_t i = 0; i < n; ++i) sum[i % lanes] += f(x[i]);
  for (size_t width = lanes / 2; width > 0; width /= 2)
    for (size_t j = 0; j < width; ++j) sum[j] += sum[j + width];
  return sum[0];
}

using Row = std::function<void(const float* x, size_t n, float* y)>;

Kernel by_rows(size_t n, const Row& row) {
  return [=](const Inputs& in) {
    std::vector<float> y(in[0].size());
    for (size_t at = 0; at < y.size(); at += n) row(&in[0][at], n, &y[at]);
    return y;
  };
}

Row softmax(size_t lanes) {
  return [=](const float* x, size_t n, float* y) {
    float most = x[0];
    for (size_t i = 1; i < n; ++i) most = std::max(most, x[i]);
    const float sum = sum_of(x, n, lanes, [=](float v) { return std::exp(v - most); });
    for (size_t i = 0; i < n; ++i) y[i] = std::exp(x[i] - most) / sum;
  };
}

Row layer_norm(size_t lanes, bool one_pass) {
  return [=](const float* x, size_t n, float* y) {
    const auto count = static_cast<float>(n);
    const float mean = sum_of(x, n, lanes, [](float v) { return v; }) / count;
    const float variance =
        one_pass ? sum_of(x, n, lanes, [](float v) { return v * v; }) / count - mean * mean
                 : sum_of(x, n, lanes, [=](float v) { return (v - mean) * (v - mean); }) / count;
    const float factor = 1.0F / std::sqrt(variance + 1e-5F);
    for (size_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * factor;
  };
}

TEST(Rates, sums) {
  for (const size_t n : {256, 4096}) {
    const std::string length = std::to_string(n);
    const std::vector<std::string> inputs{"x=f32[8," + length + "]"};
    for (const size_t lanes : {1, 16, 64}) {
      const std::string what = ", n = " + length + ": " + std::to_string(lanes) + " running sums";
      const int wanted = lanes == 1 && n > 256 ? 10 : 0;
      EXPECT_EQ(refused("softmax" + what, "y = softmax(x)", inputs, 10, by_rows(n, softmax(lanes))), wanted);
      EXPECT_EQ(refused("layer_norm" + what, "y = layer_norm(x)", inputs, 10,
                        by_rows(n, layer_norm(lanes, false))),
                wanted);
    }
    // 512 terms a running sum, four times the anchor's: about where the bound lies.
    if (n > 256) {
      EXPECT_GT(refused("layer_norm, n = " + length + ": 8 running sums", "y = layer_norm(x)", inputs, 10,
                        by_rows(n, layer_norm(8, false))),
                0);
    }
    EXPECT_EQ(refused("layer_norm, n = " + length + ": variance as E[x²] - E[x]²", "y = layer_norm(x)",
                      inputs, 10, by_rows(n, layer_norm(64, true))),
              10);
  }
}

TEST(Rates, norms_of_one_row) {
  // One mean and one deviation, whose roundings move every element alike: some draws of the anchor are lucky.
  const std::string compute = "y = (x - mean(x)) / sqrt(var(x) + 1e-5)";
  EXPECT_EQ(refused("a norm of 8192 elements: 256 running sums", compute, {"x=f32[16,512]"}, 40, by_rows(8192, layer_norm(256, false))), 0);
  EXPECT_EQ(refused("a norm of 8192 elements: 512 running sums", compute, {"x=f32[16,512]"}, 40, by_rows(8192, layer_norm(512, false))), 0);
  EXPECT_GT(refused("a norm of 8192 elements: variance as E[x²] - E[x]²", compute, {"x=f32[16,512]"}, 40, by_rows(8192, layer_norm(256, true))), 35);
}

TEST(Rates, activations_of_64_elements) {
  const auto run = [](const std::string& label, const std::string& op, float (*f)(float)) {
    return refused(op + ": " + label, "y = " + op + "(x)", {"x=f32[64]"}, 100, [=](const Inputs& in) {
      std::vector<float> y;
      for (const float x : in[0]) y.push_back(f(x));
      return y;
    });
  };
  EXPECT_EQ(run("1 / (1 + exp(-x))", "sigmoid", [](float x) { return 1 / (1 + std::exp(-x)); }), 0);
  EXPECT_EQ(run("x / (1 + exp(-x))", "silu", [](float x) { return x / (1 + std::exp(-x)); }), 0);
  EXPECT_EQ(run("x / 2 (1 + erf(x / √2))", "gelu",
                [](float x) { return 0.5F * x * (1 + std::erf(x * 0.70710678F)); }),
            0);
  EXPECT_EQ(run("tanh(x / 2) / 2 + 1/2", "sigmoid", [](float x) { return 0.5F * std::tanh(0.5F * x) + 0.5F; }),
            100);
  EXPECT_EQ(run("the tanh formula", "gelu",
                [](float x) {
                  return 0.5F * x * (1 + std::tanh(0.7978845608F * (x + 0.044715F * x * x * x)));
                }),
            100);
}

}  // namespace
}  // namespace hone::evaluate::rates_slow_cases
