// Which poolings the GPU pattern takes, and that what it offers suits a device at every size.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hone/pattern/gpu_pool.h"
#include "hone/pattern/library.h"
#include "hone/pattern/plain_testing.h"
#include "hone/pattern/pool_counts.h"
#include "hone/target/simt_device.h"

namespace hone::pattern::gpu_pool_cases {
namespace {

using kernel::Language;
using ::testing::HasSubstr;

task::Task task_of(const std::string& compute, const std::vector<std::string>& inputs, const std::string& sizes) {
  auto task = task::task_from_expressions(compute, inputs, {sizes});
  EXPECT_TRUE(task) << task.error().to_string();
  return *task;
}

TEST(GpuPool, SuitsDevicesAtEverySize) {
  int seen = 0;
  for (const auto& file : plain_testing::task_files("tasks/kernelbench/level1")) {
    if (file.name.find("pooling") == std::string::npos) continue;
    ++seen;
    const auto task = plain_testing::task_at(file, "");
    ASSERT_TRUE(task) << task.error().to_string();
    for (const Language language : {Language::kCuda, Language::kHip}) {
      std::vector<std::string> why_not;
      const auto offers = offers_gpu(*task, language, why_not);
      ASSERT_FALSE(offers.empty()) << file.name << ": " << fmt::format("{}", fmt::join(why_not, "; "));
      EXPECT_EQ(offers[0].pattern, "pool") << file.name;
      const auto limits = target::simt_limits(*target::simt_device(language));
      EXPECT_TRUE(kernel::allowed(offers[0].kernel.header, offers[0].kernel.config, limits).value_or(false)) << file.name;
      for (const auto& workload : task->workloads) {
        const auto plan = kernel::bind(offers[0].kernel, *task, workload.bindings, limits);
        ASSERT_TRUE(plan) << file.name << " " << workload.name << ": " << plan.error().to_string();
        EXPECT_EQ(plan->launches.size(), 1u);
      }
    }
  }
  EXPECT_EQ(seen, 6);
}

TEST(GpuPool, TakesOnePoolingOfAnInput) {
  const auto reason = [](const std::string& compute) {
    std::vector<std::string> inputs{"x=f32[B,D]"};
    if (compute.find('z') != std::string::npos) inputs.emplace_back("z=f32[B,D]");
    const auto kernel = gpu::pool(task_of(compute, inputs, "B=4,D=64"), Language::kCuda);
    return kernel ? std::string() : kernel.error().message;
  };
  EXPECT_EQ(reason("y = exp(max_pool1d(x, 3)) + 1"), "");
  EXPECT_EQ(reason("y = avg_pool1d(x, 3, stride=1, padding=1) * z"), "");
  EXPECT_EQ(reason("y = max_pool1d(x * z, 3)"), "what is pooled is computed first");
  EXPECT_EQ(reason("y = max_pool1d(x, 3) + max_pool1d(z, 3)"), "more than one pooling");
  EXPECT_NE(reason("y = sum(max_pool1d(x, 3))"), "");
  EXPECT_EQ(reason("y = x + z"), "no pooling");
}

TEST(GpuPool, CountsByPlaceAndNotByAPoolingOfOnes) {
  const auto task = task_of("y = avg_pool2d(x, 3, stride=2, padding=1, ceil_mode=true)", {"x=f32[1,B,D]"}, "B=9,D=64");
  const auto pools = [](const task::Task& t) {
    return std::count_if(t.primitive.nodes.begin(), t.primitive.nodes.end(), [](const task::Node& n) { return n.prim == task::Prim::kPoolSum; });
  };
  EXPECT_EQ(pools(task), 2);
  EXPECT_EQ(pools(with_pool_counts(task)), 1);
  const auto dense = task_of("y = avg_pool2d(x, 3)", {"x=f32[1,B,D]"}, "B=9,D=64");
  EXPECT_EQ(with_pool_counts(dense).primitive.to_string(), dense.primitive.to_string());
}

TEST(GpuPool, HoldsWideWindowsAcrossInRegisters) {
  const auto source = [](const std::string& compute, const std::string& x, const std::string& sizes) {
    const auto kernel = gpu::pool(task_of(compute, {x}, sizes), Language::kHip);
    return kernel ? kernel->source : kernel.error().message;
  };
  EXPECT_THAT(source("y = avg_pool1d(x, 8, stride=1)", "x=f32[B,D]", "B=64,D=65536"), HasSubstr("HOLD = [15,"));
  EXPECT_THAT(source("y = avg_pool1d(x, 8)", "x=f32[B,D]", "B=64,D=65536"), HasSubstr("HOLD = [1,"));
  EXPECT_THAT(source("y = max_pool2d(x, 4, stride=1)", "x=f32[B,A,D]", "B=64,A=512,D=512"), HasSubstr("MARCH = [8,"));
  EXPECT_THAT(source("y = max_pool2d(x, 4)", "x=f32[B,A,D]", "B=64,A=512,D=512"), HasSubstr("MARCH = [1,"));
}

}  // namespace
}  // namespace hone::pattern::gpu_pool_cases
