#include "hone/pattern/gpu_conv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "hone/pattern/convolution.h"
#include "hone/pattern/gpu_offers_testing.h"
#include "hone/pattern/normal_form.h"
#include "hone/pattern/plain_testing.h"
#include "hone/target/simt_device.h"

namespace hone::pattern::gpu_conv_cases {
namespace {

using kernel::Language;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kRuns[] = "implicit matmul, wgmma, six products of bf16 parts";
constexpr char kTf32x3[] = "implicit matmul, matrix units, three products of TF32 parts";
constexpr char kBf16x6[] = "implicit matmul, matrix units, six products of bf16 parts";
constexpr char kSimt[] = "implicit matmul, tile in registers";
constexpr char kSize[] = "N=8,C=64,O=128,H=32,W=32";

TEST(GpuConv, MatrixUnitsComeFirstOnCudaAndAreAbsentOnHip) {
  const task::Task task = task_of("y = conv2d(x, w, padding=1)", {"x=f32[N,C,H,W]", "w=f32[O,C,3,3]"}, kSize);
  EXPECT_THAT(actions(gpu_conv_offers(task, Language::kCuda)), ElementsAre(kRuns, kTf32x3, kBf16x6, kSimt));
  const auto hip = gpu_conv_offers(task, Language::kHip);
  EXPECT_THAT(actions(hip), ElementsAre(kSimt));
  EXPECT_THAT(hip[0].kernel.source, Not(HasSubstr("prim")));
}

TEST(GpuConv, AsPytorchRoundsToTf32AsCudnnDoes) {
  task::Task task = task_of("y = conv2d(x, w, padding=1)", {"x=f32[N,C,H,W]", "w=f32[O,C,3,3]"}, kSize);
  for (const task::Track track : {task::Track::kAsPytorch, task::Track::kTf32}) {
    task.track = track;
    EXPECT_THAT(actions(gpu_conv_offers(task, Language::kCuda)), ElementsAre("implicit matmul, wgmma, TF32", "implicit matmul of slices of channels, wgmma, TF32",
                                                                             "implicit matmul, matrix units, TF32", kTf32x3, kSimt));
  }
}

TEST(GpuConv, RunsServeAsManyTapsAsTheirStepsAllow) {
  const auto of = [](const std::string& compute, const std::string& x, const std::string& w, const std::string& size) {
    const task::Task task = task_of(compute, {x, w}, size);
    const auto offers = gpu_conv_offers(task, Language::kCuda);
    const auto& config = offers.front().kernel.config;
    if (!config.contains("TAPS")) return std::vector<int64_t>{};
    const auto limits = target::simt_limits(*target::simt_device(Language::kCuda));
    const auto plan = kernel::bind(offers.front().kernel, task, task.workloads.front().bindings, limits);
    EXPECT_TRUE(plan) << (plan ? "" : plan.error().to_string());
    return std::vector{config.at("TAPS"), config.at("COLUMNS"), config.at("LINES"), plan ? plan->launches.back().grid.at(0) : 0};
  };
  // 8 x 30 rows of 30 + 2 positions, 254 in a block.
  EXPECT_THAT(of("y = conv2d(x, w)", "x=f32[N,C,H,W]", "w=f32[O,C,3,3]", "N=8,C=64,O=128,H=32,W=32"), ElementsAre(3, 128, 256, 31));
  EXPECT_THAT(of("y = conv2d(x, w)", "x=f32[N,C,H,W]", "w=f32[O,C,5,9]", "N=8,C=64,O=48,H=32,W=40"), ElementsAre(3, 48, 256, 30));
  // Three classes of one tap each; every second tap is of a class, and one position further on.
  EXPECT_THAT(of("y = conv1d(x, w, stride=3, dilation=4)", "x=f32[N,C,L]", "w=f32[O,C,3]", "N=2,C=64,O=100,L=1033"), ElementsAre(1, 128, 256, 3));
  EXPECT_THAT(of("y = conv1d(x, w, stride=4, dilation=2)", "x=f32[N,C,L]", "w=f32[O,C,8]", "N=2,C=64,O=96,L=1039"), ElementsAre(4, 96, 256, 3));
  // Two phases, of two taps and one: sums of four stages at most share a multiprocessor.
  EXPECT_THAT(of("y = conv_transpose1d(x, w, stride=2)", "x=f32[N,C,L]", "w=f32[C,O,3]", "N=2,C=32,O=20,L=1000"), ElementsAre(2, 24, 128, 32));
  // Three channels and eleven taps are 33 of 48 depths; four classes of three taps at most.
  EXPECT_THAT(of("y = conv2d(x, w, stride=4, padding=2)", "x=f32[N,C,H,W]", "w=f32[O,C,11,11]", "N=8,C=3,O=96,H=224,W=224"), ElementsAre(3, 96, 256, 99));
  EXPECT_THAT(of("y = conv3d(x, w)", "x=f32[N,C,D,H,W]", "w=f32[O,C,3,3,3]", "N=1,C=3,O=64,D=10,H=10,W=64"), ElementsAre(3, 64, 128, 33));
  // Of one tap a run is of no use; nine of sixteen depths, or five, do not pay.
  EXPECT_THAT(of("y = conv3d(x, w)", "x=f32[N,C,D,H,W]", "w=f32[O,C,3,3,1]", "N=1,C=3,O=64,D=10,H=10,W=64"), IsEmpty());
  EXPECT_THAT(of("y = conv2d(x, w)", "x=f32[N,C,H,W]", "w=f32[O,C,3,3]", "N=8,C=3,O=64,H=32,W=32"), IsEmpty());
  EXPECT_THAT(of("y = conv1d(x, w)", "x=f32[N,C,L]", "w=f32[O,C,3]", "N=2,C=5,O=20,L=1000"), IsEmpty());
}

TEST(GpuConv, AChannelByItselfNeedsNoProduct) {
  const auto of = [](const std::string& weights) {
    const auto task = task_of("y = conv2d(x, w, groups=C)", {"x=f32[N,C,H,W]", weights}, "N=2,C=8,H=32,W=32");
    return actions(gpu_conv_offers(task, Language::kHip));
  };
  EXPECT_THAT(of("w=f32[C,1,3,3]"), ElementsAre("each channel by itself", kSimt));
  // A window that does not fit into registers, and two results of a channel.
  EXPECT_THAT(of("w=f32[C,1,9,9]"), ElementsAre(kSimt));
  EXPECT_THAT(of("w=f32[2*C,1,3,3]"), ElementsAre(kSimt));
}

TEST(GpuConv, ZerosAroundXArePadding) {
  const auto of = [](const char* compute) {
    return gpu_conv_offers(task_of(compute, {"x=bf16[N,C,L]", "w=bf16[C,1,4]"}, "N=2,C=8,L=100"), Language::kCuda);
  };
  const auto causal = of("y = conv1d(pad(x, low=[0, 0, 3], high=[0, 0, 0]), w, groups=C)");
  ASSERT_FALSE(causal.empty());
  EXPECT_EQ(causal[0].action, "each channel by itself");
  EXPECT_THAT(causal[0].kernel.source, HasSubstr("padding_at[3] = {0, 0, 3}"));
  // Other numbers than 0, and channels that are not there.
  EXPECT_THAT(of("y = conv1d(pad(x, low=[0, 0, 3], high=[0, 0, 0], value=1.0), w, groups=C)"), IsEmpty());
  EXPECT_THAT(of("y = conv1d(pad(x, low=[1, 0, 3], high=[0, 0, 0]), w, groups=C)"), IsEmpty());
}

/// With numbers of 16 bits channel slices come first, whatever the stride and the channels; gathering follows.
TEST(GpuConv, ChannelSlicesComeFirstOfSixteenBits) {
  const auto first = [](const char* compute, const char* w, const char* size) {
    const task::Task task = task_of(compute, {"x=f16[N,C,H,W]", w}, size);
    const auto offers = gpu_conv_offers(task, Language::kCuda);
    const auto limits = target::simt_limits(*target::simt_device(Language::kCuda));
    EXPECT_TRUE(kernel::bind(offers.front().kernel, task, task.workloads.front().bindings, limits));
    const auto& config = offers.front().kernel.config;
    return config.contains("DEPTHS") ? std::vector{config.at("LINES"), config.at("COLUMNS"), config.at("TAPS"), config.at("DEPTHS"), config.at("BLOCKS")}
                                     : std::vector<int64_t>{};
  };
  EXPECT_THAT(first("y = conv2d(x, w, stride=2, padding=1)", "w=f16[O,C,3,3]", "N=47,C=80,O=256,H=257,W=56"), ElementsAre(256, 128, 2, 16, 1));
  EXPECT_THAT(first("y = conv2d(x, w, padding=1)", "w=f16[O,C,3,3]", "N=32,C=256,O=64,H=56,W=56"), ElementsAre(512, 64, 3, 32, 1));
  // Three channels and seven taps are 21 of 32 depths; what is summed so briefly takes small tiles.
  EXPECT_THAT(first("y = conv2d(x, w, stride=2, padding=3)", "w=f16[O,C,7,7]", "N=64,C=3,O=64,H=224,W=224"), ElementsAre(128, 64, 4, 16, 2));
  // A small result: fewer positions and channels a tile, so that more multiprocessors have one.
  EXPECT_THAT(first("y = conv2d(x, w, padding=1)", "w=f16[O,C,3,3]", "N=8,C=512,O=512,H=14,W=14"), ElementsAre(128, 64, 3, 32, 2));
  EXPECT_THAT(first("y = conv2d(x, w)", "w=f16[O,C,3,1]", "N=8,C=3,O=64,H=32,W=32"), IsEmpty());
}

TEST(GpuConv, LeavesOthersToOthers) {
  const std::vector<std::string> inputs = {"x=f32[N,C,H,W]", "w=f32[O,C,3,3]"};
  EXPECT_THAT(gpu_conv_offers(task_of("y = x @ w", {"x=f32[M,K]", "w=f32[K,N]"}, "M=8,K=8,N=8"), Language::kCuda), IsEmpty());
  EXPECT_THAT(gpu_conv_offers(task_of("y = conv2d(exp(x), w)", inputs, kSize), Language::kCuda), IsEmpty());
  EXPECT_THAT(gpu_conv_offers(task_of("y = sum(conv2d(x, w), axis=1)", inputs, kSize), Language::kCuda), IsEmpty());
  // A window of one element is a product over the channels.
  EXPECT_THAT(gpu_conv_offers(task_of("y = conv2d(x, w)", {"x=f32[N,C,H,W]", "w=f32[O,C,1,1]"}, kSize), Language::kCuda), IsEmpty());
}

TEST(GpuConv, IsAPartOfLargerGraphs) {
  std::vector<std::string> ignored;
  const auto deep = task_of("y = sum(relu(conv2d(exp(x), w, b)), axis=1)", {"x=f32[N,C,H,W]", "w=f32[O,C,3,3]", "b=f32[O]"}, kSize);
  const auto offers = offers_gpu(deep, Language::kCuda, ignored);
  ASSERT_FALSE(offers.empty());
  EXPECT_EQ(offers[0].action, "in 3 parts: map, conv, columns");
  const auto separable = offers_gpu(task_of("y = conv2d(conv2d(x, d, padding=1, groups=C), w)",
                                            {"x=f32[N,C,H,W]", "d=f32[C,1,3,3]", "w=f32[O,C,1,1]"}, kSize), Language::kCuda, ignored);
  ASSERT_FALSE(separable.empty());
  EXPECT_EQ(separable[0].action, "in 2 parts: conv, matmul");
}

TEST(GpuConv, KnowsWhetherTapsReachOut) {
  const auto reaches = [](const char* compute, const char* weights) {
    const task::Task task = normal_form(task_of(compute, {"x=f32[N,C,H,W]", weights}, kSize));
    return find_convolution(task).value()->reaches_out;
  };
  EXPECT_FALSE(reaches("y = conv2d(x, w, stride=2)", "w=f32[O,C,3,3]"));
  EXPECT_TRUE(reaches("y = conv2d(x, w, padding=(0, 1))", "w=f32[O,C,3,3]"));
  EXPECT_TRUE(reaches("y = conv_transpose2d(x, w)", "w=f32[C,O,3,3]"));
}

/// Every convolution of the suite is covered, and its largest grid stays within what devices take: 2^31 - 1 blocks.
TEST(GpuConv, CoversTheSuiteAtFullSize) {
  int covered = 0;
  for (const auto& file : plain_testing::task_files("tasks/kernelbench/level1")) {
    if (file.name.find("conv_") == std::string::npos) continue;
    const auto task = plain_testing::task_at(file, "full");
    ASSERT_TRUE(task) << task.error().to_string();
    for (const Language language : {Language::kCuda, Language::kHip}) {
      const auto offers = gpu_conv_offers(*task, language);
      for (const Offer& offer : offers) {
        const auto limits = target::simt_limits(*target::simt_device(language));
        const auto plan = kernel::bind(offer.kernel, *task, task->workloads[0].bindings, limits);
        ASSERT_TRUE(plan) << file.name << ": " << plan.error().to_string();
        for (const auto& launch : plan->launches) EXPECT_LT(launch.grid[0], int64_t{1} << 31) << file.name;
      }
      covered += !offers.empty();
    }
  }
  // All but 86, which is two, and 87, a product.
  EXPECT_EQ(covered, 2 * 33);
}

}  // namespace
}  // namespace hone::pattern::gpu_conv_cases
