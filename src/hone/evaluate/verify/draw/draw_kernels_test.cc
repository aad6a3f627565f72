#include "hone/evaluate/verify/draw/draw_kernels.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "hone/base/random.h"
#include "hone/evaluate/oracle/number.h"

namespace hone::evaluate {
namespace {

constexpr DrawKind kAllKinds[] = {DrawKind::kReal,    DrawKind::kPositive, DrawKind::kUnitInterval,
                                  DrawKind::kNearOne, DrawKind::kSign,     DrawKind::kTruth,
                                  DrawKind::kWhole,   DrawKind::kPositiveWhole};

Recipe recipe_of(Family family, uint64_t key = 0x0123456789ABCDEF) {
  Recipe recipe;
  recipe.key = key;
  recipe.family = family;
  recipe.centre = family == Family::kLarge ? 10000 : 1500;
  return recipe;
}

std::vector<float> values_of(const Recipe& recipe, uint64_t blocks) {
  std::vector<float> values(blocks * kDrawBlock);
  for (uint64_t b = 0; b < blocks; ++b)
    draw_kernels().values(recipe, b, values.data() + b * kDrawBlock);
  return values;
}

double correlation(const float* a, const float* b, size_t count, bool squares) {
  const auto of = [squares](float v) { return squares ? static_cast<double>(v) * v : v; };
  double sa = 0, sb = 0, saa = 0, sbb = 0, sab = 0;
  for (size_t i = 0; i < count; ++i) {
    const double x = of(a[i]), y = of(b[i]);
    sa += x, sb += y, saa += x * x, sbb += y * y, sab += x * y;
  }
  const auto n = static_cast<double>(count);
  return (sab - sa * sb / n) / std::sqrt((saa - sa * sa / n) * (sbb - sb * sb / n));
}

TEST(DrawKernels, words_are_philox) {
  for (const DrawKernels* kernels : runnable_draw_kernels())
    for (const uint64_t block : {uint64_t{0}, uint64_t{1}, uint64_t{0xFFFFFF}, uint64_t{0x1000000}}) {
      uint32_t words[kDrawBlock];
      kernels->words(0xFEDCBA9876543210, DrawStream::kOther, block, words);
      for (uint64_t i = 0; i < kDrawCounters; ++i) {
        const auto expected = base::philox(0xFEDCBA9876543210, block * kDrawCounters + i, 1);
        for (uint64_t k = 0; k < 4; ++k)
          ASSERT_EQ(words[k * kDrawCounters + i], expected[k]) << kernels->name << " " << block << " " << i;
      }
    }
}

TEST(DrawKernels, every_instruction_set_gives_the_same_bits) {
  const DrawKernels& base = *runnable_draw_kernels().front();
  for (const DrawKernels* kernels : runnable_draw_kernels())
    for (const Family family : kAllFamilies)
      for (const DrawKind kind : kAllKinds)
        for (const bool f16 : {false, true})
          for (uint64_t block = 0; block < 20; ++block) {
            Recipe recipe = recipe_of(family, block * 77);
            recipe.kind = kind;
            recipe.f16 = f16;
            float expected[kDrawBlock], found[kDrawBlock];
            base.values(recipe, block, expected);
            kernels->values(recipe, block, found);
            ASSERT_EQ(std::memcmp(expected, found, sizeof found), 0)
                << kernels->name << " " << name_of(family) << " " << static_cast<int>(kind);
            double expected_wide[kDrawBlock], found_wide[kDrawBlock];
            base.refine(recipe, block, expected, expected_wide);
            kernels->refine(recipe, block, expected, found_wide);
            ASSERT_EQ(std::memcmp(expected_wide, found_wide, sizeof found_wide), 0)
                << kernels->name << " " << name_of(family) << " " << static_cast<int>(kind);
          }
}

TEST(DrawKernels, normals_are_normal_to_beyond_four_and_a_half_sigma) {
  const auto values = values_of(recipe_of(Family::kNormal), 4096);
  const auto count = static_cast<double>(values.size());
  for (const double at : {0.0, 0.01, 0.5, 1.0, 2.0, 3.0, 4.0, 4.5})
    for (const double sign : {-1.0, 1.0}) {
      const auto limit = static_cast<float>(at), side = static_cast<float>(sign);
      int beyond = 0;
      for (const float v : values) beyond += side * v > limit;
      const double share = std::erfc(at / std::sqrt(2)) / 2;
      EXPECT_NEAR(beyond, count * share, 4.5 * std::sqrt(count * share)) << sign * at;
    }
  double sum = 0, square = 0, fourth = 0;
  for (const double v : values) sum += v, square += v * v, fourth += v * v * v * v;
  EXPECT_NEAR(sum / count, 0, 4.5 / std::sqrt(count));
  EXPECT_NEAR(square / count, 1, 4.5 * std::sqrt(2 / count));
  EXPECT_NEAR(fourth / count, 3, 4.5 * std::sqrt(96 / count));
}

TEST(DrawKernels, uniforms_are_even) {
  const auto values = values_of(recipe_of(Family::kUniform), 1024);
  std::vector<double> bins(64, 0.0);
  for (const float v : values) {
    ASSERT_GT(v, 0);
    ASSERT_LT(v, 1);
    ++bins[static_cast<size_t>(v * 64)];
  }
  const double expected = static_cast<double>(values.size()) / 64;
  double chi_square = 0;
  for (const double b : bins) chi_square += (b - expected) * (b - expected) / expected;
  EXPECT_LT(chi_square, 63 + 4.5 * std::sqrt(2 * 63));
}

TEST(DrawKernels, low_bits_of_the_significand_are_random) {
  for (const Family family : {Family::kNormal, Family::kUniform, Family::kLarge, Family::kShifted,
                              Family::kMantissa}) {
    const auto values = values_of(recipe_of(family), 256);
    double patterns[256] = {}, count = 0;
    for (const float v : values) {
      if (std::fabs(v) < 0x1p-6F && family != Family::kLarge) continue;
      ++patterns[std::bit_cast<uint32_t>(v) & 0xFF];
      ++count;
    }
    ASSERT_GT(count, static_cast<double>(values.size()) * 0.98) << name_of(family);
    double chi_square = 0;
    for (const double p : patterns) chi_square += (p - count / 256) * (p - count / 256) / (count / 256);
    EXPECT_LT(chi_square, 255 + 4.5 * std::sqrt(2 * 255)) << name_of(family);
  }
}

TEST(DrawKernels, elements_and_streams_are_independent) {
  const auto values = values_of(recipe_of(Family::kNormal), 1024);
  const size_t longest = 8 * kDrawBlock, count = values.size() - longest;
  const double limit = 4.5 / std::sqrt(static_cast<double>(count));
  // Neighbours, lanes of a vector, quarters of a block (pairs share a radius), blocks and parts.
  for (const size_t lag : {1, 2, 3, 4, 8, 16, 32, 255, 256, 257, 512, 768, 1024, 2048, 8192})
    for (const bool squares : {false, true})
      EXPECT_LT(std::fabs(correlation(values.data(), values.data() + lag, count, squares)), limit)
          << lag << " " << squares;
  for (const uint64_t other : {uint64_t{0x0123456789ABCDEE}, uint64_t{0x0123456709ABCDEF}})
    EXPECT_LT(std::fabs(correlation(values.data(), values_of(recipe_of(Family::kNormal, other), 1024).data(),
                                    count, false)),
              limit);
}

TEST(DrawKernels, signs_do_not_hang_on_magnitudes) {
  const auto values = values_of(recipe_of(Family::kLarge), 1024);
  double positive[16] = {}, all[16] = {};
  for (const float v : values) {
    const auto bin = static_cast<size_t>((std::log2(std::fabs(v)) + 13.3) / 26.6 * 15.99);
    ++all[bin];
    positive[bin] += v > 0;
  }
  for (int b = 0; b < 16; ++b) EXPECT_NEAR(positive[b], all[b] / 2, 4.5 * std::sqrt(all[b]) / 2) << b;
}

TEST(DrawKernels, doubles_have_all_their_bits_and_whole_numbers_stay) {
  double refined[kDrawBlock];
  for (const Family family : kAllFamilies) {
    const Recipe recipe = recipe_of(family);
    const auto values = values_of(recipe, 1);
    draw_kernels().refine(recipe, 0, values.data(), refined);
    int finer = 0, denormals = 0;
    for (size_t i = 0; i < kDrawBlock; ++i) {
      denormals += refined[i] != 0 && std::fabs(refined[i]) < 0x1p-1022;
      if (std::fabs(values[i]) < 0x1p-126F) continue;
      finer += (std::bit_cast<uint64_t>(refined[i]) & 0x1FFFFFFF) != 0;
      ASSERT_LE(std::fabs(refined[i] - values[i]), std::fabs(values[i]) * 0x1p-25);
      ASSERT_TRUE(family != Family::kSparse || values[i] != 1 || refined[i] == 1);
    }
    switch (family) {
      case Family::kInteger: EXPECT_EQ(finer, 0); break;
      case Family::kSparse: EXPECT_GT(denormals, 10); break;
      default: EXPECT_GT(finer, kDrawBlock - 10);
    }
  }
}

TEST(DrawKernels, narrow_types_are_rounded_to_nearest_even) {
  std::vector<float> values;
  base::Rng rng(1);
  for (int i = 0; i < 20000; ++i) {
    const auto v = std::bit_cast<float>(static_cast<uint32_t>(rng.next_u64()));
    if (std::isfinite(v) && std::fabs(v) < 0x1p127F) values.push_back(v);
    values.push_back(static_cast<float>(std::ldexp(rng.uniform() - 0.5, static_cast<int>(rng.below(50)) - 32)));
    // Halfway between two neighbours of either type.
    values.push_back(std::ldexp(2049.0F + 2 * static_cast<float>(i % 1024), i % 40 - 36));
    values.push_back(std::ldexp(257.0F + 2 * static_cast<float>(i % 128), i % 40 - 36));
  }
  const auto count = static_cast<int64_t>(values.size());
  const std::vector<double> wide(values.begin(), values.end());
  std::vector<uint16_t> expected(values.size()), found(values.size());
  for (const DrawKernels* kernels : runnable_draw_kernels()) {
    store_doubles(task::DType::kF16, wide.data(), count, expected.data(), 0);
    kernels->to_f16(values.data(), count, found.data());
    ASSERT_EQ(found, expected) << kernels->name;
    store_doubles(task::DType::kBF16, wide.data(), count, expected.data(), 0);
    kernels->to_bf16(values.data(), count, found.data());
    ASSERT_EQ(found, expected) << kernels->name;
  }
}

}  // namespace
}  // namespace hone::evaluate
