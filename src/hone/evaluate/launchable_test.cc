#include "hone/evaluate/launchable.h"

#include <gtest/gtest.h>

namespace hone::evaluate {
namespace {

std::string refused(const std::string& header, const std::string& language = "cuda") {
  const task::Task task = task::task_from_expressions("y = softmax(x, axis=-1)", {"x=f32[B,D]"}, {"B=64,D=256"}).value();
  const auto kernel = kernel::parse_kernel("/* hone\nlanguage = \"" + language + "\"\n" + header + "args = [\"x\", \"y\", \"i64:D\"]\n*/\n", "k.cu");
  EXPECT_TRUE(kernel) << kernel.error().to_string();
  std::string why;
  for (uint64_t seed = 0; seed < 5 && why.empty(); ++seed) why = unlaunchable(*kernel, task, {}, 1 << 17, seed);
  return why;
}

TEST(Launchable, RowsAlongYEndSomewhere) {
  const std::string why = refused("[[launch]]\nkernel = \"f\"\ngrid = [\"1\", \"B\"]\nblock = [\"128\"]\n");
  EXPECT_NE(why.find("requires = [\"B <= 65535\"]"), std::string::npos) << why;
  EXPECT_NE(refused("[[launch]]\nkernel = \"f\"\ngrid = [\"1\", \"1\", \"B\"]\nblock = [\"128\"]\n"), "");
}

TEST(Launchable, AndTheKernelMaySayWhereOrGoOn) {
  EXPECT_EQ(refused("requires = [\"B <= 65535\"]\n[[launch]]\nkernel = \"f\"\ngrid = [\"1\", \"B\"]\nblock = [\"128\"]\n"), "");
  EXPECT_EQ(refused("[[launch]]\nkernel = \"f\"\ngrid = [\"1\", \"min(B, 65535)\"]\nblock = [\"128\"]\n"), "");
  EXPECT_EQ(refused("[[launch]]\nkernel = \"f\"\ngrid = [\"B\"]\nblock = [\"128\"]\n"), "");
  EXPECT_EQ(refused("specialise = [\"B\"]\n[[launch]]\nkernel = \"f\"\ngrid = [\"1\", \"B\"]\nblock = [\"128\"]\n"), "");
}

bool grown(const std::string& grid) {
  const task::Task task = task::task_from_expressions("y = softmax(x, axis=-1)", {"x=f32[B,D]"}, {"B=64,D=256"}).value();
  const auto kernel = kernel::parse_kernel("/* hone\nlanguage = \"cuda\"\n[[launch]]\nkernel = \"f\"\ngrid = [" + grid + "]\nblock = [\"128\"]\nargs = [\"x\"]\n*/\n", "k.cu");
  EXPECT_TRUE(kernel) << kernel.error().to_string();
  return grows(*kernel, task, {{"SMS", 132}});
}

TEST(Launchable, BlocksThatMayCountOnEachOther) {
  EXPECT_TRUE(grown("\"ceil_div(D, 64)\""));
  EXPECT_TRUE(grown("\"4\", \"B\""));
  EXPECT_FALSE(grown("\"min(SMS, B)\""));
  EXPECT_FALSE(grown("\"64\""));
  EXPECT_FALSE(grown("\"min(B, 128)\""));
}

TEST(Launchable, AProcessorHasNoSuchEnd) {
  EXPECT_EQ(refused("[[launch]]\nkernel = \"f\"\ngrid = [\"1\", \"B\"]\n", "c++"), "");
}

}  // namespace
}  // namespace hone::evaluate
