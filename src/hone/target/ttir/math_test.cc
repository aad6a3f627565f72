#include "hone/target/ttir/math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace hone::target::ttir {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(TtirMath, FunctionsThatTheLibraryOfCLacks) {
  const auto of = [](const char* name, double x) { return function_of_one(name)(x); };
  EXPECT_NEAR(of("__nv_erfinvf", 0.5), 0.4769362762044699, 1e-15);
  EXPECT_NEAR(of("__nv_erfinv", -0.999), -2.326753765513525, 1e-14);
  EXPECT_NEAR(of("__nv_erfcinv", 1e-10), 4.572824967389486, 1e-14);
  EXPECT_NEAR(of("__nv_erfcinv", 1.5), -0.4769362762044699, 1e-15);
  EXPECT_EQ(of("__nv_erfinv", 1), kInfinity);
  EXPECT_EQ(of("__nv_erfinv", -1), -kInfinity);
  EXPECT_TRUE(std::isnan(of("__nv_erfinv", 1.5)));
  EXPECT_NEAR(of("__nv_normcdff", 1), 0.8413447460685429, 1e-15);
  EXPECT_NEAR(of("__nv_normcdfinv", 0.975), 1.959963984540054, 1e-14);
  EXPECT_NEAR(of("__nv_erfcx", 30), 0.018795888861416751, 1e-10);
  EXPECT_EQ(of("__nv_sinpif", 1), 0);
  EXPECT_EQ(of("__nv_sinpif", 2.5), 1);
  EXPECT_EQ(of("__nv_cospif", 1.5), 0);
  EXPECT_EQ(of("__nv_cospif", 3), -1);
  EXPECT_EQ(of("__nv_saturatef", std::nan("")), 0);
  EXPECT_EQ(function_of_mixed("__nv_ldexpf")(1.5, 3), 12);
}

TEST(TtirMath, IntegersAreOfTheirWidth) {
  const auto of = [](const char* name, int64_t a, int64_t b = 0, int64_t c = 0) { return function_of_integers(name)(a, b, c); };
  EXPECT_EQ(of("__nv_clz", -1), 0);
  EXPECT_EQ(of("__nv_clz", 0), 32);
  EXPECT_EQ(of("__nv_clzll", 1), 63);
  EXPECT_EQ(of("__nv_popc", -1), 32);
  EXPECT_EQ(of("__nv_popcll", -1), 64);
  EXPECT_EQ(of("__nv_ffs", 8), 4);
  EXPECT_EQ(of("__nv_brev", 1), int64_t{1} << 31);
  EXPECT_EQ(of("__nv_mulhi", -1, 1), -1);
  EXPECT_EQ(of("__nv_umulhi", -1, -1), 0xfffffffe);
  EXPECT_EQ(of("__nv_mul64hi", int64_t{1} << 62, 8), 2);
  EXPECT_EQ(of("__nv_hadd", -3, -4), -4);
  EXPECT_EQ(of("__nv_rhadd", -3, -4), -3);
  EXPECT_EQ(of("__nv_uhadd", -1, -1), 0xffffffff);
  EXPECT_EQ(of("__nv_sad", -5, 3, 10), 18);
  EXPECT_EQ(of("__nv_byte_perm", 0x33221100, 0x77665544, 0x7650), 0x77665500);
}

TEST(TtirMath, IntegersOfFloatsAreRoundedAndHeldToTheirType) {
  const auto of = [](const char* name, double x) { return function_to_integer(name)(x); };
  EXPECT_EQ(of("__nv_float2int_rn", 2.5), 2);
  EXPECT_EQ(of("__nv_float2int_ru", 2.5), 3);
  EXPECT_EQ(of("__nv_float2int_rd", -2.5), -3);
  EXPECT_EQ(of("__nv_float2int_rz", 1e20), std::numeric_limits<int32_t>::max());
  EXPECT_EQ(of("__nv_float2uint_rz", -1), 0);
  EXPECT_EQ(of("__nv_double2ll_rn", kInfinity), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(of("__nv_llroundf", 2.5), 3);
  EXPECT_EQ(of("__nv_float2int_rn", std::nan("")), 0);
  EXPECT_EQ(of("__nv_signbitf", -0.0), 1);
  EXPECT_EQ(of("__nv_finitef", kInfinity), 0);
  EXPECT_EQ(function_to_integer("__nv_float2half_rn"), nullptr);
}

}  // namespace
}  // namespace hone::target::ttir
