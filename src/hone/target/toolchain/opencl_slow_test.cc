// OpenCL C through PoCL, the runner included. Skips where there is no PoCL.
#include <gmock/gmock.h>

#include <cstring>
#include <numeric>

#include "hone/base/file.h"
#include "hone/target/device/cpu_session.h"
#include "hone/target/toolchain/toolchain.h"

namespace hone::target {
namespace {

using ::testing::HasSubstr;

constexpr const char* kHead = R"hone(/* hone
language = "opencl"
tunables = { ITEMS = [8, 4] }
[[launch]]
kernel = "twist"
grid   = ["2", "ceil_div(N, 16)"]
block  = ["ITEMS"]
shared = "ITEMS * 4"
args   = ["x", "y", "i64:N", "i32:3", "shared"]
*/
)hone";

// Items swap places within their group, through given and own local memory; the grid's first axis takes halves.
constexpr const char* kBody = R"hone(
__kernel void twist(__global const float* x, __global float* y, long N, int three, __local float* given) {
  __local float own[ITEMS];
  const int item = get_local_id(0);
  for (int step = 0; step < 8; step += ITEMS) {
    const long at = get_group_id(1) * 16 + get_group_id(0) * 8 + step + item;
    given[item] = at < N ? x[at] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    own[ITEMS - 1 - item] = given[item] * three;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (at < N) y[at] = own[ITEMS - 1 - item];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
)hone";

class OpenCl : public testing::Test {
 protected:
  void SetUp() override {
    auto found = opencl_toolchain();
    if (!found) GTEST_SKIP() << found.error().to_string();
    toolchain_ = std::move(*found);
  }
  Result<BuildOutcome> build(const kernel::Kernel& kernel) { return toolchain_->build(kernel, task_, bindings_, {}); }
  std::string refusal(const std::string& body) {
    const auto outcome = build(kernel::parse_kernel(kHead + body, "k.cl").value());
    if (!outcome) return "error: " + outcome.error().to_string();
    const auto* failure = std::get_if<BuildFailure>(&*outcome);
    return failure ? failure->reason : "built";
  }

  std::unique_ptr<Toolchain> toolchain_;
  task::Task task_ = task::task_from_expressions("y = 3 * x", {"x=f32[N]"}, {"N=100"}).value();
  task::Bindings bindings_ = {{"N", 100}};
};

TEST_F(OpenCl, AKernelRunsInTheRunner) {
  EXPECT_THAT(toolchain_->name(), HasSubstr("PoCL"));
  for (const int64_t items : {8, 4}) {
    kernel::Kernel kernel = kernel::parse_kernel(std::string(kHead) + kBody, "k.cl").value();
    kernel.config["ITEMS"] = items;
    const auto outcome = build(kernel).value();
    ASSERT_TRUE(std::holds_alternative<Build>(outcome)) << std::get<BuildFailure>(outcome).log;
    Region in = Region::create(4096, Region::Access::kInput).value();
    Region out = Region::create(4096, Region::Access::kOutput).value();
    auto* x = reinterpret_cast<float*>(in.data());
    const auto* y = reinterpret_cast<const float*>(out.data());
    std::iota(x, x + 100, 1.0f);
    const auto plan = kernel::bind(kernel, task_, bindings_, {}).value();
    const Region* regions[] = {&in, &out};
    auto started = start_cpu_session(std::get<Build>(outcome), plan, 2, regions, {}).value();
    ASSERT_TRUE(std::holds_alternative<std::unique_ptr<Session>>(started)) << std::get<LoadFailure>(started).reason;
    const auto session = std::move(std::get<std::unique_ptr<Session>>(started));
    for (int round = 0; round < 2; ++round) {
      std::memset(out.data(), 0, 4096);
      const Call call{{{0, 0}, {1, 0}}};
      const BatchOutcome ran = session->run({&call, 1}, std::chrono::seconds(30));
      ASSERT_EQ(ran.how, BatchOutcome::How::kDone) << ran.why;
      for (int i = 0; i < 100; ++i) EXPECT_EQ(y[i], 3.0f * static_cast<float>(i + 1)) << i;
      EXPECT_EQ(y[100], 0);
    }
  }
}

TEST_F(OpenCl, ABuildIsKept) {
  const kernel::Kernel kernel = kernel::parse_kernel(std::string(kHead) + kBody, "k.cl").value();
  const Build first = std::get<Build>(build(kernel).value()), second = std::get<Build>(build(kernel).value());
  EXPECT_EQ(first.hash, second.hash);
  EXPECT_EQ(second.wall_ns, 0);
}

TEST_F(OpenCl, WhatDoesNotFitIsSaid) {
  std::string broken = kBody;
  broken.replace(broken.find("const int item"), 9, "const inn");
  EXPECT_THAT(refusal(broken), HasSubstr("inn"));
  EXPECT_THAT(refusal("__kernel void other(__global float* x) { x[0] = 1; }"), HasSubstr("no __kernel twist"));
  EXPECT_THAT(refusal("__kernel void twist(__global float* x) { x[0] = 1; }"), HasSubstr("twist takes 1 arguments, but its launch gives 5"));
}

TEST_F(OpenCl, CallsOutsideAreRefused) {
  std::string prints = kBody;
  prints.insert(prints.find("  const int item"), "  printf(\"%d\", three);\n");
  EXPECT_THAT(refusal(prints), HasSubstr("which a kernel may not"));
}

TEST(OpenClHeader, NeedsABlock) {
  std::string source = std::string(kHead) + kBody;
  source.erase(source.find("block "), source.find("shared =") - source.find("block "));
  const auto kernel = kernel::parse_kernel(source, "k.cl");
  ASSERT_FALSE(kernel.has_value());
  EXPECT_THAT(kernel.error().to_string(), HasSubstr("the launch of twist needs \"block\""));
}

TEST(OpenClExamples, HaveHeadersThatHold) {
  for (const char* name : {"softmax.cl", "softmax_groups.cl"}) {
    const auto text = base::read_file(std::string(HONE_SOURCE_DIR "/examples/kernels/") + name);
    ASSERT_TRUE(text.has_value());
    const auto kernel = kernel::parse_kernel(*text, name);
    ASSERT_TRUE(kernel.has_value()) << kernel.error().to_string();
    EXPECT_EQ(kernel->header.language, kernel::Language::kOpenCl);
  }
}

}  // namespace
}  // namespace hone::target
