#include "hone/face/export/composition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include <fmt/format.h>

#include "hone/face/export/testing/kernels.h"

namespace hone::face {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

Composition composed(const std::string& compute, const std::vector<std::string>& inputs, const std::string& shape) {
  const auto task = task::task_from_expressions(compute, inputs, {shape});
  EXPECT_TRUE(task.has_value()) << task.error().to_string();
  const auto found = task ? compose_pytorch(*task) : Result<Composition>(Composition{});
  EXPECT_TRUE(found.has_value()) << found.error().to_string();
  return found.value_or(Composition{});
}

TEST(Composition, NamesExtentsWhereTheCodeNeedsThem) {
  EXPECT_EQ(composed("y = softmax(x, axis=-1)", {"x=f32[B, D]"}, "B=2,D=9").body, "    return F.softmax(x, dim=-1)\n");
  EXPECT_EQ(composed("y = x / sqrt(D)", {"x=f32[B, D]"}, "B=2,D=9").body, "    return x / math.sqrt(D)\n");
  EXPECT_EQ(composed("y = x[:, :D - 1]", {"x=f32[B, D]"}, "B=2,D=9").body, "    return x[:, :(D - 1)].clone(memory_format=torch.contiguous_format)\n");
  EXPECT_EQ(composed("y = x.reshape(B // 2, 2*D)", {"x=f32[B, D]"}, "B=2,D=9").body,
            "    return x.reshape((B // 2), (2*D)).clone()\n");
}

TEST(Composition, ExtentsKeepClearOfTheCodesNames) {
  const Composition found = composed("y = x.reshape(F * math)", {"x=f32[F, math]"}, "F=2,math=9");
  EXPECT_THAT(found.parameters, ::testing::ElementsAre("x", "F_", "math_"));
  EXPECT_THAT(found.body, HasSubstr("F_*math_"));
}

TEST(Composition, SaysWhetherItMakesTensors) {
  EXPECT_FALSE(composed("y = x + 1", {"x=f32[N]"}, "N=3").makes_tensors);
  EXPECT_TRUE(composed("y = x + arange(N)", {"x=f32[N]"}, "N=3").makes_tensors);
}

/// Whatever of the suites PyTorch code can be written for at one shape can be written for all.
TEST(Composition, CoversTheSuites) {
  std::vector<std::string> missing;
  int tried = 0;
  for (const char* suite : {"kernelbench/level1", "kernelbench/level2", "inference"})
    for (const auto& file : std::filesystem::directory_iterator(fmt::format("{}/tasks/{}", HONE_SOURCE_DIR, suite))) {
      const auto task = task::load_task(file.path());
      ASSERT_TRUE(task.has_value()) << task.error().to_string();
      const auto found = compose_pytorch(*task);
      if (!found) missing.push_back(fmt::format("{}: {}", file.path().filename().string(), found.error().message));
      ++tried;
    }
  EXPECT_GT(tried, 240);
  EXPECT_THAT(missing, IsEmpty());
}

}  // namespace
}  // namespace hone::face
