#include <gtest/gtest.h>

#include "hone/kernel/build_case.h"
#include "hone/kernel/kernel.h"
#include "hone/kernel/write_header.h"

namespace hone::kernel {
namespace {

std::string tile_module(const std::string& args, const std::string& more = "") {
  return "\"\"\"hone\nlanguage = \"tilelang\"\ntunables = { B = [128, 64] }\nworkspaces = { w = \"f32[2 * N]\" }\n[[launch]]\nkernel = \"k\"\nargs = [" + args + "]\n" + more +
         "\"\"\"\nimport tilelang\n";
}

task::Task tile_task() { return task::task_from_expressions("y = 2 * x", {"x=bf16[N, D]"}, {"N=10,D=7"}).value(); }

TEST(TileLangHeader, SaysArgumentsAndNoGrid) {
  const auto kernel = parse_kernel(tile_module(R"a("x", "y", "w", "i32:N", "=B", "='bfloat16'", "=D + 1")a"), "k.py");
  ASSERT_TRUE(kernel) << kernel.error().to_string();
  const auto launches = tile_launches(*kernel, tile_task(), {{"N", 10}, {"D", 7}});
  ASSERT_TRUE(launches) << launches.error().to_string();
  ASSERT_EQ(launches->size(), 1u);
  const TileLaunch& launch = launches->front();
  EXPECT_EQ(launch.constants, (std::vector<std::string>{"128", "'bfloat16'", "8"}));
  ASSERT_EQ(launch.arguments.size(), 4u);
  EXPECT_EQ(launch.arguments[0].dtype, "bfloat16");
  EXPECT_EQ(launch.arguments[0].shape, (task::Shape{10, 7}));
  EXPECT_EQ(launch.arguments[2].shape, (task::Shape{20}));
  EXPECT_FALSE(launch.arguments[3].shape);
  EXPECT_EQ(launch.arguments[3].value, 10);
  EXPECT_EQ(launch.tensors, (std::vector<std::string>{"x", "y", "w", ""}));
}

TEST(TileLangHeader, RefusesWhatTheCompilerSays) {
  for (const char* line : {"grid = [\"1\"]\n", "block = [\"128\"]\n", "warps = \"4\"\n", "shared = \"64\"\n"})
    EXPECT_FALSE(parse_kernel(tile_module("\"x\"", line), "k.py")) << line;
  EXPECT_FALSE(parse_kernel(tile_module("\"f32:1\""), "k.py"));
}

TEST(TileLangHeader, IsWrittenAsItIsRead) {
  const auto kernel = parse_kernel(tile_module(R"a("x", "i64:N", "=B")a", "when = \"N > 1\"\n"), "k.py");
  ASSERT_TRUE(kernel) << kernel.error().to_string();
  const auto again = with_header(*kernel, kernel->header);
  ASSERT_TRUE(again) << again.error().to_string();
  EXPECT_EQ(header_comment(again->header), header_comment(kernel->header));
  EXPECT_EQ(header_comment(kernel->header).find("grid"), std::string::npos);
}

TEST(TileLangHeader, ACaseIsOfShapes) {
  const auto kernel = parse_kernel(tile_module(R"a("x", "y", "=B")a"), "k.py");
  ASSERT_TRUE(kernel);
  const auto named = [&](int64_t n) { return case_name(*kernel, tile_task(), {{"N", n}, {"D", 7}}); };
  EXPECT_EQ(named(10), "k/128/bfloat16[10,7]/bfloat16[10,7];");
  EXPECT_NE(named(10), named(11));
  const auto on_device = parse_kernel(tile_module(R"a("x", "=SMS")a"), "k.py");
  ASSERT_TRUE(on_device);
  const auto launches = tile_launches(*on_device, tile_task(), {{"N", 10}, {"D", 7}});
  ASSERT_FALSE(launches);
  EXPECT_NE(launches.error().message.find("is not known when the kernel is built"), std::string::npos);
}

}  // namespace
}  // namespace hone::kernel
