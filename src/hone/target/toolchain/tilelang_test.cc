// The launch that TileLang's answer says, made a launch of hone's: from answers as text, without TileLang.
#include "hone/target/toolchain/tilelang.h"

#include <gtest/gtest.h>

namespace hone::target {
namespace {

using nlohmann::json;

/// What tilelang_build.py answers for a product whose parameters come in another order than they were declared.
constexpr const char* kAnswer = R"json({"launches": [{"of": 0, "symbol": "matmul_kernel", "grid": [32, 16, 1], "block": [128, 1, 1], "shared": 65536,
  "arguments": [{"argument": 1}, {"argument": 2}, {"argument": 0}, {"value": 4096, "bits": 32}, {"value": 7, "bits": 64}]}],
  "sources": ["#include <tl_templates/cuda/reduce.h>\nextern \"C\" __global__ void matmul_kernel(const float* B, float* C, const float* A, int m, long n) {\n  const dim3 blockIdx = tl::rasterization2DRow<10>();\n  C[blockIdx.x] = A[blockIdx.y];\n}\nextern \"C\" __global__ void other() {\n  (void)blockIdx.x;\n}\n"]})json";

struct Answered {
  kernel::Kernel kernel;
  std::vector<kernel::TileLaunch> launches{{0, "matmul", {}, std::vector<kernel::TileArgument>(4), {"a", "b", "c", ""}}};
  Result<kernel::Kernel> taken(const json& answer, const std::string& target = "cuda:sm_90a") const { return kernel_of_tiles(answer, launches, target); }
};

TEST(TileLang, ItsLaunchIsTheOneThatItSays) {
  const auto kernel = Answered().taken(json::parse(kAnswer));
  ASSERT_TRUE(kernel) << kernel.error().to_string();
  EXPECT_EQ(kernel->header.language, kernel::Language::kCuda);
  ASSERT_EQ(kernel->header.launches.size(), 1u);
  const kernel::Launch& launch = kernel->header.launches[0];
  EXPECT_EQ(launch.function, "matmul_kernel");
  EXPECT_EQ(launch.grid[0].constant(), 32);
  EXPECT_EQ(launch.grid[1].constant(), 16);
  EXPECT_EQ(launch.block[0].constant(), 128);
  EXPECT_EQ(launch.shared.constant(), 65536);
  ASSERT_EQ(launch.args.size(), 5u);
  EXPECT_EQ(launch.args[0].tensor, "b");
  EXPECT_EQ(launch.args[1].tensor, "c");
  EXPECT_EQ(launch.args[2].tensor, "a");
  EXPECT_EQ(launch.args[3].kind, kernel::Argument::Kind::kI32);
  EXPECT_EQ(launch.args[4].kind, kernel::Argument::Kind::kI64);
  EXPECT_EQ(launch.args[4].value.constant(), 7);
  EXPECT_NE(kernel->source.find("#include <tl_templates/cuda/reduce.h>"), std::string::npos);
  const auto amd = Answered().taken(json::parse(kAnswer), "hip:gfx942");
  ASSERT_TRUE(amd);
  EXPECT_EQ(amd->header.language, kernel::Language::kHip);
}

TEST(TileLang, TheEmulatorGetsPlainSource) {
  const auto kernel = Answered().taken(json::parse(kAnswer), "emulator:cuda");
  ASSERT_TRUE(kernel) << kernel.error().to_string();
  EXPECT_EQ(kernel->source.find("tl_templates"), std::string::npos);
  EXPECT_NE(kernel->source.find("#include \"hone/tilelang/plain.h\""), std::string::npos);
  // An order of blocks of its own shadows the block's index in its kernel, and in no other.
  EXPECT_NE(kernel->source.find("const dim3 tile_idx = tl::rasterization2DRow<10>();\n  C[tile_idx.x] = A[tile_idx.y];"), std::string::npos) << kernel->source;
  EXPECT_NE(kernel->source.find("(void)blockIdx.x;"), std::string::npos);
}

TEST(TileLang, AnswersThatMakeNoSenseAreRefused) {
  const std::pair<const char*, json> changes[] = {
      {"/launches/0/arguments/0/argument", 4},      // there is no such argument
      {"/launches/0/arguments/0/argument", -1},
      {"/launches/0/of", 1},
      {"/launches/0/grid", "all of it"},
      {"/launches/0/grid", json::array({1, 1, 1, 1})},
      {"/launches/0/grid", json::array()},
      {"/launches/0/block", json::array()},
      {"/launches/0/shared", nullptr},
      {"/launches/0/symbol", "a b"},
      {"/launches/0/symbol", "k\"\nargs = []"},
      {"/launches", json::array()},
      {"/launches", 3},
      {"/sources", json::array({5})},
      {"/sources", nullptr},
  };
  for (const auto& [where, what] : changes) {
    json answer = json::parse(kAnswer);
    answer[json::json_pointer(where)] = what;
    EXPECT_FALSE(Answered().taken(answer)) << where << " = " << what.dump();
  }
  EXPECT_FALSE(Answered().taken(json::object()));
  EXPECT_FALSE(Answered().taken(json::array()));
}

}  // namespace
}  // namespace hone::target
