// The parts of matrix products in hone/cpu.h, against sums in double precision or in integers. CMake builds this file
// once for each instruction set.
#include "hone/cpu.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <type_traits>
#include <vector>

namespace hone {
namespace {

template <class V>
void turns() {
  constexpr int n = width<V>;
  V x[n];
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) x[i][j] = static_cast<Lane<V>>(100 * i + j);
  transpose(x);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) EXPECT_EQ(x[i][j], static_cast<Lane<V>>(100 * j + i)) << i << ", " << j;
}

TEST(CpuMatmul, SquaresAreTurned) {
  turns<f32v>();
  turns<f64v>();
  turns<u32v>();
}

/// How a factor lies in memory.
enum class Layout { kAlong, kBeside, kApart };

/// A factor of lines x depth with room behind nothing: the vector ends where the factor does.
template <class T>
struct Values {
  int64_t lines, depth, line_step, step;
  std::vector<T> data;
  Values(int64_t lines_in, int64_t depth_in, Layout layout, std::mt19937& random) : lines(lines_in), depth(depth_in) {
    const int64_t apart = layout == Layout::kApart ? 3 : 1;
    line_step = layout == Layout::kBeside ? 1 : depth * apart, step = layout == Layout::kBeside ? lines : apart;
    data.resize(static_cast<size_t>((lines - 1) * line_step + (depth - 1) * step + 1));
    for (T& x : data) {
      if constexpr (std::is_same_v<T, int8_t>) x = static_cast<int8_t>(random());
      else x = T(std::uniform_real_distribution<float>(-1, 1)(random));
    }
  }
  T at(int64_t line, int64_t k) const { return data[static_cast<size_t>(line * line_step + k * step)]; }
};

template <class P, int R, bool LEFT, class T>
std::vector<typename P::Element> packed(const Values<T>& from, Layout layout) {
  const int64_t deep = align(from.depth, P::kGroup);
  std::vector<typename P::Element> to(static_cast<size_t>(align(from.lines, R) * deep));
  for (int64_t first = 0; first < from.lines; first += R) {
    const int64_t count = min<int64_t>(R, from.lines - first);
    const auto row = [&](int64_t i) { return from.data.data() + (first + i) * from.line_step; };
    auto* at = to.data() + first * deep;
    if (layout == Layout::kAlong) pack_along<P, R, LEFT>(at, count, from.depth, row);
    else if (layout == Layout::kBeside) pack_lines<P, R, LEFT>(at, row(0), count, from.depth, from.step);
    else pack_rows<P, R, LEFT>(at, count, from.depth, from.step, row);
  }
  return to;
}

/// Rows, columns and depth are multiples of nothing.
template <class P, class T>
void multiplies(double tolerance) {
  using S = Lane<typename P::Sum>;
  constexpr int R = 6, C = 2 * width<typename P::Sum>;
  constexpr int64_t kStride = align(37, C);
  std::mt19937 random(3);
  for (const Layout layout : {Layout::kAlong, Layout::kBeside, Layout::kApart})
    for (const int64_t depth : {int64_t{1}, int64_t{31}, int64_t{67}, int64_t{96}}) {
      const Values<T> a(17, depth, layout, random), b(37, depth, layout, random);
      const auto left = packed<P, R, true>(a, layout);
      const auto right = packed<P, C, false>(b, layout);
      std::vector<S> block(static_cast<size_t>(align(17, R) * kStride), S(7));
      multiply_block<P, R, C, 32>(block.data(), kStride, left.data(), right.data(), align(depth, P::kGroup), 17, 37);
      for (int64_t i = 0; i < 17; ++i)
        for (int64_t j = 0; j < 37; ++j) {
          double sum = 0;
          for (int64_t k = 0; k < depth; ++k) sum += static_cast<double>(a.at(i, k)) * static_cast<double>(b.at(j, k));
          EXPECT_NEAR(static_cast<double>(block[static_cast<size_t>(i * kStride + j)]), sum, tolerance)
              << static_cast<int>(layout) << " " << depth << ": " << i << ", " << j;
        }
    }
}

TEST(CpuMatmul, Singles) { multiplies<PlainProducts<f32v>, float>(1e-5); }
TEST(CpuMatmul, Doubles) { multiplies<PlainProducts<f64v>, double>(1e-14); }
TEST(CpuMatmul, HalvesAsSingles) { multiplies<PlainProducts<f32v>, f16>(1e-5); }
TEST(CpuMatmul, QuadsOfBytesAreExact) { multiplies<I8Products, int8_t>(0); }

TEST(CpuMatmul, TilesLeaveOutWhatIsClipped) {
  using P = PlainProducts<f32v>;
  constexpr int R = 4, C = width<f32v>;
  std::mt19937 random(5);
  const int64_t n = 3 * C;
  Values<float> a(n, n, Layout::kAlong, random), b(n, n, Layout::kBeside, random);
  // Both upper triangular, with rubbish for zeros where no tile looks.
  for (int64_t i = 0; i < n; ++i)
    for (int64_t k = 0; k < n; ++k) {
      const float rubbish = std::nanf("");
      if (k < i) a.data[static_cast<size_t>(i * a.line_step + k)] = k < i / R * R ? rubbish : 0;
      if (k > i) b.data[static_cast<size_t>(i + k * b.step)] = k >= (i / C + 1) * C ? rubbish : 0;
    }
  const auto left = packed<P, R, true>(a, Layout::kAlong);
  const auto right = packed<P, C, false>(b, Layout::kBeside);
  std::vector<float> block(static_cast<size_t>(n * n), std::nanf(""));
  multiply_block<P, R, C, 16>(block.data(), n, left.data(), right.data(), n, n, n,
                              [](int64_t row, int64_t column, Segment now) { return Segment{max(now.low, row), min(now.end, column + C)}; });
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t k = i; k <= j; ++k) sum += static_cast<double>(a.at(i, k)) * b.at(j, k);
      EXPECT_NEAR(block[static_cast<size_t>(i * n + j)], sum, 1e-5) << i << ", " << j;
    }
}

TEST(CpuMatmul, LoopsBeginWhereAHeadEnds) {
  alignas(64) float line[80];
  for (int64_t from = 0; from < 20; ++from)
    for (const int64_t count : {int64_t{0}, int64_t{3}, int64_t{16}, int64_t{60}}) {
      std::fill(line, line + 80, 0.0f);
      float* at = line + from;
      const int64_t head = before_boundary<f32v>(at);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(at + head) % sizeof(f32v), 0U);
      EXPECT_LT(head, width<f32v>);
      for_each_behind<f32v, 2>(head, count, [&](int64_t j, auto n) HONE_BODY { store_n(at + j, load_n<f32v>(at + j, n) + 1, n); });
      for (int64_t i = 0; i < 80; ++i) EXPECT_EQ(line[i], i >= from && i < from + count ? 1.0f : 0.0f) << from << ", " << count << ": " << i;
    }
}

}  // namespace
}  // namespace hone
