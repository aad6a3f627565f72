#include <gtest/gtest.h>

#include <bit>

#include "hone/kernel/build_case.h"
#include "hone/kernel/kernel.h"
#include "hone/kernel/write_header.h"

namespace hone::kernel {
namespace {

std::string module_with(const std::string& args, const std::string& more = "") {
  return "# a kernel\n\"\"\"hone\nlanguage = \"triton\"\ntunables = { B = [128, 64], W = [8, 4] }\n[[launch]]\nkernel = \"k\"\ngrid = [\"ceil_div(N, B)\"]\nwarps = \"W\"\n" +
         std::string("args = [") + args + "]\n" + more + "\"\"\"\nimport triton\n";
}

task::Task task_here() { return task::task_from_expressions("y = 2 * x", {"x=f32[N]"}, {"N=1000"}).value(); }

TEST(TritonHeader, IsTheModulesDocstring) {
  const auto kernel = parse_kernel(module_with(R"a("x", "y", "i32:N", "=B")a"), "k.py");
  ASSERT_TRUE(kernel) << kernel.error().to_string();
  EXPECT_EQ(kernel->header.language, Language::kTriton);
  EXPECT_EQ(kernel->config.at("W"), 8);
  const auto bad = parse_kernel(module_with("\"x\"", "block = [\"4\"]\n"), "k.py");
  ASSERT_FALSE(bad);
  EXPECT_NE(bad.error().to_string().find("k.py:10:1: unknown key \"block\""), std::string::npos) << bad.error().to_string();
  const Config small{{"B", 64}, {"W", 4}};
  const auto again = parse_kernel(with_config(*kernel, small), "k.py");
  ASSERT_TRUE(again) << again.error().to_string();
  EXPECT_EQ(again->config, small);
}

TEST(TritonHeader, WarpsAreForTritonAndBlocksAreNot) {
  EXPECT_FALSE(parse_kernel("/* hone\nlanguage = \"cuda\"\n[[launch]]\nkernel = \"k\"\ngrid = [\"1\"]\nblock = [\"1\"]\nwarps = \"4\"\nargs = []\n*/", "k.cu"));
}

TEST(TritonHeader, BindsWarpsNumbersAndWhatTheCompilerAdds) {
  const auto kernel = parse_kernel(module_with(R"a("x", "null", "f32:1/sqrt(N)", "y", "i32:N", "i32:1", "=B", "=True")a"), "k.py");
  ASSERT_TRUE(kernel) << kernel.error().to_string();
  const auto plan = bind(*kernel, task_here(), {{"N", 64}}, {{"WAVE", 64}});
  ASSERT_TRUE(plan) << plan.error().to_string();
  const BoundLaunch& launch = plan->launches[0];
  EXPECT_EQ(launch.block, (std::vector<int64_t>{8 * 64}));
  // Constants are gone: null, the 1, B, True. Two pointers are Triton's own.
  ASSERT_EQ(launch.args.size(), 6u);
  EXPECT_EQ(launch.args[0].tensor, 0);
  EXPECT_EQ(std::bit_cast<float>(static_cast<uint32_t>(launch.args[1].value)), 0.125f);
  EXPECT_EQ(launch.args[2].tensor, 1);
  EXPECT_EQ(launch.args[3].value, 64);
  EXPECT_EQ(launch.args[4].kind, Argument::Kind::kScratch);
  EXPECT_EQ(launch.args[5].kind, Argument::Kind::kNull);
}

TEST(TritonHeader, ACaseFollowsTheShapes) {
  const auto kernel = parse_kernel(module_with(R"a("x", "y", "i32:N", "i64:SMS", "=B")a"), "k.py");
  ASSERT_TRUE(kernel);
  const auto named = [&](int64_t n) { return case_name(*kernel, task_here(), {{"N", n}}); };
  EXPECT_EQ(named(1000), "k/8/3,*fp32/16,*fp32/16,i32,i64,128;");
  EXPECT_EQ(named(1001), named(1000));
  EXPECT_EQ(named(1024), "k/8/3,*fp32/16,*fp32/16,i32/16,i64,128;");
  EXPECT_EQ(named(1), "k/8/3,*fp32/16,*fp32/16,1,i64,128;");
}

TEST(TritonHeader, OneBuildServesAllLaunchesOfAFunction) {
  const std::string two = "[[launch]]\nkernel = \"k\"\ngrid = [\"1\"]\nwarps = \"W\"\nargs = [\"y\", \"y\", \"i32:%s\", \"=%s\"]\n";
  const auto with = [&](const std::string& n, const std::string& b) {
    std::string second = two;
    second.replace(second.find("%s"), 2, n);
    second.replace(second.find("%s"), 2, b);
    return parse_kernel(module_with(R"a("x", "y", "i32:N", "=B")a", second), "k.py").value();
  };
  EXPECT_EQ(case_name(with("N + 1", "B"), task_here(), {{"N", 1024}}), "k/8/3,*fp32/16,*fp32/16,i32,128;");
  EXPECT_EQ(case_name(with("1", "B"), task_here(), {{"N", 1024}}), "k/8/3,*fp32/16,*fp32/16,i32,128;");
  const auto refused = cases_of(with("N", "2 * B"), task_here(), {{"N", 1024}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "k is launched twice with different arguments 4: 128 and 256");
}

TEST(TritonHeader, IsWrittenFromItsValues) {
  const auto kernel = parse_kernel(module_with(R"a("x", "null", "f32:1/sqrt(N)", "f32:0.5", "y", "i32:N + 1", "=B", "='gelu'")a", "when = \"N > 3\"\n"), "k.py");
  ASSERT_TRUE(kernel) << kernel.error().to_string();
  const auto again = with_header(*kernel, kernel->header);
  ASSERT_TRUE(again) << again.error().to_string();
  EXPECT_EQ(case_name(*again, task_here(), {{"N", 7}}), case_name(*kernel, task_here(), {{"N", 7}}));
  EXPECT_EQ(again->header.tunables.size(), 2u);
  EXPECT_EQ(again->source.substr(again->source.find("import")), "import triton\n");
}

}  // namespace
}  // namespace hone::kernel
