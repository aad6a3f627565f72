// What a card's worker is told of a Triton kernel: values in slots, bytes of the launch's own as one more workspace, shared
// memory as the compiler laid it out.
#include <gtest/gtest.h>

#include <bit>
#include <memory>

#include "hone/target/gpu/protocol.h"
#include "hone/target/gpu/session.h"

namespace hone::target {
namespace {

using Kind = kernel::Argument::Kind;

struct Filled {
  std::unique_ptr<worker::GpuControl> control = std::make_unique<worker::GpuControl>();
  Filled(const std::map<std::string, double>& facts, int64_t workspaces = 1) {
    kernel::BoundPlan plan;
    for (int64_t i = 0; i < workspaces; ++i) plan.workspaces.push_back({task::DType::kF32, {64}, false});
    kernel::BoundLaunch launch;
    launch.function = "k";
    launch.grid = {7, 3};
    launch.block = {128};
    launch.args = {{Kind::kTensor, 0, 0}, {Kind::kF32, -1, std::bit_cast<int32_t>(0.5f)}, {Kind::kI32, -1, -9}, {Kind::kScratch}, {Kind::kNull}};
    plan.launches = {launch};
    Build build;
    build.symbols = {{"k", "k"}};
    build.facts = facts;
    filled = fill_plan(*control, build, plan, 2, {}).has_value();
  }
  bool filled = false;
};

TEST(TritonPlan, SlotsAndSharedMemory) {
  const Filled f({{"dynamic_shared_bytes/k", 147456}});
  ASSERT_TRUE(f.filled);
  const worker::GpuLaunch& launch = f.control->launch[0];
  EXPECT_EQ(launch.shared_bytes, 147456u);
  ASSERT_EQ(launch.arguments, 5u);
  EXPECT_EQ(launch.argument[1].value, 0x3f000000);
  EXPECT_EQ(launch.argument[1].tensor, -1);
  EXPECT_EQ(static_cast<int32_t>(launch.argument[2].value), -9);
  for (int a : {3, 4}) {
    EXPECT_EQ(launch.argument[a].tensor, -1);
    EXPECT_EQ(launch.argument[a].value, 0);
  }
  EXPECT_EQ(f.control->workspaces, 1u);
}

TEST(TritonPlan, BytesOfTheLaunchsOwn) {
  const Filled f({{"scratch_bytes/k", 384}});
  ASSERT_TRUE(f.filled);
  EXPECT_EQ(f.control->workspaces, 2u);
  EXPECT_EQ(f.control->workspace[1].bytes, 384 * 21);
  EXPECT_EQ(f.control->launch[0].argument[3].tensor, 2 + 1);  // behind two tensors and a workspace
  EXPECT_EQ(f.control->launch[0].argument[4].tensor, -1);
}

TEST(TritonPlan, NoRoomForThem) {
  EXPECT_FALSE(Filled({{"scratch_bytes/k", 384}}, worker::kMaxWorkspaces).filled);
  EXPECT_TRUE(Filled({}, worker::kMaxWorkspaces).filled);
}

}  // namespace
}  // namespace hone::target
