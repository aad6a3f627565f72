// What builds of one kernel's text have in common, by this machine's compiler. Skips where there is none.
#include "hone/target/toolchain/machine_code.h"

#include <gtest/gtest.h>

#include "hone/target/toolchain/toolchain.h"

namespace hone::target {
namespace {

class MachineCodeTest : public testing::Test {
 protected:
  void SetUp() override {
    auto found = cpp_toolchain();
    if (!found) GTEST_SKIP() << found.error().to_string();
    toolchain_ = std::move(*found);
  }
  std::string code_of(const std::string& body, int64_t a, int64_t b = 1) {
    auto kernel = kernel::parse_kernel("/* hone\nlanguage = \"c++\"\ntunables = { A = [1, 2, 3], B = [1, 2] }\n[[launch]]\nkernel = \"f\"\ngrid = [\"N\"]\n"
                                       "args = [\"x\", \"y\"]\n*/\n" + body, "k.cc").value();
    kernel.config = {{"A", a}, {"B", b}};
    const auto task = task::task_from_expressions("y = 2 * x", {"x=f32[N]"}, {"N=4"}).value();
    const auto outcome = toolchain_->build(kernel, task, {{"N", 4}}, {});
    EXPECT_TRUE(outcome.has_value() && std::holds_alternative<Build>(*outcome));
    return std::get<Build>(*outcome).code;
  }
  std::unique_ptr<Toolchain> toolchain_;
};

constexpr const char* kUsesA = "void f(const float* x, float* y, int64_t i) { y[i] = A * x[i] + (B > 5); }";

TEST_F(MachineCodeTest, is_the_same_where_a_tunable_changes_nothing_and_another_where_it_does) {
  const std::string code = code_of(kUsesA, 2, 1);
  EXPECT_FALSE(code.empty());
  EXPECT_EQ(code, code_of(kUsesA, 2, 2));
  EXPECT_EQ(code, code_of(std::string(kUsesA) + "  // said differently", 2));
  EXPECT_NE(code, code_of(kUsesA, 3)) << "only a constant in memory differs";
  EXPECT_EQ(code, code_of(kUsesA, 2, 1)) << "from the cache";
}

TEST(MachineCode, of_no_binary_is_empty) {
  EXPECT_EQ(machine_code(""), "");
  EXPECT_EQ(machine_code(std::string(100, 'x')), "");
}

}  // namespace
}  // namespace hone::target
