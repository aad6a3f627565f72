#include "hone/target/arch_limits.h"

#include <gtest/gtest.h>

namespace hone::target {
namespace {

Occupancy on(const char* arch, int64_t threads, int64_t registers, int64_t shared) { return occupancy(*arch_limits(arch), threads, registers, shared); }

// By hand from the rules of the CUDA programming guide: 64 warps, 65,536 registers in units of 256 a warp, 228 KiB.
TEST(ArchLimits, OccupancyOfNvidia) {
  EXPECT_EQ(on("sm_90a", 256, 32, 0).blocks, 8);
  EXPECT_EQ(on("sm_90a", 256, 32, 0).share(), 1.0);
  EXPECT_EQ(on("sm_90a", 256, 33, 0).blocks, 6);
  EXPECT_EQ(on("sm_90a", 256, 33, 0).limited_by, "registers");
  EXPECT_EQ(on("sm_90a", 128, 168, 0).blocks, 3);
  EXPECT_EQ(on("sm_90a", 256, 255, 0).blocks, 1);
  EXPECT_EQ(on("sm_90a", 1024, 64, 0).blocks, 1);
  EXPECT_EQ(on("sm_90a", 1024, 65, 0).blocks, 0);
  EXPECT_EQ(on("sm_90a", 32, 16, 0).blocks, 32);
  EXPECT_EQ(on("sm_90a", 32, 16, 0).limited_by, "blocks");
  EXPECT_EQ(on("sm_90a", 128, 32, 100 * 1024).blocks, 2);
  EXPECT_EQ(on("sm_90a", 128, 32, 100 * 1024).limited_by, "shared memory");
  EXPECT_EQ(on("sm_90a", 128, 32, 227 * 1024).blocks, 1);
  EXPECT_EQ(on("sm_90a", 128, 32, 227 * 1024 + 1).blocks, 0);
  EXPECT_EQ(on("sm_89", 512, 40, 0).blocks, 3);
}

// Waves a SIMD: min(8, 512 / registers in eights).
TEST(ArchLimits, OccupancyOfAmd) {
  EXPECT_EQ(on("gfx942", 256, 64, 0).waves, 32);
  EXPECT_EQ(on("gfx942", 256, 65, 0).waves, 28);
  EXPECT_EQ(on("gfx942", 256, 128, 0).waves, 16);
  EXPECT_EQ(on("gfx942", 256, 300, 0).waves, 4);
  EXPECT_EQ(on("gfx942", 256, 64, 40 * 1024).waves, 4);
  EXPECT_EQ(on("gfx950", 256, 64, 40 * 1024).waves, 16);
  EXPECT_EQ(on("gfx942", 64, 16, 0).blocks, 32);
  EXPECT_EQ(on("gfx942", 1024, 129, 0).blocks, 0);
}

TEST(ArchLimits, UnknownArchitecturesHaveNoLimits) {
  EXPECT_EQ(arch_limits("sm_12"), nullptr);
  EXPECT_EQ(arch_limits("gfx1100"), nullptr);
  EXPECT_EQ(arch_limits("sm_100a")->sms, 148);
  EXPECT_EQ(plan_limits(*arch_limits("gfx942")).at("WAVE"), 64);
}

}  // namespace
}  // namespace hone::target
