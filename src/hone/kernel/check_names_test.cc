#include "hone/kernel/check_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

namespace hone::kernel {
namespace {

using ::testing::HasSubstr;

Status checked(const std::string& launch, const std::string& more = "") {
  static const task::Task task = task::task_from_expressions("y = 2 * x", {"x=f32[B, D]"}, {"B=4,D=100"}).value();
  const auto kernel = parse_kernel(fmt::format("/* hone\nlanguage = \"cuda\"\ntunables = {{ TILE = [64, 128] }}\n{}\n[[launch]]\nkernel = \"f\"\n{}\n*/\n", more, launch), "k.cu");
  EXPECT_TRUE(kernel) << kernel.error().to_string();
  return check_names(*kernel, task, {{"SMS", 132}, {"SHARED_MAX", 100000}});
}

TEST(CheckNames, what_there_is_is_taken) {
  for (const std::string launch : {R"a(grid = ["B", "ceil_div(D, TILE)"]
block = ["TILE"]
args = ["x", "y", "i64:D"])a",
                                   R"a(grid = ["min(B, SMS)"]
block = ["32"]
repeat = "D"
args = ["x", "y", "part", "i64:D - STEP"])a"}) {
    const Status status = checked(launch, "workspaces = { part = \"f32[B, ceil_div(D, TILE)]\" }\nrequires = [\"D >= 4\"]\nconstraints = [\"TILE * 4 <= SHARED_MAX\"]\nspecialise = [\"D\"]");
    EXPECT_TRUE(status) << status.error().to_string();
  }
}

TEST(CheckNames, what_is_nothing_is_named_with_what_there_is) {
  struct Case {
    const char *launch, *more, *says, *hint;
  };
  const char* const sound = "grid = [\"B\"]\nblock = [\"32\"]\nargs = [\"x\", \"y\"]";
  for (const Case& c : {Case{"grid = [\"DD\"]\nblock = [\"32\"]\nargs = [\"x\", \"y\"]", "", "\"grid\" of f names DD", "symbols of the task B, D; tunables TILE; limits SHARED_MAX, SMS"},
                        {"grid = [\"B\"]\nblock = [\"TILES\"]\nargs = [\"x\", \"y\"]", "", "\"block\" of f names TILES", "tunables TILE"},
                        {"grid = [\"B\"]\nblock = [\"32\"]\nargs = [\"x\", \"y\", \"i64:DD\"]", "", "\"args\" of f names DD", "B, D"},
                        {"grid = [\"B\"]\nblock = [\"32\"]\nargs = [\"xx\", \"y\"]", "", "names \"xx\", which is no input, output or workspace", "x, y"},
                        {"grid = [\"B\"]\nblock = [\"32\"]\nargs = [\"x\", \"y\", \"i64:STEP\"]", "", "names STEP", "B, D"},
                        {sound, "workspaces = { part = \"f32[N]\" }", "workspace part names N", "B, D"},
                        {sound, "requires = [\"N % 4 == 0\"]", "\"requires\" names N", "B, D"},
                        {sound, "constraints = [\"TILE <= D\"]", "\"constraints\" names D", "tunables TILE"},
                        {sound, "specialise = [\"N\"]", "\"specialise\" names N", "B, D"}}) {
    const Status status = checked(c.launch, c.more);
    ASSERT_FALSE(status) << c.says;
    EXPECT_EQ(status.error().code, ErrorCode::kInput);
    EXPECT_THAT(status.error().message, HasSubstr(c.says));
    EXPECT_THAT(status.error().hint, HasSubstr(c.hint));
  }
}

TEST(CheckNames, an_instance_of_a_template_is_no_function) {
  for (const auto& [language, block, hint] : {std::tuple("c++", "", "write one with the same arguments that calls f<true>(…)"),
                                              {"cuda", "block = [\"32\"]\n", "make the template a __device__ function"}}) {
    const auto kernel = parse_kernel(fmt::format("/* hone\nlanguage = \"{}\"\n[[launch]]\nkernel = \"f<true>\"\ngrid = [\"B\"]\n{}args = [\"x\"]\n*/\n", language, block), "k");
    ASSERT_FALSE(kernel);
    EXPECT_THAT(kernel.error().hint, HasSubstr(hint));
  }
}

}  // namespace
}  // namespace hone::kernel
