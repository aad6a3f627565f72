#include "hone/evaluate/verify/draw/loops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "hone/base/random.h"

namespace hone::evaluate {

extern const DrawLoops kDrawLoops_base;
#if defined(__x86_64__)
extern const DrawLoops kDrawLoops_avx2;
extern const DrawLoops kDrawLoops_avx512;
#endif

namespace {

std::vector<const DrawLoops*> runnable() {
  std::vector<const DrawLoops*> tables{&kDrawLoops_base};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) tables.push_back(&kDrawLoops_avx2);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    tables.push_back(&kDrawLoops_avx512);
#endif
  return tables;
}

constexpr int64_t kCount = 100003;

TEST(DrawLoops, uniforms_are_philox) {
  const uint64_t key = 0x0123456789ABCDEF, first = 0xFFFFFF00;
  for (const DrawLoops* loops : runnable()) {
    std::vector<double> u(kCount), v(kCount);
    loops->uniforms(key, first, kCount, u.data(), v.data());
    for (size_t i = 0; i < u.size(); i += 7) {
      const auto r = base::philox(key, first + i);
      const auto number = [](uint32_t high, uint32_t low) {
        return (static_cast<double>(((uint64_t{high} << 32) | low) >> 11) + 0.5) * 0x1p-53;
      };
      ASSERT_EQ(u[i], number(r[1], r[0]));
      ASSERT_EQ(v[i], number(r[3], r[2]));
    }
  }
}

TEST(DrawLoops, are_the_same_to_the_last_bit_on_every_processor) {
  std::vector<double> u(kCount), v(kCount), wanted_normal(kCount), wanted_exp2(kCount), y(kCount);
  kDrawLoops_base.uniforms(1, 0, kCount, u.data(), v.data());
  kDrawLoops_base.normals(kCount, u.data(), v.data(), wanted_normal.data());
  kDrawLoops_base.exp2(kCount, u.data(), wanted_exp2.data());
  for (const DrawLoops* loops : runnable()) {
    loops->normals(kCount, u.data(), v.data(), y.data());
    EXPECT_EQ(y, wanted_normal);
    loops->exp2(kCount, u.data(), y.data());
    EXPECT_EQ(y, wanted_exp2);
  }
}

TEST(DrawLoops, normals_are_box_muller) {
  std::vector<double> u(kCount), v(kCount), y(kCount);
  kDrawLoops_base.uniforms(2, 0, kCount, u.data(), v.data());
  v[0] = 0.25, v[1] = 0.5, v[2] = 0.75, v[3] = 1 - 0x1p-53, v[4] = 0x1p-54;
  kDrawLoops_base.normals(kCount, u.data(), v.data(), y.data());
  for (size_t i = 0; i < y.size(); ++i)
    ASSERT_NEAR(y[i], std::sqrt(-2 * std::log(u[i])) * std::cos(2 * std::numbers::pi * v[i]), 1e-14);
}

}  // namespace
}  // namespace hone::evaluate
