#include "hone/evaluate/growing_grid.h"

#include <gtest/gtest.h>

namespace hone::evaluate {
namespace {

bool grown(const std::string& grid, const std::string& header = "") {
  const task::Task task = task::task_from_expressions("y = softmax(x, axis=-1)", {"x=f32[B,D]"}, {"B=64,D=256"}).value();
  const auto kernel = kernel::parse_kernel("/* hone\nlanguage = \"cuda\"\n" + header + "[[launch]]\nkernel = \"f\"\ngrid = [" + grid + "]\nblock = [\"128\"]\nargs = [\"x\"]\n*/\n", "k.cu");
  EXPECT_TRUE(kernel) << kernel.error().to_string();
  return grows(*kernel, task, {{"SMS", 132}});
}

TEST(GrowingGrid, TellsBlocksThatMayCountOnEachOther) {
  EXPECT_TRUE(grown("\"ceil_div(D, 64)\""));
  EXPECT_TRUE(grown("\"4\", \"B\""));
  EXPECT_FALSE(grown("\"min(SMS, B)\""));
  EXPECT_FALSE(grown("\"ceil_div(D, 64)\"", "requires = [\"ceil_div(D, 64) <= SMS\"]\n"));
  EXPECT_TRUE(grown("\"ceil_div(D, 64)\"", "requires = [\"D % 4 == 0\"]\n"));
  EXPECT_FALSE(grown("\"64\""));
  EXPECT_FALSE(grown("\"min(B, 128)\""));
}

}  // namespace
}  // namespace hone::evaluate
