#include "hone/evaluate/verify/inputs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "hone/evaluate/oracle/number.h"

namespace hone::evaluate {
namespace {

using task::Domain;
using task::DType;
using task::Shape;
using task::Structure;

task::InputSpec spec_of(DType type, Domain domain = Domain::kReal,
                        Structure structure = Structure::kNone, std::string name = "x") {
  task::InputSpec spec;
  spec.name = std::move(name);
  spec.type.dtype = type;
  spec.domain = domain;
  spec.structure = structure;
  return spec;
}

std::vector<double> drawn(const task::InputSpec& spec, const Shape& shape, Family family,
                          uint64_t seed = 1, int64_t bound = 1, int threads = 2) {
  const int64_t count = task::element_count(shape);
  std::vector<uint8_t> data(static_cast<size_t>(count * task::size_of(spec.type.dtype)));
  draw(spec, shape, bound, family, seed, data.data(), threads);
  std::vector<double> values(static_cast<size_t>(count));
  load_doubles(spec.type.dtype, data.data(), 0, count, values.data());
  return values;
}

TEST(Inputs, depend_on_spec_family_and_seed_alone) {
  const Shape shape{37, 1001};
  for (const Family family : kAllFamilies) {
    const auto spec = spec_of(DType::kF32);
    const auto first = drawn(spec, shape, family, 9, 1, 1);
    EXPECT_EQ(first, drawn(spec, shape, family, 9, 1, 3)) << name_of(family);
    EXPECT_NE(first, drawn(spec, shape, family, 10)) << name_of(family);
    const auto other = spec_of(DType::kF32, Domain::kReal, Structure::kNone, "w");
    EXPECT_NE(first, drawn(other, shape, family, 9)) << name_of(family);
  }
}

TEST(Inputs, WideIntegersReachTheEndsOfTheirRange) {
  for (const auto& [type, bits, least, most] : {std::tuple{DType::kI8, 7, -128.0, 127.0}, {DType::kI32, 31, -2147483648.0, 2147483647.0},
                                                {DType::kI32, 20, -1048576.0, 1048575.0}, {DType::kI64, 52, -0x1p52, 0x1p52 - 1}}) {
    DrawBounds bounds;
    bounds.plain_bits = 7;
    bounds.wrapping_bits = bits;
    const auto values = [&](Family family) {
      std::vector<uint8_t> data(5000 * static_cast<size_t>(task::size_of(type)));
      draw(spec_of(type), {5000}, bounds, family, 3, data.data());
      std::vector<double> all(5000);
      load_doubles(type, data.data(), 0, 5000, all.data());
      return all;
    };
    const auto wide = values(Family::kMantissa), plain = values(Family::kLarge);
    EXPECT_EQ(*std::min_element(wide.begin(), wide.end()), least);
    EXPECT_EQ(*std::max_element(wide.begin(), wide.end()), most);
    EXPECT_EQ(*std::min_element(plain.begin(), plain.end()), -128);
    bounds.symmetric = true;
    const auto symmetric = values(Family::kMantissa);
    EXPECT_EQ(*std::min_element(symmetric.begin(), symmetric.end()), -most);
  }
}

TEST(Inputs, NonFiniteOnesHoldNanAndInfinitiesWhereTheDomainDoes) {
  int rows_without = 0, rows_of_nothing_else = 0, nans = 0, infinities = 0;
  for (uint64_t seed = 0; seed < 16; ++seed) {
    const auto values = drawn(spec_of(DType::kF32), {100, 30}, Family::kNonFinite, seed);
    for (size_t row = 0; row < 100; ++row) {
      const auto begin = values.begin() + static_cast<std::ptrdiff_t>(30 * row);
      const auto odd = std::count_if(begin, begin + 30, [](double v) { return !std::isfinite(v); });
      rows_without += odd == 0;
      rows_of_nothing_else += odd == 30;
    }
    nans += std::any_of(values.begin(), values.end(), [](double v) { return std::isnan(v); });
    infinities += std::any_of(values.begin(), values.end(), [](double v) { return std::isinf(v); });
    for (const double v : drawn(spec_of(DType::kF16, Domain::kPositive), {500}, Family::kNonFinite, seed)) EXPECT_TRUE(std::isnan(v) || v > 0);
    for (const double v : drawn(spec_of(DType::kF32, Domain::kUnit), {500}, Family::kNonFinite, seed)) EXPECT_TRUE(std::isfinite(v));
  }
  EXPECT_GT(rows_without, 200);
  EXPECT_GT(rows_of_nothing_else, 50);
  EXPECT_GT(nans, 6);
  EXPECT_GT(infinities, 6);
}

TEST(Inputs, OneNanInALineIsOftenTheLastElement) {
  int alone = 0, last = 0, first = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const auto values = drawn(spec_of(DType::kF32), {50, 33}, Family::kNonFinite, seed);
    for (size_t row = 0; row < 50; ++row) {
      const auto begin = values.begin() + static_cast<std::ptrdiff_t>(row * 33);
      if (std::count_if(begin, begin + 33, [](double v) { return std::isnan(v); }) != 1) continue;
      ++alone;
      last += std::isnan(begin[32]), first += std::isnan(begin[0]);
    }
  }
  EXPECT_GT(alone, 60);
  EXPECT_GT(last, alone / 4);
  EXPECT_GT(first, alone / 30);
}

TEST(Inputs, SparseMasksHaveARowAndAColumnWithoutAnyTrueInMostDraws) {
  int rows = 0, columns = 0;
  constexpr int kDraws = 40;
  for (uint64_t seed = 0; seed < kDraws; ++seed) {
    const auto mask = drawn(spec_of(DType::kBool), {300, 400}, Family::kSparse, seed);
    bool row = false, column = false;
    for (size_t i = 0; i < 300; ++i) row |= std::count(mask.begin() + static_cast<std::ptrdiff_t>(i * 400), mask.begin() + static_cast<std::ptrdiff_t>((i + 1) * 400), 1.0) == 0;
    for (size_t j = 0; j < 400 && !column; ++j) {
      int trues = 0;
      for (size_t i = 0; i < 300; ++i) trues += mask[i * 400 + j] != 0;
      column = trues == 0;
    }
    rows += row, columns += column;
  }
  EXPECT_GT(rows, kDraws / 2);
  EXPECT_GT(columns, kDraws / 2);
  EXPECT_LT(rows, kDraws) << "some draws have none";
}

TEST(Inputs, NonFiniteOnesHaveNanWithAllBitsOrNoneAndZerosBesideThem) {
  std::set<uint32_t> nans;
  int with_zeros = 0;
  for (uint64_t seed = 0; seed < 32; ++seed) {
    std::vector<uint32_t> bits(1000);
    draw(spec_of(DType::kF32), {1000}, 1, Family::kNonFinite, seed, reinterpret_cast<std::byte*>(bits.data()), 1);
    for (const uint32_t b : bits)
      if ((b & 0x7FFFFFFFu) > 0x7F800000u) nans.insert(b);
    with_zeros += std::count_if(bits.begin(), bits.end(), [](uint32_t b) { return (b & 0x7FFFFFFFu) == 0; }) > 50;
  }
  EXPECT_EQ(nans, (std::set<uint32_t>{0x7FC00000u, 0x7FFFFFFFu, 0xFFC00000u, 0xFFFFFFFFu}));
  EXPECT_GT(with_zeros, 8);
}

TEST(Inputs, FloatsOfOneByteAreAllDrawnAndNoInfinity) {
  for (const DType type : {DType::kF8E4M3, DType::kF8E5M2}) {
    DrawBounds bounds;
    bounds.any_size = true;
    std::set<int> bytes;
    std::vector<Family> families(std::begin(kAllFamilies), std::end(kAllFamilies));
    families.push_back(Family::kNonFinite);
    for (const Family family : families)
      for (uint64_t seed = 0; seed < 20; ++seed) {
        std::vector<uint8_t> drawn_bytes(2000);
        draw(spec_of(type), {2000}, bounds, family, seed, reinterpret_cast<std::byte*>(drawn_bytes.data()), 1);
        bytes.insert(drawn_bytes.begin(), drawn_bytes.end());
      }
    for (int b = 0; b < 256; ++b) EXPECT_EQ(bytes.contains(b), type == DType::kF8E4M3 || (b & 0x7F) != 0x7C) << task::name_of(type) << " " << b;
  }
}

TEST(Inputs, IntegersThatDivideAreNotZero) {
  DrawBounds bounds;
  bounds.nonzero = true;
  for (const Family family : {Family::kNormal, Family::kSparse, Family::kInteger}) {
    std::vector<int32_t> values(500);
    draw(spec_of(DType::kI32), {500}, bounds, family, 3, reinterpret_cast<std::byte*>(values.data()), 1);
    EXPECT_EQ(std::count(values.begin(), values.end(), 0), 0);
  }
}

TEST(Inputs, have_the_moments_of_their_family) {
  const Shape shape{100000};
  const auto moments = [&](Family family) {
    double sum = 0, square = 0;
    const auto values = drawn(spec_of(DType::kF32), shape, family);
    for (const double v : values) sum += v, square += v * v;
    const double mean = sum / 1e5;
    return std::pair{mean, square / 1e5 - mean * mean};
  };
  const auto [normal_mean, normal_variance] = moments(Family::kNormal);
  EXPECT_NEAR(normal_mean, 0, 0.02);
  EXPECT_NEAR(normal_variance, 1, 0.03);
  const auto [uniform_mean, uniform_variance] = moments(Family::kUniform);
  EXPECT_NEAR(uniform_mean, 0.5, 0.01);
  EXPECT_NEAR(uniform_variance, 1.0 / 12, 0.01);
  const auto [shifted_mean, shifted_variance] = moments(Family::kShifted);
  EXPECT_GE(std::abs(shifted_mean), 1000);
  EXPECT_NEAR(shifted_variance, 1, 0.05);
}

TEST(Inputs, are_finite_in_every_float_type_and_family) {
  for (const DType type : {DType::kF64, DType::kF32, DType::kBF16, DType::kF16})
    for (const Family family : kAllFamilies)
      for (const double v : drawn(spec_of(type), {5000}, family))
        ASSERT_TRUE(std::isfinite(v)) << task::name_of(type) << " " << name_of(family);
}

TEST(Inputs, stay_inside_their_domain) {
  for (const Family family : kAllFamilies)
    for (const DType type : {DType::kF32, DType::kF16, DType::kBF16}) {
      for (const double v : drawn(spec_of(type, Domain::kPositive), {3000}, family)) ASSERT_GT(v, 0);
      for (const double v : drawn(spec_of(type, Domain::kUnit), {3000}, family)) {
        ASSERT_GE(v, 0);
        ASSERT_LE(v, 1);
      }
      for (const double v : drawn(spec_of(type, Domain::kSign), {3000}, family))
        ASSERT_EQ(std::abs(v), 1);
      for (const double v : drawn(spec_of(type, Domain::kNearOne), {3000}, family)) {
        ASSERT_GE(v, 0.25);
        ASSERT_LE(v, 4);
      }
    }
  for (const Family family : kAllFamilies) {
    const auto rows = drawn(spec_of(DType::kF32, Domain::kSimplex), {50, 33}, family);
    for (size_t r = 0; r < 50; ++r) {
      double sum = 0;
      for (size_t i = 0; i < 33; ++i) {
        ASSERT_GE(rows[r * 33 + i], 0);
        sum += rows[r * 33 + i];
      }
      ASSERT_NEAR(sum, 1, 1e-6) << name_of(family);
    }
    for (const DType type : {DType::kI8, DType::kI16, DType::kI64})
      for (const double v : drawn(spec_of(type, Domain::kPositive), {3000}, family)) {
        ASSERT_GT(v, 0);
        ASSERT_LE(v, 127);
      }
    for (const double v : drawn(spec_of(DType::kI32, Domain::kIndex), {3000}, family, 1, 17)) {
      ASSERT_GE(v, 0);
      ASSERT_LT(v, 17);
    }
  }
}

TEST(Inputs, follow_their_structure) {
  const int64_t n = 40;
  for (const Family family : kAllFamilies) {
    const auto upper = drawn(spec_of(DType::kF32, Domain::kReal, Structure::kTriu), {2, n, n}, family);
    const auto lower = drawn(spec_of(DType::kF32, Domain::kReal, Structure::kTril), {2, n, n}, family);
    const auto even = drawn(spec_of(DType::kF32, Domain::kReal, Structure::kSymmetric), {2, n, n}, family);
    std::set<double> distinct;
    for (int64_t b = 0; b < 2; ++b)
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j) {
          const auto at = static_cast<size_t>((b * n + i) * n + j);
          const auto mirrored = static_cast<size_t>((b * n + j) * n + i);
          ASSERT_TRUE(i <= j || upper[at] == 0);
          ASSERT_TRUE(i >= j || lower[at] == 0);
          ASSERT_EQ(even[at], even[mirrored]);
          distinct.insert(even[at]);
        }
    EXPECT_TRUE(family != Family::kNormal || distinct.size() > 1500);
  }
}

TEST(Inputs, triangles_and_long_rows_come_out_whole_when_drawn_in_parts) {
  const int64_t n = 301;  // several parts, rows across their edges
  const auto full = drawn(spec_of(DType::kF32), {n, n}, Family::kNormal);
  const auto upper = drawn(spec_of(DType::kF32, Domain::kReal, Structure::kTriu), {n, n}, Family::kNormal);
  const auto lower = drawn(spec_of(DType::kF32, Domain::kReal, Structure::kTril), {n, n}, Family::kNormal);
  const auto even = drawn(spec_of(DType::kF32, Domain::kReal, Structure::kSymmetric), {n, n}, Family::kNormal);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) {
      const auto at = static_cast<size_t>(i * n + j), mirrored = static_cast<size_t>(j * n + i);
      ASSERT_EQ(upper[at], i <= j ? full[at] : 0);
      ASSERT_EQ(lower[at], i >= j ? full[at] : 0);
      ASSERT_EQ(even[at], full[i <= j ? at : mirrored]);
    }
  const auto rows = drawn(spec_of(DType::kF32, Domain::kSimplex), {3, 10007}, Family::kNormal);
  const auto positive = drawn(spec_of(DType::kF32, Domain::kPositive), {3, 10007}, Family::kNormal);
  for (size_t r = 0; r < 3; ++r) {
    double sum = 0;
    for (size_t i = 0; i < 10007; ++i) sum += positive[r * 10007 + i];
    for (size_t i = 0; i < 10007; ++i)
      ASSERT_NEAR(rows[r * 10007 + i] * sum, positive[r * 10007 + i], positive[r * 10007 + i] * 1e-6);
  }
}

TEST(Inputs, sparse_holds_zeros_of_both_signs_ties_and_denormals) {
  int zeros = 0, negative_zeros = 0, ones = 0, denormals = 0;
  for (const double v : drawn(spec_of(DType::kF32), {20000}, Family::kSparse)) {
    zeros += v == 0;
    negative_zeros += v == 0 && std::signbit(v);
    ones += std::abs(v) == 1;
    denormals += v != 0 && std::abs(v) < 0x1p-126;
  }
  EXPECT_GT(zeros, 12000);
  EXPECT_GT(negative_zeros, 500);
  EXPECT_GT(ones, 1000);
  EXPECT_GT(denormals, 200);
}

/// Whether all elements with index k along `axis` are zero, for any k.
bool has_zero_slab(const std::vector<double>& values, const Shape& shape, size_t axis) {
  int64_t inner = 1;
  for (size_t d = axis + 1; d < shape.size(); ++d) inner *= shape[d];
  std::vector<bool> zero(static_cast<size_t>(shape[axis]), true);
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i] != 0) zero[i / static_cast<size_t>(inner) % zero.size()] = false;
  return std::find(zero.begin(), zero.end(), true) != zero.end();
}

TEST(Inputs, sparse_has_segments_of_zeros_along_every_axis_in_most_draws) {
  const Shape shape{5, 40, 60};
  for (const DType type : {DType::kF32, DType::kF64, DType::kBF16, DType::kI32}) {
    int with = 0;
    for (uint64_t seed = 0; seed < 40; ++seed) {
      const auto values = drawn(spec_of(type), shape, Family::kSparse, seed);
      const bool first = has_zero_slab(values, shape, 0);
      for (const size_t axis : {1, 2}) EXPECT_EQ(has_zero_slab(values, shape, axis), first);
      with += first;
    }
    EXPECT_GT(with, 20);
    EXPECT_LT(with, 40);
  }
  for (const Domain domain : {Domain::kPositive, Domain::kNearOne, Domain::kSign, Domain::kSimplex})
    for (uint64_t seed = 0; seed < 10; ++seed)
      EXPECT_FALSE(has_zero_slab(drawn(spec_of(DType::kF32, domain), shape, Family::kSparse, seed), shape, 1));
}

TEST(Inputs, a_sparse_simplex_has_exact_zeros_in_half_of_the_draws) {
  int with = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const auto rows = drawn(spec_of(DType::kF32, Domain::kSimplex), {50, 7}, Family::kSparse, seed);
    with += std::find(rows.begin(), rows.end(), 0.0) != rows.end();
    for (size_t r = 0; r < 50; ++r) {
      double sum = 0;
      for (size_t i = 0; i < 7; ++i) sum += rows[r * 7 + i];
      ASSERT_NEAR(sum, 1, 1e-6);
    }
  }
  EXPECT_GT(with, 10);
  EXPECT_LT(with, 30);
}

TEST(Inputs, shifted_means_have_either_sign) {
  for (const DType type : {DType::kF32, DType::kF16, DType::kI32}) {
    int below = 0;
    for (uint64_t seed = 0; seed < 40; ++seed) {
      const auto values = drawn(spec_of(type), {100}, Family::kShifted, seed);
      const auto negative = std::count_if(values.begin(), values.end(), [](double v) { return v < 0; });
      EXPECT_TRUE(negative == 0 || negative == 100);
      below += negative == 100;
    }
    EXPECT_GT(below, 8);
    EXPECT_LT(below, 32);
  }
}

TEST(Inputs, the_mantissa_probe_leaves_few_products_to_a_sum) {
  // Share of a sum of products held by its largest term, at any length.
  for (const int64_t length : {64, 4096, 1 << 18}) {
    double share = 0;
    for (uint64_t seed = 0; seed < 20; ++seed) {
      const auto a = drawn(spec_of(DType::kF32), {length}, Family::kMantissa, seed);
      const auto b = drawn(spec_of(DType::kF32, Domain::kReal, Structure::kNone, "w"), {length},
                           Family::kMantissa, seed);
      double most = 0, sum = 0;
      for (size_t i = 0; i < a.size(); ++i) {
        const double product = std::abs(a[i] * b[i]);
        most = std::max(most, product);
        sum += product;
      }
      share += most / sum / 20;
    }
    EXPECT_GT(share, 0.3) << length;
  }
}

TEST(Inputs, integers_are_exact_in_bf16_products) {
  for (const double v : drawn(spec_of(DType::kF32), {2000}, Family::kInteger)) {
    ASSERT_EQ(v, std::round(v));
    ASSERT_LE(std::abs(v), 3);
  }
}

}  // namespace
}  // namespace hone::evaluate
